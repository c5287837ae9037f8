// list and show: rows of one entity, printed as they come; those with associations are printed once all have come.
#include <algorithm>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/sacctmgr/context.h"
#include "fields/entity_view.h"
#include "os/clock.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

using fields::EntityView;
using EntityTable = fields::Table<EntityView>;

struct Listing {
  Entity entity;
  ShowChoices choices;
  rpc::QueryEntities query;
};

Result<EntityTable> table_of(const Context& c, const Listing& l) {
  using Form = fields::TableStyle::Form;
  fields::TableStyle style;
  style.form = c.options.form == SacctOptions::Form::kAligned    ? Form::kAligned
               : c.options.form == SacctOptions::Form::kParsable ? Form::kEnded
                                                                 : Form::kSeparated;
  style.header = !c.options.noheader;
  EntityTable table(style);
  std::string columns = l.choices.format.empty() ? c.options.format : l.choices.format;
  if (columns.empty()) {
    fields::EntityDefaults d;
    d.with_associations = l.choices.with_associations;
    d.without_limits = l.choices.without_limits;
    d.with_coordinators = l.choices.with_coordinators;
    d.with_clusters = l.choices.with_clusters;
    d.tree = l.choices.tree;
    columns = fields::entity_default_columns(l.entity, d);
  }
  const bool limits =
      l.entity != Entity::kTres && l.entity != Entity::kWckey && l.entity != Entity::kTransaction && l.entity != Entity::kResource;
  MUSTER_TRY_VOID(
      table.add(fields::entity_fields(l.entity), columns, limits ? fields::old_limit_fields() : std::span<const fields::EntityField>{}));
  return table;
}

// Prints each association of an account or a user on a line of its own; a record without any gets one line.
template <class Belongs>
void with_associations(const rpc::Entities& all, EntityView view, const EntityTable& table, std::string& out, Belongs&& belongs) {
  bool any = false;
  for (const AssociationRecord& a : all.associations) {
    if (!belongs(a)) continue;
    view.association = &a;
    table.row(view, out);
    any = true;
  }
  view.association = nullptr;
  if (!any) table.row(view, out);
}

void print(const Listing& l, const rpc::Entities& part, EntityView view, const EntityTable& table, std::string& out) {
  auto each = [&](const auto& records, auto member) {
    for (const auto& r : records) {
      view.*member = &r;
      table.row(view, out);
    }
  };
  const bool joined = l.choices.with_associations;
  switch (l.entity) {
    case Entity::kAccount:
    case Entity::kCoordinator:
      if (!joined) return each(part.accounts, &EntityView::account);
      for (const AccountRecord& r : part.accounts) {
        view.account = &r;
        with_associations(part, view, table, out, [&](const AssociationRecord& a) { return a.account == r.name; });
      }
      return;
    case Entity::kUser:
      if (!joined) return each(part.users, &EntityView::user);
      for (const UserRecord& r : part.users) {
        view.user = &r;
        with_associations(part, view, table, out, [&](const AssociationRecord& a) { return a.user == r.name; });
      }
      return;
    case Entity::kCluster:
      for (const ClusterRecord& r : part.clusters) {
        view.cluster = &r;
        with_associations(part, view, table, out,
                          [&](const AssociationRecord& a) { return a.cluster == r.name && a.user.empty() && a.parent_account.empty(); });
      }
      return;
    case Entity::kAssociation: return each(part.associations, &EntityView::association);
    case Entity::kQos: return each(part.qos, &EntityView::qos);
    case Entity::kTres: return each(part.tres, &EntityView::tres);
    case Entity::kWckey: return each(part.wckeys, &EntityView::wckey);
    case Entity::kTransaction: return each(part.transactions, &EntityView::transaction);
    case Entity::kResource:
      for (const ResourceRecord& r : part.resources) {
        view.resource = &r;
        if (!l.choices.with_clusters) table.row(view, out);
        for (const ResourceShare& share : l.choices.with_clusters ? r.clusters : std::vector<ResourceShare>()) {
          view.share = &share;
          table.row(view, out);
        }
      }
      return;
  }
}

// Adds a part to those that came before it.
void collect(rpc::Entities& all, rpc::Entities&& part) {
  auto move = [](auto& to, auto& from) { std::ranges::move(from, std::back_inserter(to)); };
  move(all.accounts, part.accounts);
  move(all.users, part.users);
  move(all.clusters, part.clusters);
  move(all.associations, part.associations);
}

void drop_parents(rpc::Entities& part) {
  for (AssociationRecord& a : part.associations) {
    a.parent_id = 0;
    a.parent_account.clear();
  }
}

// All QOS, for the column that shows their numbers.
Result<std::vector<QosRecord>> all_qos(Session& session) {
  rpc::QueryEntities query;
  query.what = Entity::kQos;
  std::vector<QosRecord> out;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    std::ranges::move(part.qos, std::back_inserter(out));
    return {};
  }));
  return out;
}

Result<> list(Context& c, Session& session, const Listing& l, const EntityTable& table) {
  Names names;
  fields::Environment env = print_environment(session.conf(), c.options, names);
  EntityView view{.env = env};
  view.tree = l.choices.tree;
  std::vector<QosRecord> qos;
  if (to_lower(l.choices.format).find("raw") != std::string::npos) {
    MUSTER_TRY(known, all_qos(session));
    qos = std::move(known);
    view.all_qos = &qos;
  }
  const bool whole = l.query.with_associations;
  rpc::Entities all;
  Out out;
  bool begun = false;
  auto header = [&] {
    if (!std::exchange(begun, true)) table.header(out.buffer());
  };
  MUSTER_TRY_VOID(session.stream(l.query, [&](rpc::Entities&& part) -> Result<> {
    header();
    if (l.choices.without_parent_info) drop_parents(part);
    if (whole) collect(all, std::move(part));
    else print(l, part, view, table, out.buffer());
    out.put("");
    return {};
  }));
  header();
  if (whole) print(l, all, view, table, out.buffer());
  return {};
}

// "list coordinator" shows the accounts that have one.
void choose(Context& c, Listing& l) {
  if (c.options.associations && (l.entity == Entity::kAccount || l.entity == Entity::kUser)) l.choices.with_associations = true;
  if (l.entity == Entity::kCoordinator) l.choices.with_coordinators = true;
  l.query.what = l.entity == Entity::kCoordinator ? Entity::kAccount : l.entity;
  l.query.with_associations = l.choices.with_associations || l.entity == Entity::kCluster;
  l.query.with_coordinators = l.choices.with_coordinators;
  l.query.raw = l.choices.without_parent_limits;
  l.query.raw_qos = l.choices.with_raw_qos;
}

}  // namespace

void show(Context& c, Words words) {
  std::string_view what = words.empty() ? std::string_view() : std::string_view(words[0]);
  if (what.size() >= 4 && istarts_with("configuration", what)) return show_configuration(c);
  if (!what.empty() && istarts_with("events", what)) return show_events(c, words.subspan(1));
  std::optional<Entity> entity = entity_of(c, "list", what);
  if (!entity) return;
  Listing l{*entity, {}, {}};
  const Entity keys_of = l.entity == Entity::kCoordinator ? Entity::kAccount : l.entity;
  for (const Spec& s : parse_specs(words.subspan(1)))
    if (Result<> done = add_condition(keys_of, s, os::wall_now(), l.query.filter, &l.choices); !done) return c.complain(done.error());
  choose(c, l);
  if (l.entity == Entity::kCoordinator) l.entity = Entity::kAccount;
  Result<EntityTable> table = table_of(c, l);
  if (!table) {
    c.complain("Unknown field '" + std::string(table.error().message()) + "'");
    if (!table.error().hint.empty()) c.log.info("{}", table.error().hint);
    return;
  }
  Session* session = c.session();
  if (!session) return;
  if (Result<> done = list(c, *session, l, *table); !done) c.complain(done.error());
}

}  // namespace muster::cli
