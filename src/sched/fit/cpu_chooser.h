// Which CPUs of one node a job gets: whole cores or single CPUs, task by task over the sockets, within what is free and open to
// it. How many fit by counting, and which devices come with them, is node_fit.h's.
//
// Cost: O(CPUs of the node) for each task.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sched/request/request_shape.h"
#include "sched/supply/availability.h"

namespace muster::sched {

// Threads of a core that the job's tasks may use.
inline uint32_t usable_threads(const Shape& s, const Kind& k) { return s.use_threads ? std::min(s.use_threads, k.threads) : k.threads; }

// Whether CPUs are counted core by core: tasks stay apart on cores of their own, or only some threads of a core are used.
inline bool by_core(const Shape& s, const Kind& k) {
  return k.threads > 1 && (s.whole_cores || s.tasks_per_core || usable_threads(s, k) < k.threads);
}

// How many tasks share a core. A task never takes part of one core together with part of a core that another task is on.
inline uint32_t tasks_on_core(const Shape& s, const Kind& k) {
  const uint32_t vt = usable_threads(s, k);
  uint32_t n = std::max(vt / s.cpus_per_task, 1u);
  if (s.tasks_per_core) n = std::min(n, s.tasks_per_core);
  return n;
}

// Chooses CPUs of one node. Cores that may be used are kept per socket in ascending order.
class CpuChooser {
 public:
  // `closed`: CPUs that are free, but not for this job.
  CpuChooser(const Shape& s, const Kind& k, const NodeUse& use, const Bitmap& closed) : s_(s), k_(k), free_(k.sockets) {
    by_core_ = by_core(s, k);
    const Bitmap taken = k.specialized | use.cpus | closed;
    taken_ = taken;
    for (uint32_t core = 0; core < k.cores; ++core) {
      Slot slot{core, 0, 0};
      for (uint32_t t = 0; t < k.threads; ++t)
        if (!taken.test(core * k.threads + t)) slot.threads |= 1u << std::min(t, 31u);
      const bool whole = std::popcount(slot.threads) == static_cast<int>(std::min(k.threads, 32u));
      if (by_core_ ? whole : slot.threads != 0) free_[core / k.cores_per_socket].push_back(slot);
    }
    if (use.busy.any())
      for (auto& socket : free_)
        std::stable_partition(socket.begin(), socket.end(), [&](const Slot& c) { return !use.busy.test(size_t{c.core} * k.threads); });
    if (s.one_core_per_socket)
      for (auto& socket : free_)
        if (socket.size() > 1) socket.erase(socket.begin() + 1, socket.end());
    if (s.whole_sockets) use.cpus.for_each([&](size_t cpu) { free_[k.socket_of_cpu(static_cast<uint32_t>(cpu))].clear(); });
    used_.assign(k.sockets, 0);
    of_partition_ = use.of_partition;
  }

  uint32_t free_cores(uint32_t socket) const { return static_cast<uint32_t>(free_[socket].size()); }

  // Keeps only these cores (enforce-binding).
  void restrict_to(const Bitmap& cores) {
    for (auto& socket : free_) std::erase_if(socket, [&](const Slot& c) { return !cores.test(c.core); });
  }

  // `order`: the sockets to use, best first; the first `near` of them are filled before the others are touched.
  bool choose(uint32_t tasks, uint64_t cpus, const std::vector<uint32_t>& order, size_t near, Bitmap& out) {
    order_ = order;
    near_ = near;
    out_ = &out;
    out.resize(k_.cpus);
    const uint32_t batches = s_.overcommit ? 1 : tasks;
    uint64_t left = cpus;
    for (uint32_t t = 0; t < batches; ++t) {
      const uint64_t want = std::min<uint64_t>(s_.cpus_per_task, left);
      if (!one_task(t, want)) return false;
      left -= want;
    }
    // CPUs that --mincpus or --cpus-per-gpu asks for beyond those of the tasks.
    if (left > 0 && by_core_) left -= fill_cores(left);
    if (left > 0 && !one_task(batches * tasks_on_core(s_, k_), left)) return false;
    if (s_.whole_sockets) fill_sockets();
    return true;
  }

  // For enforce-binding: takes CPUs evenly over sockets that all give devices, at least a core on each. Tasks take turns; where there are
  // fewer tasks than sockets, each task has several sockets.
  bool choose_evenly(uint32_t tasks, uint64_t cpus, const std::vector<uint32_t>& sockets, Bitmap& out) {
    out_ = &out;
    out.resize(k_.cpus);
    const uint32_t batches = s_.overcommit ? 1 : tasks;
    uint64_t left = cpus;
    for (uint32_t batch = 0; batch < batches; ++batch) {
      const uint64_t want = std::min<uint64_t>(s_.cpus_per_task, left);
      std::vector<uint32_t> mine;
      for (size_t i = batch; batches < sockets.size() && i < sockets.size(); i += batches) mine.push_back(sockets[i]);
      if (mine.empty()) mine.push_back(sockets[batch / tasks_on_core(s_, k_) % sockets.size()]);
      for (size_t i = 0; i < mine.size(); ++i) {
        const uint64_t part = want / mine.size() + (i < want % mine.size());
        if (part == 0) continue;
        if (!socket_open(mine[i], part) || room(mine[i], part) < part) return false;
        take(mine[i], part);
        ++used_[mine[i]];
      }
      left -= want;
    }
    if (by_core_) left -= fill_cores(left);
    auto take_one = [&](uint32_t socket, uint64_t most) -> uint64_t {
      const uint64_t n = by_core_ ? std::min<uint64_t>(most, usable_threads(s_, k_)) : 1;
      if (room(socket, n) < n) return 0;
      take(socket, n);
      return n;
    };
    for (uint32_t socket : sockets) {
      if (cpus_on(socket) > 0) continue;
      const uint64_t n = take_one(socket, std::max<uint64_t>(left, 1));
      if (n == 0) return false;
      left -= std::min(left, n);
    }
    while (left > 0) {
      std::vector<uint32_t> order = sockets;
      std::ranges::stable_sort(order, {}, [&](uint32_t socket) { return cpus_on(socket); });
      uint64_t n = 0;
      for (size_t i = 0; i < order.size() && n == 0; ++i) n = take_one(order[i], left);
      if (n == 0) return false;
      left -= n;
    }
    if (s_.whole_sockets) fill_sockets();
    return true;
  }

 private:
  uint64_t cpus_on(uint32_t socket) const {
    uint64_t n = 0;
    const uint32_t each = k_.cores_per_socket * k_.threads;
    for (uint32_t cpu = socket * each; cpu < (socket + 1) * each; ++cpu) n += out_->test(cpu);
    return n;
  }

  // Takes threads that tasks left unused on their cores, at most so many; returns how many it took.
  uint64_t fill_cores(uint64_t most) {
    uint64_t n = 0;
    for (auto& socket : free_)
      for (Slot& c : socket)
        for (uint32_t t = 0; c.tasks > 0 && t < k_.threads && n < most && held_threads(c) < usable_threads(s_, k_); ++t) {
          if (!(c.threads >> std::min(t, 31u) & 1u)) continue;
          c.threads &= ~(1u << std::min(t, 31u));
          out_->set(c.core * k_.threads + t);
          ++n;
        }
    return n;
  }

  // CR_Socket: the first CPU taken of a socket brings along all that is free there.
  void fill_sockets() {
    const uint32_t each = k_.cores_per_socket * k_.threads;
    for (uint32_t socket = 0; socket < k_.sockets; ++socket) {
      const size_t first = out_->next(size_t{socket} * each);
      if (first == Bitmap::npos || first >= size_t{socket + 1} * each) continue;
      for (uint32_t cpu = socket * each; cpu < (socket + 1) * each; ++cpu)
        if (!taken_.test(cpu)) out_->set(cpu);
    }
  }

  struct Slot {
    uint32_t core;
    uint32_t threads;  // free threads, as bits
    uint32_t tasks;    // placed on it
  };

  bool socket_open(uint32_t socket, uint64_t cpus) const {
    if (s_.tasks_per_socket && used_[socket] >= s_.tasks_per_socket) return false;
    return s_.max_cpus_per_socket == kUnlimited32 || cpus_used(socket) + cpus <= s_.max_cpus_per_socket;
  }
  uint64_t cpus_used(uint32_t socket) const {
    uint64_t n = 0;
    const uint32_t first = socket * k_.cores_per_socket * k_.threads, end = first + k_.cores_per_socket * k_.threads;
    for (size_t c = first; c < end; ++c) n += out_->test(c) || of_partition_.test(c);
    return n;
  }
  uint32_t held_threads(const Slot& c) const { return std::min(k_.threads, 32u) - static_cast<uint32_t>(std::popcount(c.threads)); }
  // How many CPUs of the core a task that wants so many can have.
  uint64_t room_of(const Slot& c, uint64_t cpus) const {
    if (s_.tasks_per_core && c.tasks >= s_.tasks_per_core) return 0;
    if (!by_core_) return static_cast<uint64_t>(std::popcount(c.threads));
    const uint64_t vt = usable_threads(s_, k_), held = held_threads(c);
    const uint64_t left = vt > held ? vt - held : 0;
    if (held == 0) return left;
    return cpus <= left ? left : 0;  // shared with another task only if this one fits whole
  }
  uint64_t room(uint32_t socket, uint64_t cpus) const {
    uint64_t n = 0;
    for (const Slot& c : free_[socket]) n += room_of(c, cpus);
    return n;
  }

  bool one_task(uint32_t index, uint64_t cpus) {
    if (cpus == 0) return true;
    const std::vector<uint32_t>& order = order_;
    // Tasks that share a core go to the same socket.
    const size_t turn = by_core_ ? index / tasks_on_core(s_, k_) : index;
    for (size_t group = 0; group < 2; ++group) {
      const size_t first = group == 0 ? 0 : near_, end = group == 0 ? near_ : order.size();
      const size_t n = end - first;
      for (size_t i = 0; i < n; ++i) {
        const uint32_t socket = order[first + (s_.block_sockets ? i : (turn + i) % n)];
        if (!socket_open(socket, cpus) || room(socket, cpus) < cpus) continue;
        take(socket, cpus);
        ++used_[socket];
        return true;
      }
    }
    return spill(cpus);
  }

  // For a task that no single socket holds.
  bool spill(uint64_t cpus) {
    for (uint32_t socket : order_) {
      if (cpus == 0) break;
      if (!socket_open(socket, 1)) continue;
      uint64_t part = std::min(cpus, room(socket, cpus));
      if (s_.max_cpus_per_socket != kUnlimited32) part = std::min<uint64_t>(part, s_.max_cpus_per_socket - cpus_used(socket));
      if (part == 0) continue;
      take(socket, part);
      ++used_[socket];
      cpus -= part;
    }
    return cpus == 0;
  }

  void take(uint32_t socket, uint64_t cpus) {
    for (Slot& core : free_[socket]) {
      if (cpus == 0) break;
      uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(cpus, room_of(core, cpus)));
      if (part == 0) continue;
      ++core.tasks;
      cpus -= part;
      for (uint32_t t = 0; t < k_.threads && part > 0; ++t)
        if (core.threads >> std::min(t, 31u) & 1u) {
          core.threads &= ~(1u << std::min(t, 31u));
          out_->set(core.core * k_.threads + t);
          --part;
        }
      if (s_.whole_cores)  // the core is ours, all of it
        for (uint32_t t = 0; t < k_.threads; ++t) out_->set(core.core * k_.threads + t);
    }
  }

  const Shape& s_;
  const Kind& k_;
  bool by_core_ = false;
  Bitmap taken_, of_partition_;
  std::vector<std::vector<Slot>> free_;
  std::vector<uint32_t> used_;
  std::vector<uint32_t> order_;
  size_t near_ = 0;
  Bitmap* out_ = nullptr;
};

}  // namespace muster::sched
