#include "slurmd/core/cpu_layout.h"

#include <algorithm>
#include <map>

namespace muster::slurmd {

using By = Distribution::Cpus;

CpuLayout::CpuLayout(const Bitmap& cpus, const CpuMap& machine, By sockets, By cores, uint32_t threads, bool whole_cores)
    : by_socket_(sockets == By::kDefault ? By::kCyclic : sockets), by_core_(cores) {
  std::map<size_t, std::map<size_t, Core>> found;
  cpus.for_each([&](size_t cpu) {
    Core& core = found[machine.socket_of(cpu)][machine.core_of(cpu)];
    if (whole_cores && !core.units.empty()) {
      core.units.front().set(cpu);
    } else if (!threads || core.units.size() < threads) {
      core.units.emplace_back(cpus.size());
      core.units.back().set(cpu);
    }
  });
  for (auto& [number, of_socket] : found) {
    Socket s;
    for (auto& [core_number, core] : of_socket) {
      units_ += core.units.size();
      s.cores.push_back(std::move(core));
    }
    sockets_.push_back(std::move(s));
  }
  refill();
}

void CpuLayout::refill() {
  for (Socket& s : sockets_) {
    s.left = 0;
    for (Core& c : s.cores) {
      c.used = 0;
      s.left += c.units.size();
    }
  }
  left_ = units_;
  next_ = last_;  // a new round begins on the socket where the last one ended
}

// Picks a socket with something left, if possible with all that is wanted. Called only while something is left.
size_t CpuLayout::pick_socket(uint32_t wanted) {
  const size_t n = sockets_.size();
  const size_t from = by_socket_ == By::kBlock ? 0 : next_;
  const uint32_t enough = by_socket_ == By::kCyclic ? wanted : 1;
  for (uint32_t least : {enough, 1u})
    for (size_t i = 0; i < n; ++i)
      if (size_t s = (from + i) % n; sockets_[s].left >= least) return s;
  return from;
}

Bitmap CpuLayout::take_from(Socket& s) {
  const size_t n = s.cores.size();
  size_t core = by_core_ == By::kCyclic || by_core_ == By::kFcyclic ? s.next : 0;
  while (s.cores[core % n].left() == 0) ++core;
  core %= n;
  if (by_core_ == By::kFcyclic) s.next = core + 1;
  if (by_core_ == By::kCyclic) s.next = core;
  --s.left;
  --left_;
  return s.cores[core].units[s.cores[core].used++];
}

Bitmap CpuLayout::take(uint32_t count) {
  Bitmap out;
  if (units_ == 0) return out;
  if (left_ == 0) refill();
  size_t socket = sockets_.size();
  for (uint32_t taken = 0; taken < count && left_ > 0; ++taken) {
    bool move_on = by_socket_ == By::kFcyclic || socket == sockets_.size() || sockets_[socket].left == 0;
    if (move_on) {
      socket = pick_socket(count - taken);
      last_ = socket;
      next_ = socket + 1;
    }
    out |= take_from(sockets_[socket]);
  }
  if (by_core_ == By::kCyclic && socket < sockets_.size()) ++sockets_[socket].next;
  return out;
}

}  // namespace muster::slurmd
