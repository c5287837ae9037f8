// show event: when nodes were not at work and why, and what clusters were made of. sacctmgr(1) SPECIFICATIONS FOR EVENTS.
#include <algorithm>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/sacctmgr/context.h"
#include "fields/event_view.h"
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

Result<> add(const Spec& s, Time now, Choices& c) {
  rpc::QueryEvents& q = c.query;
  if (s.key.empty()) return add_bare(s, now, c);
  if (is(s.key, "Clusters")) return q.clusters = split_names(s.value), Result<>();
  if (is(s.key, "Nodes")) return q.nodes.push_back(s.value), Result<>();
  if (is(s.key, "Reason")) return q.reasons = split_names(s.value), Result<>();
  if (is(s.key, "Format")) return c.format = s.value, Result<>();
  if (is(s.key, "States")) {
    q.of_clusters = false;
    c.states = split_names(s.value);
    return {};
  }
  if (is(s.key, "Start") || is(s.key, "End")) {
    MUSTER_TRY(t, parse_time_point(s.value, now, ClockRule::kThisDayOrYear));
    (is(s.key, "Start") ? q.from : q.until) = t;
    c.timed = c.timed || is(s.key, "Start");
    return {};
  }
  if (is(s.key, "Event")) {
    const bool nodes = is(s.value, "Nodes"), clusters = is(s.value, "Clusters");
    if (!nodes && !clusters) return fail(Errc::kInvalidReq, " Unknown event type: " + s.value, "Cluster or Node");
    q.of_nodes = nodes;
    q.of_clusters = clusters;
    return {};
  }
  if (is(s.key, "CondFlags")) {
    if (!iequals(s.value, "Open")) return fail(Errc::kInvalidReq, " Unknown flag: " + s.value, "Open");
    q.open = true;
    return {};
  }
  if (is(s.key, "MaxCPUs") || is(s.key, "MinCPUs")) {
    MUSTER_TRY(n, count_of(s));
    (is(s.key, "MaxCPUs") ? q.max_cpus : q.min_cpus) = n;
    return {};
  }
  if (is(s.key, "Users")) {
    for (const std::string& name : split_names(s.value)) {
      MUSTER_TRY(uid, os::find_uid(name));
      q.users.push_back(uid);
    }
    return {};
  }
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + s.text);
}

// A state is named by its short or its whole word; "drain" means drained and draining nodes.
bool has_state(const Choices& c, const EventRecord& e) {
  if (c.states.empty()) return true;
  const NodeStateText text = node_state_text(e.state, e.flags, e.in_use);
  return std::ranges::any_of(c.states, [&](const std::string& wanted) {
    return iequals(wanted, text.code) || iequals(wanted, text.base) || (iequals(wanted, "drain") && (e.flags & kNodeDrain));
  });
}

Result<> list(Context& c, Session& session, const Choices& choices, const fields::Table<fields::EventView>& table) {
  Names names;
  const fields::Environment env = print_environment(session.conf(), c.options, names);
  Out out;
  table.header(out.buffer());
  MUSTER_TRY_VOID(session.stream(choices.query, [&](rpc::EventRecords&& part) -> Result<> {
    for (const EventRecord& e : part.events)
      if (has_state(choices, e)) table.row({e, env}, out.buffer());
    out.put("");
    return {};
  }));
  return {};
}

}  // namespace

void show_events(Context& c, Words words) {
  const Time now = os::wall_now();
  Choices choices;
  for (const Spec& s : parse_specs(words))
    if (Result<> done = add(s, now, choices); !done) return c.complain(done.error());
  if (!choices.timed && !choices.states.empty()) choices.query.open = true;
  else if (!choices.timed) choices.query.from = period_begin(UsagePeriod::kDay, period_begin(UsagePeriod::kDay, now) - minutes(60));
  if (choices.query.open) choices.query.from = now;
  using Form = fields::TableStyle::Form;
  fields::TableStyle style;
  style.form = c.options.form == SacctOptions::Form::kAligned    ? Form::kAligned
               : c.options.form == SacctOptions::Form::kParsable ? Form::kEnded
                                                                 : Form::kSeparated;
  style.header = !c.options.noheader;
  fields::Table<fields::EventView> table(style);
  const std::string columns = !choices.format.empty() ? choices.format : c.options.format;
  if (auto added = table.add(fields::event_fields(), columns.empty() ? fields::kEventDefaultColumns : std::string_view(columns)); !added)
    return c.complain("Unknown field '" + std::string(added.error().message()) + "'");
  Session* session = c.session();
  if (!session) return;
  if (choices.query.clusters.empty() && !choices.all_clusters) choices.query.clusters = {session->conf().cluster_name};
  if (Result<> done = list(c, *session, choices, table); !done) c.complain(done.error());
}

}  // namespace muster::cli
