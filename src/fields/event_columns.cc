#include <array>

#include "fields/listed_fact.h"
#include "fields/listed_objects.h"
#include "fields/record_kinds.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const EventView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<ListedFact<EventView>, K, Get>(key, place);
}
constexpr ListedFact<EventView> row(EventField column, auto... members) { return listed<EventView>(column, members...); }

bool of_cluster(const EventRecord& e) { return e.node.empty(); }

template <auto Field>
const auto& of_event(V v) {
  return v.event.*Field;
}
std::string_view kind_word(V v) { return of_cluster(v.event) ? "Cluster" : "Node"; }
std::string_view reason(V v) {
  return of_cluster(v.event) && v.event.reason.empty() ? std::string_view("Cluster Registered TRES") : v.event.reason;
}
Duration lasted(V v) {
  const Time end = v.event.ended == kTimeUnset ? v.env.now : v.event.ended;
  return std::max(Duration::zero(), end - v.event.started);
}
int64_t lasted_seconds(V v) { return to_seconds(lasted(v)); }
void duration(V v, S o) { put_span_full(o, lasted(v)); }
void user(V v, S o) {
  if (of_cluster(v.event)) return;
  std::string name = v.env.user_name ? v.env.user_name(v.event.by) : std::string();
  if (name.empty()) put_number(name, v.event.by.value);
  o.append(name).append("(");
  put_number(o, v.event.by.value);
  o += ')';
}
std::string user_text(V v) {
  std::string out;
  if (!of_cluster(v.event)) put_user(out, v.event.by, "", v.env);
  return out;
}
// The words of "DOWN+NOT_RESPONDING"; none of a cluster that is there.
std::vector<std::string> state_words(V v) {
  std::vector<std::string> out;
  if (of_cluster(v.event) && v.event.state != NodeState::kDown) return out;
  for (std::string_view word : split(node_state_long(v.event.state, v.event.flags), '+')) out.emplace_back(word);
  return out;
}

constexpr ListedFact<EventView> kFields[] = {
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { o += v.event.cluster; }},
        member<Text, of_event<&EventRecord::cluster>>("cluster", 10)),
    row({"ClusterNodes", "Cluster Nodes", 20, Fit::kMarked, kWorks, "Its nodes", [](V v, S o) { o += v.event.nodes; }},
        member<Text, of_event<&EventRecord::nodes>>("cluster_nodes", 40)),
    row({"Duration", "Duration", 13, Fit::kMarked, kWorks, "How long it lasted, or lasts", duration},
        member<Number, lasted_seconds>("time.duration", 80)),
    row({"End", "TimeEnd", 19, Fit::kCut, kWorks, "Its end", [](V v, S o) { o += format_time(v.event.ended, "Unknown"); }, "TimeEnd"},
        member<RecordTime, of_event<&EventRecord::ended>>("time.end", 70)),
    row({"Event", "Event", 7, Fit::kMarked, kWorks, "Cluster or Node", [](V v, S o) { o += kind_word(v); }},
        member<Text, kind_word>("event", 20)),
    row({"EventRaw", "EventRaw", 8, Fit::kWhole, kWorks, "1 of clusters, 2 of nodes",
         [](V v, S o) { put_number(o, of_cluster(v.event) ? 1 : 2); }}),
    row({"NodeName", "NodeName", -15, Fit::kMarked, kWorks, "The node", [](V v, S o) { o += v.event.node; }},
        member<Text, of_event<&EventRecord::node>>("node_name", 30)),
    row({"Reason", "Reason", 30, Fit::kMarked, kWorks, "Why", [](V v, S o) { o += reason(v); }}, member<Text, reason>("reason", 90)),
    row({"Start", "TimeStart", 19, Fit::kCut, kWorks, "Its begin", [](V v, S o) { o += format_time(v.event.started, "Unknown"); },
         "TimeStart"},
        member<RecordTime, of_event<&EventRecord::started>>("time.start", 60)),
    row({"State", "State", 6, Fit::kMarked, kWorks, "The state of the node, or DOWN while its controller was away",
         [](V v, S o) { o += event_state(v.event); }},
        member<List, state_words>("state", 50)),
    row({"StateRaw", "StateRaw", 8, Fit::kWhole, kWorks, "The same as a number: base state and flags",
         [](V v, S o) { put_number(o, static_cast<uint64_t>(v.event.state) | static_cast<uint64_t>(v.event.flags) << 4); }}),
    row({"TRES", "TRES", 20, Fit::kMarked, kWorks, "What the node or the cluster has", [](V v, S o) { o += tres_text(v.event.tres); }},
        member<TresList, of_event<&EventRecord::tres>>("tres", 100)),
    row({"User", "User", 10, Fit::kMarked, kWorks, "Who caused it", user}, member<Text, user_text>("user", 110)),
};

constexpr std::array<std::span<const ListedFact<EventView>>, 1> kFacts = {kFields};
constexpr auto kColumns = columns_of<kFacts>();
constexpr auto kObject = in_order<kFacts, &ListedFact<EventView>::member>();

}  // namespace

std::span<const EventField> event_fields() { return kColumns; }
DocumentObject<EventView> event_object() { return object_of<EventView, kObject>(); }

std::string_view event_state(const EventRecord& e) {
  return of_cluster(e) && e.state != NodeState::kDown ? std::string_view() : node_state_text(e.state, e.flags, e.in_use).code;
}

}  // namespace muster::fields
