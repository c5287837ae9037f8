// show event: when nodes were not at work and why, and what clusters were made of. sacctmgr(1) SPECIFICATIONS FOR EVENTS.
#include <algorithm>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/sacctmgr/listing.h"
#include "fields/listed_objects.h"
#include "model/usage_report.h"
#include "model/usage_time.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

struct Choices {
  rpc::QueryEvents query;
  std::vector<std::string> states;
  std::string format;
  bool all_clusters = false, timed = false;
};

bool is(std::string_view key, std::string_view word) { return !key.empty() && istarts_with(word, key); }

Result<uint32_t> count_of(const Spec& s) {
  const auto n = parse_number<uint32_t>(s.value, 0, UINT32_MAX);
  if (!n) return fail(Errc::kInvalidReq, " Bad " + s.key + " value: " + s.value);
  return *n;
}

bool is_state(std::string_view word) {
  constexpr std::string_view kStates[] = {
      "alloc", "allocated", "comp",       "completing", "down",     "drain",        "drained",       "drng",  "draining",   "fail",
      "failg", "failing",   "future",     "futr",       "idle",     "maint",        "mix",           "mixed", "no_respond", "planned",
      "plnd",  "power_up",  "power_down", "reboot",     "reserved", "powered_down", "powering_down", "resv",  "unk",        "unknown"};
  return std::ranges::any_of(kStates, [&](std::string_view known) { return iequals(known, word); });
}

// In the words of Slurm's refusal, which lists some of its states. False after it.
bool check_states(Context& context, const std::vector<std::string>& states) {
  for (const std::string& word : states) {
    if (is_state(word)) continue;
    put_error("Invalid state: " + word + "\nValid node states are: DRAIN FAIL UNKNOWN DOWN IDLE ALLOCATED ? MIXED FUTURE " +
              "\nsacctmgr: fatal: unrecognized job state value");
    context.exit_code = 1;
    return false;
  }
  return true;
}

Result<> add_bare(const Spec& s, Time now, Choices& c) {
  const std::string_view word = s.value;
  if (is(word, "All_Clusters") && word.size() >= 5) return c.all_clusters = true, Result<>();
  if (is(word, "All_Time")) {
    c.query.from = Time{};
    c.query.until = now;
    c.timed = true;
    return {};
  }
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + s.text);
}

Result<> add(const Spec& spec, Time now, Choices& choices) {
  rpc::QueryEvents& query = choices.query;
  if (spec.key.empty()) return add_bare(spec, now, choices);
  if (is(spec.key, "Clusters")) return query.clusters = split_names(spec.value), Result<>();
  if (is(spec.key, "Nodes")) return query.nodes.push_back(spec.value), Result<>();
  if (is(spec.key, "Reason")) return query.reasons = split_names(spec.value), Result<>();
  if (is(spec.key, "Format")) return choices.format = spec.value, Result<>();
  if (is(spec.key, "States")) {
    query.of_clusters = false;
    choices.states = split_names(spec.value);
    return {};
  }
  if (is(spec.key, "Start") || is(spec.key, "End")) {
    MUSTER_TRY(t, parse_time_point(spec.value, now, ClockRule::kThisDayOrYear));
    (is(spec.key, "Start") ? query.from : query.until) = t;
    choices.timed = choices.timed || is(spec.key, "Start");
    return {};
  }
  if (is(spec.key, "Event")) {
    const bool nodes = is(spec.value, "Nodes"), clusters = is(spec.value, "Clusters");
    if (!nodes && !clusters)
      return fail(Errc::kInvalidReq, " Unknown event type: '" + spec.value + "'  Valid events are Cluster and Node.");
    query.of_nodes = nodes;
    query.of_clusters = clusters;
    return {};
  }
  if (is(spec.key, "CondFlags")) {
    if (!iequals(spec.value, "Open")) return fail(Errc::kInvalidReq, " Unknown flag: " + spec.value, "Open");
    query.open = true;
    return {};
  }
  if (is(spec.key, "MaxCPUs") || is(spec.key, "MinCPUs")) {
    MUSTER_TRY(n, count_of(spec));
    (is(spec.key, "MaxCPUs") ? query.max_cpus : query.min_cpus) = n;
    return {};
  }
  if (is(spec.key, "Users")) {
    query.of_clusters = false;  // whose cause is nobody
    for (const std::string& name : split_names(spec.value)) {
      const Result<Uid> uid = os::find_uid(name);
      if (!uid) return fail(Errc::kUserIdMissing, "Invalid user id: " + name);
      query.users.push_back(*uid);
    }
    return {};
  }
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + spec.text);
}

// A state is named by its short or its whole word; "drain" means drained and draining nodes.
bool has_state(const Choices& c, const EventRecord& e) {
  if (c.states.empty()) return true;
  const NodeStateText text = node_state_text(e.state, e.flags, e.in_use);
  return std::ranges::any_of(c.states, [&](const std::string& wanted) {
    return iequals(wanted, text.code) || iequals(wanted, text.base) || (iequals(wanted, "drain") && (e.flags & kNodeDrain));
  });
}

Result<> list(Context& context, Session& session, const Choices& choices, const fields::Table<fields::EventView>& table) {
  Names names;
  const fields::Environment env = print_environment(session.conf(), context.options, names);
  Out out;
  Rows<fields::EventView> rows(context, session.conf(), table, "events", fields::event_object(), out);
  MUSTER_TRY_VOID(session.stream(choices.query, [&](rpc::EventRecords&& part) -> Result<> {
    for (const EventRecord& e : part.events)
      if (has_state(choices, e)) rows.row({e, env});
    rows.flush();
    return {};
  }));
  return {};
}

}  // namespace

void show_events(Context& context, Words words) {
  const Time now = os::wall_now();
  Choices choices;
  for (const Spec& s : parse_specs(words))
    if (Result<> done = add(s, now, choices); !done) return context.complain(done.error());
  if (!check_states(context, choices.states)) return;
  if (!choices.timed && !choices.states.empty()) choices.query.open = true;
  else if (!choices.timed) choices.query.from = period_begin(UsagePeriod::kDay, period_begin(UsagePeriod::kDay, now) - minutes(60));
  if (choices.query.open) choices.query.from = now;
  fields::Table<fields::EventView> table(table_style(context.options));
  if (!add_columns(context, table, fields::event_fields(), choices.format, fields::kEventDefaultColumns)) return;
  Session* session = context.session();
  if (!session) return;
  if (choices.query.clusters.empty() && !choices.all_clusters) choices.query.clusters = {session->conf().cluster_name};
  if (Result<> done = list(context, *session, choices, table); !done) context.complain(done.error());
}

}  // namespace muster::cli
