// list and show: rows of one entity, printed as they come; those with associations are printed once all have come.
#include <algorithm>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/sacctmgr/listing.h"
#include "fields/entity_objects.h"
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

Result<EntityTable> table_of(Context& context, const Listing& listing) {
  EntityTable table(table_style(context.options));
  if (as_data(context)) return table;
  std::string columns = listing.choices.format.empty() ? context.options.format : listing.choices.format;
  if (columns.empty()) {
    fields::EntityDefaults d;
    d.with_associations = listing.choices.with_associations;
    d.without_limits = listing.choices.without_limits;
    d.with_coordinators = listing.choices.with_coordinators;
    d.with_clusters = listing.choices.with_clusters;
    d.with_federation = listing.choices.with_federation;
    d.tree = listing.choices.tree;
    d.with_wckeys = listing.entity == Entity::kUser && context.conf() && context.conf()->tracks_wckeys();
    columns = fields::entity_default_columns(listing.entity, d);
  }
  const bool limits = listing.entity != Entity::kTres && listing.entity != Entity::kWckey && listing.entity != Entity::kTransaction &&
                      listing.entity != Entity::kResource && listing.entity != Entity::kFederation;
  MUSTER_TRY_VOID(table.add(fields::entity_fields(listing.entity), columns,
                            limits ? fields::old_limit_fields() : std::span<const fields::EntityField>{}));
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

// Prints associations in the order of their tree, each as deep as there are rows above it that are shown.
class AssociationRows {
 public:
  void print(const std::vector<AssociationRecord>& records, EntityView view, const EntityTable& table, std::string& out) {
    for (const AssociationRecord& a : records) {
      const auto below = [&](const Place& p) { return p.cluster == a.cluster && a.lineage.starts_with(p.lineage); };
      while (!above_.empty() && !below(above_.back())) above_.pop_back();
      view.depth = static_cast<uint32_t>(above_.size());
      view.association = &a;
      table.row(view, out);
      if (a.user.empty()) above_.push_back({a.cluster, a.lineage});
    }
  }

 private:
  struct Place {
    std::string cluster, lineage;
  };
  std::vector<Place> above_;  // those above the next one, the nearest last
};

// A line for each cluster of a federation; in a tree the federation has a line of its own before them.
void print_federations(const rpc::Entities& part, EntityView view, const EntityTable& table, std::string& out) {
  for (const FederationRecord& f : part.federations) {
    view.federation = &f;
    view.cluster = nullptr;
    const bool any = std::ranges::any_of(part.clusters, [&](const ClusterRecord& c) { return c.federation == f.name; });
    if (view.tree || !any) table.row(view, out);
    for (const ClusterRecord& c : part.clusters) {
      if (c.federation != f.name) continue;
      view.cluster = &c;
      table.row(view, out);
    }
  }
}

void print(const Listing& listing, const rpc::Entities& part, EntityView view, const EntityTable& table, std::string& out,
           AssociationRows& tree) {
  auto each = [&](const auto& records, auto member) {
    for (const auto& r : records) {
      view.*member = &r;
      table.row(view, out);
    }
  };
  const bool joined = listing.choices.with_associations;
  switch (listing.entity) {
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
    case Entity::kAssociation: return tree.print(part.associations, view, table, out);
    case Entity::kFederation: return print_federations(part, view, table, out);
    case Entity::kQos: return each(part.qos, &EntityView::qos);
    case Entity::kTres: return each(part.tres, &EntityView::tres);
    case Entity::kWckey: return each(part.wckeys, &EntityView::wckey);
    case Entity::kTransaction: return each(part.transactions, &EntityView::transaction);
    case Entity::kResource:
      for (const ResourceRecord& r : part.resources) {
        view.resource = &r;
        if (!listing.choices.with_clusters) table.row(view, out);
        for (const ResourceShare& share : listing.choices.with_clusters ? r.clusters : std::vector<ResourceShare>()) {
          view.share = &share;
          table.row(view, out);
        }
      }
      return;
  }
}

// Writes each record of a part as one object; the associations that came with them are lists in it.
void write(const Listing& listing, const rpc::Entities& part, EntityView view, fields::TreeSink& sink) {
  const auto object = fields::entity_object(listing.entity);
  view.associations = &part.associations;
  auto each = [&](const auto& records, auto member) {
    for (const auto& r : records) {
      view.*member = &r;
      fields::json_listed(object, view, sink);
    }
  };
  switch (listing.entity) {
    case Entity::kAccount:
    case Entity::kCoordinator: return each(part.accounts, &EntityView::account);
    case Entity::kUser: return each(part.users, &EntityView::user);
    case Entity::kCluster: return each(part.clusters, &EntityView::cluster);
    case Entity::kAssociation: return each(part.associations, &EntityView::association);
    case Entity::kQos: return each(part.qos, &EntityView::qos);
    case Entity::kTres: return each(part.tres, &EntityView::tres);
    case Entity::kWckey: return each(part.wckeys, &EntityView::wckey);
    case Entity::kTransaction: return each(part.transactions, &EntityView::transaction);
    case Entity::kResource: return each(part.resources, &EntityView::resource);
    case Entity::kFederation: return;  // has no published shape: show() refuses
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

// All QOS or TRES, for what shows their numbers.
template <class Record>
Result<std::vector<Record>> all_of(Session& session, Entity what, std::vector<Record> rpc::Entities::*records) {
  rpc::QueryEntities query;
  query.what = what;
  std::vector<Record> out;
  MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
    std::ranges::move(part.*records, std::back_inserter(out));
    return {};
  }));
  return out;
}

// The same as list(), for --json and --yaml.
Result<> write_document(Context& context, Session& session, const Listing& listing) {
  Names names;
  fields::Environment env = print_environment(session.conf(), context.options, names);
  MUSTER_TRY(tres, all_of(session, Entity::kTres, &rpc::Entities::tres));
  EntityView view{.env = env};
  view.known_tres = &tres;
  rpc::Entities all;
  Out out;
  DatabaseDocument document(context, fields::entity_list_name(listing.entity), session.conf(), out);
  MUSTER_TRY_VOID(session.stream(listing.query, [&](rpc::Entities&& part) -> Result<> {
    if (listing.choices.without_parent_info) drop_parents(part);
    if (listing.query.with_associations) collect(all, std::move(part));
    else write(listing, part, view, document.sink());
    out.put("");
    return {};
  }));
  write(listing, all, view, document.sink());
  return {};
}

Result<> list(Context& context, Session& session, const Listing& listing, const EntityTable& table) {
  if (as_data(context)) return write_document(context, session, listing);
  Names names;
  fields::Environment env = print_environment(session.conf(), context.options, names);
  EntityView view{.env = env};
  view.tree = listing.choices.tree;
  std::vector<QosRecord> qos;
  if (to_lower(listing.choices.format).find("raw") != std::string::npos) {
    MUSTER_TRY(known, all_of(session, Entity::kQos, &rpc::Entities::qos));
    qos = std::move(known);
    view.all_qos = &qos;
  }
  const bool whole = listing.query.with_associations;
  rpc::Entities all;
  Out out;
  AssociationRows tree;
  bool begun = false, any = false;
  auto header = [&] {
    if (!std::exchange(begun, true)) table.header(out.buffer());
  };
  MUSTER_TRY_VOID(session.stream(listing.query, [&](rpc::Entities&& part) -> Result<> {
    header();
    if (listing.choices.without_parent_info) drop_parents(part);
    any = any || !part.users.empty();
    if (whole) collect(all, std::move(part));
    else print(listing, part, view, table, out.buffer(), tree);
    out.put("");
    return {};
  }));
  header();
  if (whole) print(listing, all, view, table, out.buffer(), tree);
  if (!any && listing.entity == Entity::kUser && !listing.query.filter.wckeys.empty()) context.exit_code = 1;  // as Slurm's
  return {};
}

// "list coordinator" shows the accounts that have one.
void choose(Context& c, Listing& l) {
  if (c.options.associations && (l.entity == Entity::kAccount || l.entity == Entity::kUser)) l.choices.with_associations = true;
  if (l.entity == Entity::kCoordinator) l.choices.with_coordinators = true;
  l.query.what = l.entity == Entity::kCoordinator ? Entity::kAccount : l.entity;
  // Transactions name themselves what they touched, and come one after the other.
  l.query.with_associations = (l.choices.with_associations && l.entity != Entity::kTransaction) || l.entity == Entity::kCluster;
  l.query.with_coordinators = l.choices.with_coordinators;
  l.query.raw = l.choices.without_parent_limits;
  l.query.raw_qos = l.choices.with_raw_qos;
}

}  // namespace

void show(Context& context, Words words) {
  std::string_view what = words.empty() ? std::string_view() : std::string_view(words[0]);
  if (what.size() >= 4 && istarts_with("configuration", what)) return show_configuration(context);
  if (!what.empty() && istarts_with("events", what)) return show_events(context, words.subspan(1));
  if (what.size() >= 4 && istarts_with("reservations", what)) return show_reservations(context, words.subspan(1));
  if (!what.empty() && istarts_with("problems", what)) return show_problems(context, words.subspan(1));
  if (what.size() >= 2 && istarts_with("stats", what)) return show_statistics(context, words.subspan(1));
  if (what.size() >= 2 && istarts_with("runawayjobs", what)) return show_runaway_jobs(context, words.subspan(1));
  std::optional<Entity> entity = entity_of(context, "list", what);
  if (!entity) return;
  Listing listing{*entity, {}, {}};
  const Entity keys_of = listing.entity == Entity::kCoordinator ? Entity::kAccount : listing.entity;
  for (const Spec& s : parse_specs(words.subspan(1)))
    if (Result<> done = add_condition(keys_of, s, os::wall_now(), listing.query.filter, &listing.choices); !done)
      return context.complain(done.error());
  if (listing.entity == Entity::kFederation && as_data(context))
    return context.complain("sacctmgr: error: list federation: --json and --yaml have no published shape for it");
  choose(context, listing);
  if (listing.entity == Entity::kCoordinator) listing.entity = Entity::kAccount;
  Result<EntityTable> table = table_of(context, listing);
  if (!table) {
    context.complain("Unknown field '" + std::string(table.error().message()) + "'");
    if (!table.error().hint.empty()) context.log.info("{}", table.error().hint);
    return;
  }
  Session* session = context.session();
  if (!session) return;
  if (Result<> done = list(context, *session, listing, *table); !done) context.complain(done.error());
}

}  // namespace muster::cli
