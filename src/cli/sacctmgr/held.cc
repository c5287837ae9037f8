// show reservation: reservations of the past and present, as the database has them. sacctmgr(1) SPECIFICATIONS FOR RESERVATIONS.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/sacctmgr/listing.h"
#include "fields/listed_objects.h"
#include "model/usage_time.h"
#include "os/clock.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

struct Choices {
  rpc::QueryReservationUsage query;
  std::set<uint32_t> ids;
  std::string format;
};

bool is(std::string_view key, std::string_view word) { return !key.empty() && istarts_with(word, key); }

Result<> take(const Spec& spec, Time now, Choices& choices) {
  rpc::QueryReservationUsage& query = choices.query;
  if (is(spec.key, "Clusters")) return query.clusters = split_names(spec.value), Result<>();
  if (is(spec.key, "Names")) return query.names = split_names(spec.value), Result<>();
  if (is(spec.key, "Nodes")) return query.nodes.push_back(spec.value), Result<>();
  if (is(spec.key, "Format")) return choices.format = spec.value, Result<>();
  if (is(spec.key, "Start") || is(spec.key, "End")) {
    MUSTER_TRY(time, parse_time_point(spec.value, now, ClockRule::kThisDayOrYear));
    (is(spec.key, "Start") ? query.from : query.until) = time;
    return {};
  }
  if (!is(spec.key, "IDs")) return fail(Errc::kUnknownKeyword, " Unknown condition: " + spec.text);
  for (const std::string& text : split_names(spec.value)) {
    const auto id = parse_number<uint32_t>(text, 1, UINT32_MAX);
    if (!id) return fail(Errc::kInvalidReq, " Bad ID value: " + text);
    choices.ids.insert(*id);
  }
  return {};
}

// Whether a list of a reservation ("a,b", or "-a,-b": all but those) names it; `out` is its sign.
bool named_in(const std::string& list, const std::string& name, bool& out) {
  for (std::string_view entry : split(list, ',')) {
    out = entry.starts_with('-');
    if (entry.substr(out ? 1 : 0) == name) return true;
  }
  return false;
}

// The numbers of the associations that the reservation's accounts and users mean; "-4" is one that may not run in it.
std::string associations_of(const ReservationRecord& held, const std::vector<AssociationRecord>& all) {
  std::string text;
  for (const AssociationRecord& one : all) {
    bool out = false;
    if (one.cluster != held.cluster) continue;
    if (!(one.user.empty() ? named_in(held.accounts, one.account, out) : named_in(held.users, one.user, out))) continue;
    text += (text.empty() ? "" : ",") + std::string(out ? "-" : "") + std::to_string(one.id);
  }
  return text;
}

Result<std::vector<AssociationRecord>> all_associations(Session& session) {
  rpc::QueryEntities query;
  query.what = Entity::kAssociation;
  std::vector<AssociationRecord> all;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    std::ranges::move(part.associations, std::back_inserter(all));
    return {};
  }));
  return all;
}

Result<> list(Context& context, Session& session, const Choices& choices, const fields::Table<fields::HeldView>& table) {
  MUSTER_TRY(associations, all_associations(session));
  Names names;
  const fields::Environment env = print_environment(session.conf(), context.options, names);
  Out out;
  Rows<fields::HeldView> rows(context, session.conf(), table, "reservations", fields::held_object(), out);
  MUSTER_TRY_VOID(session.stream(choices.query, [&](rpc::ReservationUsages&& part) -> Result<> {
    for (const rpc::ReservationUsage& held : part.reservations)
      if (choices.ids.empty() || choices.ids.contains(held.reservation.id))
        rows.row({held, env, associations_of(held.reservation, associations)});
    rows.flush();
    return {};
  }));
  return {};
}

}  // namespace

void show_reservations(Context& context, Words words) {
  const Time now = os::wall_now();
  Choices choices;
  choices.query.from = period_begin(UsagePeriod::kDay, period_begin(UsagePeriod::kDay, now) - minutes(60));
  choices.query.until = now;
  for (const Spec& spec : parse_specs(words))
    if (Result<> done = take(spec, now, choices); !done) return context.complain(done.error());
  fields::Table<fields::HeldView> table(table_style(context.options));
  if (!add_columns(context, table, fields::held_fields(), choices.format, fields::kHeldDefaultColumns)) return;
  Session* session = context.session();
  if (!session) return;
  if (choices.query.clusters.empty()) choices.query.clusters = {session->conf().cluster_name};
  if (Result<> done = list(context, *session, choices, table); !done) context.complain(done.error());
}

}  // namespace muster::cli
