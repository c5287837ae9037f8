// Nodes, partitions and what steps used, for tests that look at every field: each member that is described gets values by its type and
// name, so a new member is varied without a line here. varied_testing.h has the jobs.
#pragma once

#include <memory>

#include "fields/varied_testing.h"
#include "model/step_usage.h"

namespace muster::fields {

template <class T>
constexpr bool kOptionalNumber = false;
template <std::integral T>
constexpr bool kOptionalNumber<std::optional<T>> = true;

// Gives a described struct's members values; those of a type of their own (parsed texts, bitmaps, inner structs) it leaves alone.
class VariedMembers {
 public:
  explicit VariedMembers(const Varied& is) : is_(is) {}
  template <class T>
  void operator()(int, const char* name, T& member) const {
    if constexpr (std::is_same_v<T, bool>) member = is_.flag(name);
    else if constexpr (std::is_same_v<T, uint64_t>) member = is_.mem(name);
    else if constexpr (std::integral<T>) member = static_cast<T>(is_.count(name));
    else if constexpr (std::is_same_v<T, std::string>) member = is_.text(name);
    else if constexpr (std::is_same_v<T, Time>) member = is_.time(name);
    else if constexpr (std::is_same_v<T, Uid>) member = Uid(is_.one_of<uint32_t>(name, {0, 1000}));
    else if constexpr (std::is_same_v<T, TresAmounts>) member = varied_amounts(is_, name);
    else if constexpr (std::is_same_v<T, std::vector<std::string>>) member = list(name);
    else if constexpr (kOptionalNumber<T>) vary_optional(name, member);
  }

 private:
  std::vector<std::string> list(std::string_view name) const {
    if (is_.number(name) % 2) return {};
    if (is_.number(name) % 4) return {std::string(name)};
    return {"a", "two words", std::string(name) + std::to_string(is_.number(name) % 9)};
  }
  template <class T>
  void vary_optional(const char* name, std::optional<T>& member) const {
    if (is_.number(name) % 2) member = is_.one_of<T>(name, {0, 1, 30, 1024, kUnlimited32});
  }
  const Varied& is_;
};

inline NodeRow varied_node(uint32_t number) {
  const Varied is(number + 200000);
  NodeRow n;
  NodeRow::describe(n, VariedMembers(is));
  n.name = "n" + std::to_string(number);
  n.state = static_cast<NodeState>(is.number("state") % 7);
  n.flags = is.flag("flags") ? static_cast<uint32_t>(is.number("flag_bits") & is.number("fewer_bits") & 0xfffff) : 0;
  n.cpus = is.one_of<uint32_t>("cpus", {1, 4, 64});
  n.cpus_allocated = is.one_of<uint32_t>("cpus_allocated", {0, 1, 4, 100});
  n.cpu_load = is.one_of<uint32_t>("cpu_load", {0, 7, 1234, 0xfffffffeu, 0xffffffffu});
  n.free_mem_mb = is.one_of<uint64_t>("free_mem_mb", {0, 23146, 0xfffffffffffffffeu, 0xffffffffffffffffu});
  n.restricted_cores = is.one_of<std::string>("restricted_cores", {"", "", "1(0,4)", "16(0-15)"});
  n.next_state = is.one_of<std::string>("next_state", {"", "", "RESUME", "DOWN"});
  return n;
}

inline PartitionRow varied_partition(uint32_t number) {
  const Varied is(number + 300000);
  PartitionRow row;
  PartitionRow::describe(row, VariedMembers(is));
  Partition& p = row.partition;
  Partition::describe(p, VariedMembers(is));
  p.index = 1000 - number;
  p.name = "p" + std::to_string(number);
  p.state = static_cast<PartitionState>(is.number("state") % 4);
  p.oversubscribe = static_cast<OverSubscribe>(is.number("oversubscribe") % 4);
  for (auto [limit, name] : {std::pair(&Partition::max_time_min, "max_time_min"),
                             {&Partition::max_nodes, "max_nodes"},
                             {&Partition::max_cpus_per_node, "max_cpus_per_node"},
                             {&Partition::max_cpus_per_socket, "max_cpus_per_socket"}})
    p.*limit = is.limit(name);
  p.preempt_mode = is.one_of<std::string>("preempt_mode", {"", "OFF", "REQUEUE", "SUSPEND,GANG"});
  p.tres_billing_weights = is.one_of<std::string>("billing", {"", "", "CPU=1.0,Mem=0.25G"});
  p.select_parameters = is.one_of<std::string>("select", {"", "", "CR_CORE"});
  return row;
}

inline StepUsagePtr varied_usage(uint32_t number) {
  const Varied is(number + 400000);
  if (is.flag("nothing gathered")) return nullptr;
  StepUsage usage;
  for (uint32_t task = 0; task < 3; ++task) {
    const Varied its(number * 3 + task + 500000);
    const auto bytes = [&](std::string_view what) { return Bytes(its.mem(what) * 1024 + its.number(what) % 2); };
    add_task(usage,
             {.task = task,
              .user_time = its.one_of<Duration>("user", {Duration::zero(), seconds(2), seconds(90000) + std::chrono::milliseconds(345)}),
              .system_time = its.one_of<Duration>("system", {Duration::zero(), std::chrono::milliseconds(17)}),
              .rss = bytes("rss"),
              .vm = bytes("vm"),
              .disk_read = bytes("read"),
              .disk_write = bytes("write"),
              .pages = its.count("pages")},
             "n" + std::to_string(task % 2));
  }
  return std::make_shared<const StepUsage>(usage);
}

}  // namespace muster::fields
