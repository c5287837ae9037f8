#include "fields/event_view.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const EventView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

bool of_cluster(const EventRecord& e) { return e.node.empty(); }

void duration(V v, S o) {
  const Time end = v.event.ended == kTimeUnset ? v.env.now : v.event.ended;
  put_span_full(o, std::max(Duration::zero(), end - v.event.started));
}
void user(V v, S o) {
  if (of_cluster(v.event)) return;
  std::string name = v.env.user_name ? v.env.user_name(v.event.by) : std::string();
  if (name.empty()) put_number(name, v.event.by.value);
  o.append(name).append("(");
  put_number(o, v.event.by.value);
  o += ')';
}

constexpr EventField kFields[] = {
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { o += v.event.cluster; }},
    {"ClusterNodes", "Cluster Nodes", 20, Fit::kMarked, kWorks, "Its nodes", [](V v, S o) { o += v.event.nodes; }},
    {"Duration", "Duration", 13, Fit::kMarked, kWorks, "How long it lasted, or lasts", duration},
    {"End", "TimeEnd", 19, Fit::kCut, kWorks, "Its end", [](V v, S o) { o += format_time(v.event.ended, "Unknown"); }, "TimeEnd"},
    {"Event", "Event", 7, Fit::kMarked, kWorks, "Cluster or Node", [](V v, S o) { o += of_cluster(v.event) ? "Cluster" : "Node"; }},
    {"EventRaw", "EventRaw", 8, Fit::kWhole, kWorks, "1 of clusters, 2 of nodes",
     [](V v, S o) { put_number(o, of_cluster(v.event) ? 1 : 2); }},
    {"NodeName", "NodeName", 15, Fit::kMarked, kWorks, "The node", [](V v, S o) { o += v.event.node; }},
    {"Reason", "Reason", 30, Fit::kMarked, kWorks, "Why",
     [](V v, S o) { o += of_cluster(v.event) && v.event.reason.empty() ? "Cluster Registered TRES" : v.event.reason; }},
    {"Start", "TimeStart", 19, Fit::kCut, kWorks, "Its begin", [](V v, S o) { o += format_time(v.event.started, "Unknown"); }, "TimeStart"},
    {"State", "State", 6, Fit::kMarked, kWorks, "The state of the node, or DOWN while its controller was away",
     [](V v, S o) { o += event_state(v.event); }},
    {"StateRaw", "StateRaw", 8, Fit::kWhole, kWorks, "The same as a number: base state and flags",
     [](V v, S o) { put_number(o, static_cast<uint64_t>(v.event.state) | static_cast<uint64_t>(v.event.flags) << 4); }},
    {"TRES", "TRES", 20, Fit::kMarked, kWorks, "What the node or the cluster has", [](V v, S o) { o += tres_text(v.event.tres); }},
    {"User", "User", 15, Fit::kMarked, kWorks, "Who caused it", user},
};

}  // namespace

std::span<const EventField> event_fields() { return kFields; }

std::string_view event_state(const EventRecord& e) {
  return of_cluster(e) && e.state != NodeState::kDown ? std::string_view() : node_state_text(e.state, e.flags, e.in_use).code;
}

}  // namespace muster::fields
