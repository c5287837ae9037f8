#include "sched/place/gang_chooser.h"

#include <algorithm>

namespace muster::sched {

bool ranked_by_leaf(const RequestClass& c, const TopologyRules& rules) {
  if (!c.topology) return false;
  return (rules.switch_as_node_rank && c.topology->kind() == TopologyKind::kTree) || c.topology->kind() == TopologyKind::kBlock;
}

std::vector<uint32_t> spread_tasks(const std::vector<uint32_t>& caps, uint32_t tasks, bool cyclic) {
  std::vector<uint32_t> out(caps.size(), 0);
  uint32_t left = tasks;
  for (size_t i = 0; i < caps.size() && left > 0; ++i) {
    out[i] = 1;
    --left;
  }
  if (!cyclic) {
    for (size_t i = 0; i < caps.size() && left > 0; ++i) {
      const uint32_t more = std::min(left, caps[i] - std::min(out[i], caps[i]));
      out[i] += more;
      left -= more;
    }
    return out;
  }
  // Round robin; as many rounds at once as the smallest remaining room allows.
  while (left > 0) {
    uint32_t open = 0, least = kManyTasks;
    for (size_t i = 0; i < caps.size(); ++i)
      if (out[i] < caps[i]) {
        ++open;
        least = std::min(least, caps[i] - out[i]);
      }
    if (open == 0) break;
    const uint32_t rounds = std::max(std::min(least, left / open), 1u);
    for (size_t i = 0; i < caps.size() && left > 0; ++i) {
      if (out[i] >= caps[i]) continue;
      out[i] += rounds;
      left -= rounds;
    }
  }
  return out;
}

// Each node of the job has at least one device, and as many as its tasks are tied to (--ntasks-per-gpu).
uint64_t GangChooser::least_devices(size_t need, uint32_t tasks) const {
  if (!s_.tasks_per_gpu || s_.per_job[need].name != "gpu") return 1;
  return (tasks + s_.tasks_per_gpu - 1) / s_.tasks_per_gpu;
}

bool GangChooser::enough(const Candidates& list, size_t first, size_t count) const {
  if (s_.num_tasks && !s_.overcommit) {
    uint64_t tasks = 0;
    for (size_t i = first; i < first + count; ++i) tasks += list[i].tasks;
    if (tasks < s_.num_tasks) return false;
  }
  for (size_t need = 0; need < s_.per_job.size(); ++need) {
    const uint64_t wanted = s_.per_job[need].count;
    if (wanted < count) return false;  // at least one on each node
    uint64_t have = 0;
    for (size_t i = first; i < first + count; ++i) have += supply_.devices(list[i], need);
    if (have < wanted) return false;
  }
  return true;
}

// The least number of nodes on which the tasks can fit, by adding up the nodes with the most room. 0: all of them are too few.
uint32_t GangChooser::least_number(const Candidates& list, size_t forced) const {
  if (!s_.num_tasks || s_.overcommit) return std::max<uint32_t>(1, static_cast<uint32_t>(forced));
  uint64_t sum = 0;
  for (size_t i = 0; i < forced; ++i) sum += list[i].tasks;
  auto n = static_cast<uint32_t>(forced);
  for (size_t i = list.size(); i > forced && (sum < s_.num_tasks || n == 0); --i, ++n) sum += list[i - 1].tasks;
  return sum < s_.num_tasks ? 0 : n;
}

// Orders the candidates behind the first `forced`: the smallest part first, then the least to spare.
void GangChooser::order(Candidates& list, size_t forced) const {
  const bool by_size = s_.num_tasks || !s_.per_job.empty();
  auto size_of = [&](const Candidate& c) { return s_.per_job.empty() ? c.tasks : supply_.devices(c, 0); };
  std::sort(list.begin() + static_cast<ptrdiff_t>(forced), list.end(), [&](const Candidate& a, const Candidate& b) {
    if (by_size) {
      const uint64_t sa = size_of(a), sb = size_of(b);
      if (sa != sb) return sa < sb;
    }
    if (a.units != b.units) return roomy() ? a.units > b.units : a.units < b.units;
    return a.rank != b.rank ? a.rank < b.rank : a.node < b.node;
  });
}

// Picks `count` nodes of an ordered list.
bool GangChooser::pick_number(const Candidates& list, size_t forced, uint32_t count) {
  if (count < forced || count > list.size()) return false;
  auto window = [&](size_t at) {  // forced, then count - forced from `at`
    Candidates out(list.begin(), list.begin() + static_cast<ptrdiff_t>(forced));
    out.insert(out.end(), list.begin() + static_cast<ptrdiff_t>(forced + at), list.begin() + static_cast<ptrdiff_t>(at + count));
    return out;
  };
  const size_t last = list.size() - count;
  Candidates largest = window(last);
  if (!enough(largest, 0, count)) return false;
  if (roomy()) return settle(std::move(largest));
  // The lowest window that is enough; the sums grow with it, so halving finds it.
  size_t lo = 0, hi = last;
  while (lo < hi) {
    const size_t mid = (lo + hi) / 2;
    if (enough(window(mid), 0, count)) hi = mid;
    else lo = mid + 1;
  }
  Candidates chosen = window(lo);
  return settle(enough(chosen, 0, count) ? std::move(chosen) : std::move(largest));
}

bool GangChooser::pick(Candidates& list, size_t forced) {
  if (list.size() < forced) return false;
  order(list, forced);
  const auto limit = static_cast<uint32_t>(std::min<size_t>(list.size(), s_.max_nodes));
  if ((s_.grow && grow_) || s_.spread) {
    for (uint32_t n = s_.nodes_up_to(limit); n > 0; n = n > 1 ? s_.nodes_up_to(n - 1) : 0)
      if (pick_number(list, forced, n)) return true;
    return false;
  }
  const uint32_t least = least_number(list, forced);
  if (least == 0) return false;
  for (uint32_t n = s_.nodes_from(least); n > 0 && n <= limit; n = s_.nodes_from(n + 1)) {
    if (pick_number(list, forced, n)) return true;
    if (s_.per_job.empty()) return false;
  }
  return false;
}

bool GangChooser::settle(Candidates chosen) {
  if (chosen.empty()) return false;
  std::sort(chosen.begin(), chosen.end(), [&](const Candidate& a, const Candidate& b) {
    const uint32_t la = by_leaf_ ? c_.topology->leaf_of(a.node) : 0, lb = by_leaf_ ? c_.topology->leaf_of(b.node) : 0;
    return la != lb ? la < lb : a.node < b.node;
  });
  std::vector<uint32_t> tasks(chosen.size(), s_.tasks_per_node ? s_.tasks_per_node : 1);
  if (s_.num_tasks) {
    std::vector<uint32_t> caps;
    uint64_t sum = 0;
    for (const Candidate& c : chosen) {
      caps.push_back(c.tasks);
      sum += c.tasks;
    }
    if (sum < s_.num_tasks) return false;
    if (c_.places.empty()) tasks = spread_tasks(caps, s_.num_tasks, spreads_evenly(s_));
    for (size_t i = 0; i < chosen.size() && !c_.places.empty(); ++i) {
      tasks[i] = c_.places[chosen[i].node];
      if (tasks[i] == 0 || tasks[i] > caps[i]) return false;
    }
  }
  std::vector<Pick> picks;
  picks.reserve(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) picks.push_back({chosen[i].node, tasks[i], {}, chosen[i].others});
  if (!spread_devices(chosen, picks)) return false;
  picks_ = std::move(picks);
  return true;
}

// Spreads --gpus over the nodes.
bool GangChooser::spread_devices(const Candidates& chosen, std::vector<Pick>& picks) const {
  for (size_t need = 0; need < s_.per_job.size(); ++need) {
    uint64_t left = s_.per_job[need].count;
    std::vector<uint64_t> have, given(picks.size(), 0);
    for (const Candidate& c : chosen) have.push_back(supply_.devices(c, need));
    for (size_t i = 0; i < picks.size(); ++i) {
      const uint64_t first = least_devices(need, picks[i].tasks);
      if (first > have[i] || first > left) return false;
      given[i] = first;
      left -= first;
    }
    for (size_t i = 0; i < picks.size() && left > 0; ++i) {
      const uint64_t more = std::min(left, have[i] - given[i]);
      given[i] += more;
      left -= more;
    }
    if (left > 0) return false;
    for (size_t i = 0; i < picks.size(); ++i) picks[i].job_gres.counts.push_back(given[i]);
  }
  return true;
}

bool GangChooser::neighbours(const Candidates& list, const Bitmap& required) {
  Candidates best;
  for (size_t first = 0; first < list.size(); ++first) {
    for (size_t n = 1; first + n <= list.size(); ++n) {
      if (n > 1 && list[first + n - 1].node != list[first + n - 2].node + 1) break;
      if (n > s_.max_nodes || (!best.empty() && n >= best.size())) break;
      if (s_.nodes_up_to(static_cast<uint32_t>(n)) != n || !enough(list, first, n)) continue;
      Bitmap in;
      for (size_t i = first; i < first + n; ++i) in.set(list[i].node);
      if (!in.contains(required)) continue;
      best.assign(list.begin() + static_cast<ptrdiff_t>(first), list.begin() + static_cast<ptrdiff_t>(first + n));
      break;
    }
  }
  return !best.empty() && settle(std::move(best));
}

void GangChooser::require(Candidates list, const CountedNodes& want, size_t& have, Bitmap& required) {
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) { return a.units < b.units; });
  for (const Candidate& c : list) {
    if (have >= want.count) return;
    required.set(c.node);
    ++have;
  }
}

}  // namespace muster::sched
