// update, create, delete: turns key=value words into a request. The controller knows which keys exist and what they may hold.
#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/job_ids.h"
#include "cli/scontrol/resize_script.h"
#include "os/users.h"

namespace muster::cli {
namespace {

struct Specification {
  std::string job, job_name, user, step, nodes, partition;  // what the change is about
  bool reservation = false;
  std::string reservation_name;
  std::vector<rpc::KeyValue> changes;
  bool names_nothing() const {
    return job.empty() && job_name.empty() && step.empty() && nodes.empty() && partition.empty() && !reservation;
  }
};

bool is_any(std::string_view key, std::initializer_list<std::string_view> names) {
  for (std::string_view n : names)
    if (iequals(key, n)) return true;
  return false;
}

// Takes the pair that says what the command is about; it is the first of a command.
bool take_entity(Specification& s, const std::string& key, const std::string& value) {
  if (is_any(key, {"UserID", "User"}) && !s.job_name.empty()) return s.user = value, true;
  if (s.reservation && s.reservation_name.empty() && is_any(key, {"ReservationName", "Reservation"}))
    return s.reservation_name = value, true;
  if (!s.names_nothing()) return false;
  if (is_any(key, {"JobId", "Job"})) s.job = value;
  else if (is_any(key, {"JobName"})) s.job_name = value;
  else if (is_any(key, {"StepId", "Step"})) s.step = value;
  else if (is_any(key, {"NodeName", "Node", "Nodes", "NodeNames"})) s.nodes = value;
  else if (is_any(key, {"PartitionName", "Partition"})) s.partition = value;
  else if (is_any(key, {"ReservationName", "Reservation", "res"})) s.reservation = true, s.reservation_name = value;
  else return false;
  return true;
}

// Whether the word is an entity without a value: "update job 12 TimeLimit=5", "create partition Nodes=…".
bool entity_word(std::string_view word) {
  return is_any(word, {"job", "jobid", "step", "stepid", "node", "nodename", "partition", "partitionname", "reservation", "res"});
}

// Keys that may stand without "=value".
bool lone_key(std::string_view word) { return is_any(word, {"ResetAccrueTime", "Nice", "Skip"}); }

bool read_specification(Context& c, Words words, Specification& s) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    size_t equals = word.find('=');
    if (equals == std::string::npos) {
      if (lone_key(word) && !s.names_nothing()) {
        s.changes.push_back({word, "=", ""});
        continue;
      }
      if (is_any(word, {"reservation", "res"}) && s.names_nothing()) {
        s.reservation = true;
        const bool name = i + 1 < words.size() && words[i + 1].find('=') == std::string::npos && !lone_key(words[i + 1]);
        if (name) s.reservation_name = words[++i];
        continue;
      }
      bool named = i + 1 < words.size() && words[i + 1].find('=') == std::string::npos;
      if (named && !s.names_nothing()) {  // "arraytaskthrottle 2"
        s.changes.push_back({word, "=", words[++i]});
        continue;
      }
      if (!entity_word(word) || (!named && i + 1 >= words.size())) {
        c.complain("Invalid input: " + word);
        c.complain("Request aborted");
        return false;
      }
      if (named) take_entity(s, word, words[++i]);
      continue;
    }
    rpc::KeyValue kv;
    size_t end = equals;
    if (end > 0 && (word[end - 1] == '+' || word[end - 1] == '-')) --end;
    kv.key = word.substr(0, end);
    kv.op = word.substr(end, equals - end + 1);
    kv.value = word.substr(equals + 1);
    if (kv.op == "=" && take_entity(s, kv.key, kv.value)) continue;
    s.changes.push_back(std::move(kv));
  }
  return true;
}

// Reports a value that could not be read. Slurm omits "scontrol: error: " for some messages and ends some with a further line; for
// partitions (`named`) the prefix is always there.
void tell_bad_input(Context& c, const Error& e, bool named) {
  std::string_view text = e.message();
  bool word = text.starts_with("Update of this parameter") || text.starts_with("Invalid input: ");
  bool bare = word || text.starts_with("You must specify") || text.starts_with("Invalid MailType") || e.code == Errc::kInvalidTime;
  c.complain(bare && !named ? "" : "scontrol: error: ", e);
  if (word && !named) c.complain("Request aborted");
  if (e.code == Errc::kInvalidTime) c.complain("No changes specified");
}

// Prints the controller's messages. `failed` is a prefix such as "slurm_update error: "; `about` a suffix such as " for job 12".
void tell(Context& c, const Result<rpc::Messages>& answer, const std::string& failed, const std::string& about = {}, bool named = false) {
  if (!answer) {
    Error e = answer.error();
    bool input = e.code == Errc::kInvalidArgument || e.code == Errc::kInvalidTime;
    if (input && !e.text.empty()) return tell_bad_input(c, e, named);
    if (!about.empty()) e.text = std::string(e.message()) + about;
    c.complain(about.empty() ? failed : "", e);
    return;
  }
  for (const std::string& line : answer->lines)
    if (!c.options.quiet) c.log.info("{}", line);
  for (const rpc::PerJobError& e : answer->errors)
    c.complain((e.text.empty() ? std::string(errc_text_of_number(e.code)) : e.text) + (about.empty() ? " for node " : " for job ") + e.job);
}

bool is_suspend_exception(std::string_view key) { return is_any(key, {"SuspendExcNodes", "SuspendExcParts", "SuspendExcStates"}); }

bool find_uid(Context& c, const std::string& text, std::optional<uint32_t>& out) {
  if (text.empty()) return true;
  out = parse_number<uint32_t>(text);
  if (out) return true;
  Result<Uid> uid = os::find_uid(text);
  if (!uid) {
    c.complain("Invalid UserID: " + text);
    return false;
  }
  out = uid->value;
  return true;
}

// Whether the update may have made a running job smaller.
bool names_size(const Specification& s) {
  return std::ranges::any_of(s.changes, [](const rpc::KeyValue& kv) { return is_any(kv.key, {"NumNodes", "ReqNodes", "NodeList"}); });
}

void after_resize(Context& c, Session& session, JobId job) {
  Result<rpc::Allocated> now = session.call(rpc::AttachAllocation{job});
  if (now && now->job.resized != kTimeUnset) write_resize_scripts(c, *now);  // a waiting job has no shell to correct
}

void update_jobs(Context& c, const Specification& s) {
  rpc::UpdateJob request;
  request.changes = s.changes;
  request.name = s.job_name;
  if (!find_uid(c, s.user, request.owner) || !find_uid(c, c.options.uid_text, request.as_uid)) return;
  Session* session = c.control_session();
  if (!session) return;
  if (!s.job_name.empty()) return tell(c, session->call(request), "scontrol: error: ");
  for (std::string_view one : split_outside_brackets(s.job)) {
    Result<rpc::JobSelector> selector = parse_job_selector(one);
    std::string about = " for job " + std::string(one);
    if (!selector) return c.complain("Invalid job id specified" + about);
    request.job = std::move(*selector);
    Result<rpc::Messages> answer = session->call(request);
    tell(c, answer, "", about);
    if (answer && names_size(s) && request.job.array_task == kNoArrayTask) after_resize(c, *session, request.job.job);
  }
}

void update_step(Context& c, const Specification& s) {
  Result<rpc::JobSelector> step = parse_job_selector(s.step);
  if (!step) {
    c.complain("Invalid StepID parameter: StepId=" + s.step);
    return c.complain("Request aborted");
  }
  Session* session = c.control_session();
  if (session) tell(c, session->call(rpc::UpdateStep{std::move(*step), s.changes}), "slurm_update error: ");
}

rpc::UpdatePartition partition_request(const Specification& s) {
  rpc::UpdatePartition request;
  request.name = s.partition;
  request.changes = s.changes;
  return request;
}

rpc::UpdateNode node_request(const Specification& s) {
  rpc::UpdateNode request;
  request.nodes = s.nodes;
  request.changes = s.changes;
  return request;
}

// Who is in the groups that a change names, as this host knows it; false after a complaint.
bool add_members(Context& c, rpc::UpdateReservation& request, const std::string& failed) {
  for (const rpc::KeyValue& kv : request.changes) {
    const bool users = istarts_with("Users", kv.key) && !kv.key.empty(), groups = istarts_with("Groups", kv.key) && !kv.key.empty();
    if (!users && !groups) continue;
    for (std::string_view name : split(kv.value, ',')) {
      if (name.starts_with('-') || name.starts_with('+')) name.remove_prefix(1);
      if (users && !os::find_user(name)) return c.complain(failed, Error(Errc::kUserIdMissing)), false;
      if (!groups) continue;
      auto group = os::find_group(name);
      if (!group) return c.complain(failed, Error(Errc::kGroupIdMissing)), false;
      for (std::string& member : group->members) request.group_members.push_back(std::move(member));
      if (auto own = os::find_user(name); own && own->gid == group->gid) request.group_members.push_back(own->name);
    }
  }
  return true;
}

// A value that could not be read has a sentence of its own; a time is said to be wrong before that.
void tell_reservation(Context& c, const Result<rpc::Messages>& answer, const std::string& failed) {
  if (answer) {
    for (const std::string& line : answer->lines)
      if (!c.options.quiet) Out().line(line);
    return;
  }
  Error e = answer.error();
  if (e.code != Errc::kInvalidArgument || e.text.empty()) return c.complain(failed, e);
  if (e.hint.starts_with("Invalid time specification")) c.complain(std::exchange(e.hint, {}));
  c.complain("scontrol: error: ", e);
}

void change_reservation(Context& c, const Specification& s, bool create) {
  const std::string failed = create ? "Error creating the reservation: " : "Error updating the reservation: ";
  if (!create && s.reservation_name.empty()) return c.complain("scontrol: error: Reservation must be given.  No reservation update.");
  rpc::UpdateReservation request;
  request.name = s.reservation_name;
  request.create = create;
  request.changes = s.changes;
  if (!add_members(c, request, failed)) return;
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(request);
  tell_reservation(c, answer, failed);
  if (!answer && !create && answer.error().code != Errc::kInvalidArgument) c.complain("slurm_update error: ", Error(answer.error().code));
}

void remove_reservation(Context& c, const Specification& s, Words words) {
  if (s.reservation_name.empty()) return c.complain("scontrol: error: Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'");
  rpc::UpdateReservation request;
  request.name = s.reservation_name;
  request.remove = true;
  Session* session = c.control_session();
  if (session) tell_reservation(c, session->call(request), "delete_reservation " + words[0] + ": ");
}

}  // namespace

void update(Context& c, Words words) {
  Specification s;
  if (!read_specification(c, words, s)) return;
  if (s.reservation) return change_reservation(c, s, false);
  bool exceptions = s.names_nothing() && !s.changes.empty() && is_suspend_exception(s.changes[0].key);
  if (exceptions) return update_suspend_exceptions(c, s.changes);
  if (s.names_nothing()) {
    if (!s.changes.empty() && iequals(s.changes[0].key, "SlurmctldDebug")) {
      std::vector<std::string> level = {s.changes[0].value};
      return set_debug(c, level);
    }
    c.complain("No valid entity in update command");
    return c.complain("Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or "
                      "\"SlurmctldDebug\"");
  }
  if (s.changes.empty()) return c.complain("No changes specified");
  if (!s.job.empty() || !s.job_name.empty()) return update_jobs(c, s);
  if (!s.step.empty()) return update_step(c, s);
  Session* session = c.control_session();
  if (!session) return;
  if (!s.partition.empty()) return tell(c, session->call(partition_request(s)), "slurm_update error: ", {}, true);
  tell(c, session->call(node_request(s)), "slurm_update error: ");
}

void create(Context& c, Words words) {
  Specification s;
  if (!read_specification(c, words, s)) return;
  if (s.reservation) return change_reservation(c, s, true);
  if (s.partition.empty() && s.nodes.empty()) return c.complain("scontrol: error: Invalid creation entity: " + words[0]);
  Session* session = c.control_session();
  if (!session) return;
  if (!s.partition.empty()) {
    rpc::UpdatePartition request = partition_request(s);
    request.create = true;
    return tell(c, session->call(request), "Error creating the partition: ", {}, true);
  }
  rpc::UpdateNode request = node_request(s);
  request.create = true;
  tell(c, session->call(request), "Error creating the node(s): ");
}

void remove(Context& c, Words words) {
  Specification s;
  if (!read_specification(c, words, s)) return;
  if (s.reservation) return remove_reservation(c, s, words);
  if (s.partition.empty() && s.nodes.empty()) return c.complain("Invalid deletion entity: " + words[0]);
  Session* session = c.control_session();
  if (!session) return;
  if (!s.partition.empty()) {
    rpc::UpdatePartition request = partition_request(s);
    request.remove = true;
    return tell(c, session->call(request), "delete_partition " + words[0] + ": ");
  }
  rpc::UpdateNode request = node_request(s);
  request.remove = true;
  tell(c, session->call(request), "delete_node " + words[0] + ": ");
}

}  // namespace muster::cli
