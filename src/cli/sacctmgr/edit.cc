// add, modify, delete: what was typed becomes edits; slurmdbd says what they would do, the user is asked, and then they are carried out.
#include <algorithm>

#include "base/text.h"
#include "cli/sacctmgr/context.h"
#include "cli/sacctmgr/told.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

struct Typed {
  std::vector<EntityEdit> edits;
  bool settings = false;  // something besides names was typed
  bool conditions = false;
};

std::string text_of(const Typed& typed, const rpc::EntitiesEdited& answer) {
  std::string out;
  for (size_t i = 0; i < typed.edits.size() && i < answer.changed.size(); ++i)
    out += told(typed.edits[i], answer.changed[i], typed.settings);
  return out;
}

// Whoever does this expects jobs to go where there is room.
bool makes_federation(const EntityEdit& edit) {
  const bool joins = edit.entity == Entity::kCluster && edit.set.federation && !edit.set.federation->empty();
  return joins || (edit.entity == Entity::kFederation && edit.verb != EditVerb::kDelete);
}

void run_edits(Context& context, Typed typed) {
  if (context.options.readonly) return context.complain("Can't run this command in readonly mode.");
  Session* session = context.session();
  if (!session) return;
  rpc::EditEntities request{context.options.immediate, typed.edits};
  Result<rpc::EntitiesEdited> answer = session->call(request);
  if (!answer) return context.complain(answer.error());
  std::string text = text_of(typed, *answer);
  if (text.empty()) {
    context.exit_code = 1;
    return context.say(told_nothing(typed.edits.front()));
  }
  context.say(text);
  if (std::ranges::any_of(typed.edits, makes_federation))
    context.log.info("federations are recorded and shown; each cluster schedules its own jobs alone in this version of Muster");
  if (request.commit) return;
  if (!confirmed("Would you like to commit changes?")) return context.say(" Changes Discarded\n");
  request.commit = true;
  answer = session->call(request);
  if (!answer) context.complain(answer.error());
}

// Puts conditions into `where` and settings into `set`. False after a complaint.
bool sort_specs(Context& c, const std::vector<Spec>& specs, EntityEdit& edit, Typed& typed) {
  const Time now = os::wall_now();
  for (const Spec& s : specs) {
    const bool setting = s.part == Spec::Part::kSet;
    Result<> done = setting ? add_setting(edit.entity, s, edit.set) : add_condition(edit.entity, s, now, edit.where, nullptr);
    if (!done) return c.complain(done.error()), false;
    (setting ? typed.settings : typed.conditions) = true;
  }
  return true;
}

// Whether the key of an add is one of those that set something. Server= is a place, though ServerType= begins so.
bool sets_something(Entity entity, const Spec& s) {
  if (s.key.empty()) return false;
  std::string meant;
  const std::optional<KeyMatch> setting = find_key(entity, kSetting, s.key, meant);
  if (!setting || setting->whole) return setting.has_value();
  const std::optional<KeyMatch> place = find_key(entity, kCondition, s.key, meant);
  return !place || !place->whole;
}

// The same for add, which has all keys in one list: names and places go into `where`, the others into `set`.
bool sort_new(Context& context, const std::vector<Spec>& specs, EntityEdit& edit, Typed& typed) {
  const Time now = os::wall_now();
  for (const Spec& s : specs) {
    const bool setting = sets_something(edit.entity, s);
    Result<> done = setting ? add_setting(edit.entity, s, edit.set) : add_condition(edit.entity, s, now, edit.where, nullptr);
    if (!done && done.error().code == Errc::kNotFound)
      done = fail(Errc::kUnknownKeyword, " Unknown option: " + s.text + "\n Use keyword 'where' to modify condition", done.error().hint);
    if (!done) return context.complain(done.error()), false;
    typed.settings = typed.settings || setting;
  }
  return true;
}

// What a new record still needs, in Slurm's words; "" when nothing is missing.
std::string missing(const EntityEdit& edit) {
  const EntityFilter& where = edit.where;
  switch (edit.entity) {
    case Entity::kAccount: return where.accounts.empty() ? " Need name of account to add." : "";
    case Entity::kUser:
      if (where.users.empty()) return " Need name of user to add.";
      return where.accounts.empty() && where.wckeys.empty() && !edit.set.default_wckey ? " Need name of account to add user to." : "";
    case Entity::kQos: return where.qos.empty() ? " Need name of qos to add." : "";
    case Entity::kCluster: return where.clusters.empty() ? " Need name of cluster to add." : "";
    case Entity::kResource: return where.names.empty() ? " Need name of resource to add." : "";
    case Entity::kFederation: return where.federations.empty() ? " Need name of federation to add." : "";
    case Entity::kCoordinator:
      if (where.accounts.empty()) return " You need to specify an account list here.";
      return where.users.empty() ? " You need to specify a user list here." : "";
    default: return {};
  }
}

bool editable(Entity entity, EditVerb verb) {
  switch (entity) {
    case Entity::kAccount:
    case Entity::kUser:
    case Entity::kQos:
    case Entity::kResource:
    case Entity::kFederation:
    case Entity::kCluster: return true;
    case Entity::kCoordinator: return verb != EditVerb::kModify;
    case Entity::kAssociation: return verb == EditVerb::kModify;
    default: return false;
  }
}

std::optional<EntityEdit> begin_edit(Context& c, EditVerb verb, std::string_view name, Words words) {
  std::optional<Entity> entity = entity_of(c, name, words.empty() ? "" : words[0]);
  if (!entity) return std::nullopt;
  if (!editable(*entity, verb)) {
    entity_of(c, name, "");  // prints the list of entities
    return std::nullopt;
  }
  EntityEdit edit;
  edit.verb = verb;
  edit.entity = *entity;
  return edit;
}

// A user whom this machine does not know is perhaps a slip.
bool wanted_though_unknown(const EntityEdit& edit) {
  return std::ranges::all_of(edit.where.users, [](const std::string& name) {
    return os::find_user(name) || confirmed("There is no uid for user '" + name + "'\nAre you sure you want to continue?");
  });
}

}  // namespace

void add(Context& context, Words words) {
  std::optional<EntityEdit> edit = begin_edit(context, EditVerb::kAdd, "add", words);
  if (!edit) return;
  Typed typed;
  if (!sort_new(context, parse_specs(words.subspan(1)), *edit, typed)) return;
  EntityFilter& where = edit->where;
  if (edit->entity == Entity::kUser && where.accounts.empty() && edit->set.default_account)
    where.accounts.push_back(*edit->set.default_account);
  if (std::string text = missing(*edit); !text.empty()) return context.complain(text);
  if (edit->entity == Entity::kUser && !context.options.immediate) {
    if (!context.session()) return;  // nothing is asked where there is no database
    if (!wanted_though_unknown(*edit)) {
      context.exit_code = 1;
      return;
    }
  }
  std::vector<std::string> wckeys = std::exchange(where.wckeys, {});
  if (edit->entity == Entity::kUser && !wckeys.empty()) {
    EntityEdit keys;
    keys.entity = Entity::kWckey;
    keys.where.users = where.users;
    keys.where.clusters = where.clusters;
    keys.where.wckeys = std::move(wckeys);
    typed.edits = {*edit, std::move(keys)};
  } else {
    typed.edits = {std::move(*edit)};
  }
  run_edits(context, std::move(typed));
}

void modify(Context& c, Words words) {
  if (!words.empty() && !words[0].empty() && istarts_with("jobs", words[0])) return modify_jobs(c, words.subspan(1));
  std::optional<EntityEdit> edit = begin_edit(c, EditVerb::kModify, "modify", words);
  if (!edit) return;
  Typed typed;
  if (!sort_specs(c, parse_specs(words.subspan(1)), *edit, typed)) return;
  if (!typed.settings) return c.complain(" You didn't give me anything to set");
  constexpr std::string_view kAll = "You didn't set any conditions with 'WHERE'.\nAre you sure you want to continue?";
  if (!typed.conditions && !c.options.immediate && !confirmed(kAll)) return c.say("Aborted\n");
  typed.edits = {std::move(*edit)};
  run_edits(c, std::move(typed));
}

void remove(Context& c, Words words) {
  std::optional<EntityEdit> edit = begin_edit(c, EditVerb::kDelete, "delete", words);
  if (!edit) return;
  Typed typed;
  std::vector<Spec> specs = parse_specs(words.subspan(1));
  if (has_set(specs)) return c.complain(" delete takes conditions, and nothing to set");
  if (!sort_specs(c, specs, *edit, typed)) return;
  if (!typed.conditions) return c.complain(" No conditions given to remove, not executing.");
  typed.edits = {std::move(*edit)};
  run_edits(c, std::move(typed));
}

}  // namespace muster::cli
