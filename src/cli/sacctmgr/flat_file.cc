// dump and load: the flat file of one cluster's accounts. sacctmgr(1), FLAT FILE DUMP AND LOAD. Both are for administrators: a dump that
// PrivateData had cut short would not load whole.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "cli/sacctmgr/context.h"
#include "cli/sacctmgr/load_plan.h"
#include "cli/sacctmgr/told.h"
#include "config/accounts_file.h"
#include "os/files.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

constexpr size_t kMostFileBytes = 64u << 20;

void collect(rpc::Entities& all, rpc::Entities&& part) {
  auto move = [](auto& to, auto& from) { std::ranges::move(from, std::back_inserter(to)); };
  move(all.clusters, part.clusters);
  move(all.accounts, part.accounts);
  move(all.users, part.users);
  move(all.associations, part.associations);
  move(all.qos, part.qos);
  move(all.wckeys, part.wckeys);
}

// All that a file can speak of, as it was set.
Result<rpc::Entities> everything(Session& session) {
  rpc::Entities all;
  for (Entity what : {Entity::kCluster, Entity::kAccount, Entity::kUser, Entity::kAssociation, Entity::kQos, Entity::kWckey}) {
    rpc::QueryEntities query;
    query.what = what;
    query.raw = true;
    MUSTER_TRY_VOID(session.stream(query, [&](rpc::Entities&& part) -> Result<> {
      collect(all, std::move(part));
      return {};
    }));
  }
  return all;
}

bool is_administrator(Context& c, const Session& session, const rpc::Entities& all, std::string_view what) {
  if (::getuid() == 0) return true;
  const Result<os::User> self = os::find_user(Uid{::getuid()});
  const std::string name = self ? self->name : std::to_string(::getuid());
  if (name == session.conf().slurm_user) return true;
  const bool known = std::ranges::any_of(
      all.users, [&](const UserRecord& u) { return iequals(u.name, name) && u.admin_level == AdminLevel::kAdministrator; });
  if (!known) c.complain(" Your user does not have sufficient privileges to " + std::string(what) + ".");
  return known;
}

// ---- the words
struct FileWords {
  std::string cluster, file;
  LoadChoices load;
};

// "clean" alone, or clean=account,qos,user.
bool take_clean(const Spec& s, LoadChoices& choices) {
  choices.clean = true;
  if (s.key.empty()) return true;
  for (const std::string& what : split_names(s.value)) {
    if (istarts_with("accounts", what)) choices.clean_accounts = true;
    else if (iequals(what, "qos")) choices.clean_qos = true;
    else if (istarts_with("users", what)) choices.clean_users = true;
    else return false;
  }
  return true;
}

// nullopt after a complaint. A word alone is the cluster of a dump, the file of a load.
std::optional<FileWords> words_of(Context& context, Words words, bool loads) {
  FileWords out;
  auto refuse = [&](const std::string& text) {
    context.complain(text);
    return std::nullopt;
  };
  for (const Spec& spec : parse_specs(words)) {
    const bool bare = spec.key.empty();
    if (loads && iequals(bare ? spec.value : spec.key, "clean")) {
      if (spec.op != ChangeOp::kSet || !take_clean(spec, out.load)) return refuse(" Unknown option: " + spec.text);
      continue;
    }
    const bool names_file = bare ? loads : iequals(spec.key, "file");
    const bool names_cluster = bare ? !loads : iequals(spec.key, "cluster") || iequals(spec.key, "clusters") || iequals(spec.key, "name");
    if (spec.op != ChangeOp::kSet || (!names_file && !names_cluster)) return refuse(" Unknown option: " + spec.text);
    std::string& into = names_file ? out.file : out.cluster;
    if (!into.empty())
      return refuse(" Can only do one " + std::string(names_file ? "file" : "cluster") + " at a time.  Already doing " + into);
    into = spec.value;
  }
  return out;
}

// What went wrong with a file, without its name.
std::string why(const std::string& path, const Error& e) {
  const std::string_view text = e.message();
  return std::string(text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text);
}

// ---- dump
// A device or pipe is written to; a file is replaced whole, so that an older dump is not lost half-way.
Result<> write_dump(const std::string& path, std::string_view text) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 || S_ISREG(there.st_mode)) return os::write_file_atomic(path, text);
  MUSTER_TRY(file, os::open_output(path, {}));
  return os::write_all(file.get(), text, path);
}

// ---- load
void collect_told(const LoadPlan& plan, const rpc::EntitiesEdited& answer, std::string& out) {
  out += join(plan.changed, "");
  for (size_t i = 0; i < plan.edits.size() && i < answer.changed.size(); ++i)
    if (plan.edits[i].verb != EditVerb::kModify) out += told(plan.edits[i], answer.changed[i], true);
}

void run_plan(Context& context, Session& session, LoadPlan plan) {
  context.say("For cluster " + plan.cluster + "\n");
  if (plan.edits.empty()) return context.say(" Nothing new added.\n");
  rpc::EditEntities request{false, plan.edits};
  Result<rpc::EntitiesEdited> answer = session.call(request);  // slurmdbd refuses here what it would refuse below
  if (!answer) return context.complain(answer.error());
  std::string text;
  collect_told(plan, *answer, text);
  context.say(text);
  if (!context.options.immediate && !confirmed("Would you like to commit changes?")) return context.say(" Changes Discarded\n");
  request.commit = true;
  answer = session.call(request);
  if (!answer) context.complain(answer.error());
}

Result<std::string> read_dump(const std::string& path) {
  Result<std::string> text = os::read_file(path, kMostFileBytes);
  if (text) return text;
  return fail(text.error().code, " Unable to read \"" + path + "\": " + why(path, text.error()));
}

}  // namespace

void dump(Context& context, Words words) {
  std::optional<FileWords> typed = words_of(context, words, false);
  if (!typed) return;
  if (typed->cluster.empty()) return context.complain(" We need a cluster to dump.");
  const std::string cluster = to_lower(typed->cluster);
  Session* session = context.session();
  if (!session) return;
  Result<rpc::Entities> all = everything(*session);
  if (!all) return context.complain(all.error());
  if (!is_administrator(context, *session, *all, "dump clusters")) return;
  if (std::ranges::none_of(all->clusters, [&](const ClusterRecord& r) { return r.name == cluster; }))
    return context.complain(" Cluster " + cluster + " doesn't exist.");
  if (typed->file.empty()) {
    typed->file = "./" + cluster + ".cfg";
    context.say(" No filename given, using " + typed->file + ".\n");
  }
  if (Result<> written = write_dump(typed->file, config::write_accounts_file(cluster, *all)); !written)
    context.complain("Can't open file " + typed->file + ", " + why(typed->file, written.error()));
}

void load(Context& context, Words words) {
  if (context.options.readonly) return context.complain("Can't run this command in readonly mode.");
  std::optional<FileWords> typed = words_of(context, words, true);
  if (!typed) return;
  if (typed->file.empty()) return context.complain(" No filename given, specify one with file=''");
  Result<std::string> text = read_dump(typed->file);
  if (!text) return context.complain(text.error());
  Result<config::AccountsFile> file = config::read_accounts_file(*text);
  if (!file) return context.complain(file.error());
  Session* session = context.session();
  if (!session) return;
  Result<rpc::Entities> all = everything(*session);
  if (!all) return context.complain(all.error());
  if (!is_administrator(context, *session, *all, "load files")) return;
  constexpr std::string_view kFlush = "You requested to flush the cluster before adding it again.\nAre you sure you want to continue?";
  if (typed->load.clean && !context.options.immediate && !confirmed(kFlush)) return context.say("Aborted\n");
  typed->load.cluster = typed->cluster;
  Result<LoadPlan> plan = plan_load(*file, typed->load, std::move(*all));
  if (!plan) return context.complain(plan.error());
  run_plan(context, *session, std::move(*plan));
}

}  // namespace muster::cli
