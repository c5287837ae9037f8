#include "model/step_usage.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"

namespace muster {
namespace {

Duration sum(Duration a, Duration b) {
  int64_t out = 0;
  return __builtin_add_overflow(a.count(), b.count(), &out) ? Duration::max() : Duration(out);
}
Bytes sum(Bytes a, Bytes b) { return Bytes(add_sat(a.value, b.value)); }
uint64_t sum(uint64_t a, uint64_t b) { return add_sat(a, b); }

// Takes over a place of another usage: `nodes` are those of that usage. A place that points nowhere, which no node of ours sends, keeps no
// name.
class Places {
 public:
  Places(std::vector<std::string>& into, const std::vector<std::string>& nodes) : into_(into), nodes_(nodes) {}
  TaskPlace operator()(TaskPlace p) const {
    const std::string name = p.node < nodes_.size() ? nodes_[p.node] : std::string();
    auto known = std::ranges::find(into_, name);
    if (known == into_.end()) known = into_.insert(known, name);
    return {p.task, static_cast<uint32_t>(known - into_.begin())};
  }

 private:
  std::vector<std::string>& into_;
  const std::vector<std::string>& nodes_;
};

template <class Amount>
void merge_spread(Spread<Amount>& into, const Spread<Amount>& part, bool first, const Places& place) {
  into.total = sum(into.total, part.total);
  if (first || part.max > into.max || (part.max == into.max && part.max_at.task < into.max_at.task)) {
    into.max = part.max;
    into.max_at = place(part.max_at);
  }
  if (first || part.min < into.min || (part.min == into.min && part.min_at.task < into.min_at.task)) {
    into.min = part.min;
    into.min_at = place(part.min_at);
  }
}

template <class Amount>
void merge_spread(PartialSpread<Amount>& into, const PartialSpread<Amount>& part, const Places& place) {
  if (part.parts == 0) return;
  merge_spread<Amount>(into, part, into.parts == 0, place);
  into.parts = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{into.parts} + part.parts, UINT32_MAX));
}

// Calls `f` with each measure that every task has, of both.
void for_each_spread(StepUsage& a, const StepUsage& b, auto&& f) {
  f(a.cpu, b.cpu);
  f(a.rss, b.rss);
  f(a.vm, b.vm);
  f(a.pages, b.pages);
  f(a.disk_read, b.disk_read);
  f(a.disk_write, b.disk_write);
}

// The same with what is known of some parts only.
void for_each_partial(StepUsage& a, const StepUsage& b, auto&& f) {
  f(a.gpu_util, b.gpu_util);
  f(a.gpu_memory, b.gpu_memory);
  f(a.energy, b.energy);
  f(a.clock, b.clock);
}

// Names that no place points to any more go, so that there are never more than places.
void drop_unused_names(StepUsage& usage) {
  std::vector<std::string> kept;
  const std::vector<std::string> before = std::exchange(usage.nodes, {});
  const Places place(kept, before);
  StepUsage same;
  const auto rename = [&](auto& spread, auto&) {
    spread.max_at = place(spread.max_at);
    spread.min_at = place(spread.min_at);
  };
  for_each_spread(usage, same, rename);
  for_each_partial(usage, same, [&](auto& spread, auto& other) {
    if (spread.parts) rename(spread, other);
  });
  usage.nodes = std::move(kept);
}

template <class Amount>
Spread<Amount> of_one(Amount amount, uint32_t task) {
  return {amount, amount, amount, {task, 0}, {task, 0}};
}

}  // namespace

void merge(StepUsage& into, const StepUsage& part) {
  if (part.tasks == 0) return;
  const bool first = into.tasks == 0;
  into.tasks = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{into.tasks} + part.tasks, UINT32_MAX));
  into.user_time = sum(into.user_time, part.user_time);
  into.system_time = sum(into.system_time, part.system_time);
  const Places place(into.nodes, part.nodes);
  for_each_spread(into, part, [&](auto& a, const auto& b) { merge_spread(a, b, first, place); });
  for_each_partial(into, part, [&](auto& a, const auto& b) { merge_spread(a, b, place); });
  drop_unused_names(into);
}

void add_task(StepUsage& to, const TaskUsage& task, const std::string& node) {
  StepUsage one;
  one.tasks = 1;
  one.nodes = {node};
  one.user_time = task.user_time;
  one.system_time = task.system_time;
  one.cpu = {of_one(sum(task.user_time, task.system_time), task.task)};
  one.rss = {of_one(task.rss, task.task)};
  one.vm = {of_one(task.vm, task.task)};
  one.pages = {of_one(task.pages, task.task)};
  one.disk_read = {of_one(task.disk_read, task.task)};
  one.disk_write = {of_one(task.disk_write, task.task)};
  if (task.gpu_util) one.gpu_util = {{of_one(*task.gpu_util, task.task), 1}};
  if (task.gpu_memory) one.gpu_memory = {{of_one(*task.gpu_memory, task.task), 1}};
  if (task.clock) one.clock = {{of_one(*task.clock, task.task), 1}};
  merge(to, one);
}

void add_energy(StepUsage& to, uint64_t joules, const std::string& node) {
  const std::vector<std::string> only{node};
  const Places place(to.nodes, only);
  const PartialCount of_node{{of_one(joules, 0), 1}};
  merge_spread(to.energy, of_node, place);
}

StepUsagePtr on_node(const StepUsagePtr& usage, const std::string& node) {
  if (!usage || (usage->nodes.size() == 1 && usage->nodes[0] == node)) return usage;
  StepUsage named = *usage, same;
  named.nodes = {node};
  const auto here = [](auto& spread, auto&) { spread.max_at.node = spread.min_at.node = 0; };
  for_each_spread(named, same, here);
  for_each_partial(named, same, here);
  return std::make_shared<const StepUsage>(std::move(named));
}

StepUsagePtr merged(const StepUsagePtr& a, const StepUsagePtr& b) {
  if (!a || !b) return a ? a : b;
  auto both = std::make_shared<StepUsage>(*a);
  merge(*both, *b);
  return both;
}

}  // namespace muster
