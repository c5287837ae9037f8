// update, create, delete: turns key=value words into a request. The controller knows which keys exist and what they may hold.
#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "cli/common/job_ids.h"
#include "cli/scontrol/resize_script.h"
#include "os/clock.h"
#include "os/group_members.h"
#include "os/users.h"

namespace muster::cli {
namespace {

struct Specification {
  std::string job, job_name, user, step, nodes, partition;  // what the change is about
  bool reservation = false;
  std::string reservation_name;
  std::string apart;  // a word after "reservation" that has no "="
  std::vector<rpc::KeyValue> changes;
  bool names_nothing() const {
    return job.empty() && job_name.empty() && step.empty() && nodes.empty() && partition.empty() && !reservation;
  }
};

// A time of day or a date is meant as this command's clock shows it; the controller's may be in another zone. What counts from now is the same
// everywhere, and what is no time the controller refuses as it was typed.
std::string in_our_zone(const std::string& text) {
  if (istarts_with(trim(text), "now")) return text;
  const Result<Time> at = parse_time_point(text, os::wall_now());
  return at ? "uts" + std::to_string(unix_seconds(*at)) : text;
}

bool is_any(std::string_view key, std::initializer_list<std::string_view> names) {
  for (std::string_view n : names)
    if (iequals(key, n)) return true;
  return false;
}

// Takes the pair that says what the command is about; it is the first of a command.
bool take_entity(Specification& specification, const std::string& key, const std::string& value) {
  if (is_any(key, {"UserID", "User"}) && !specification.job_name.empty()) return specification.user = value, true;
  if (specification.reservation && specification.reservation_name.empty() && is_any(key, {"ReservationName", "Reservation"}))
    return specification.reservation_name = value, true;
  if (!specification.names_nothing()) return false;
  if (is_any(key, {"JobId", "Job"})) specification.job = value;
  else if (is_any(key, {"JobName"})) specification.job_name = value;
  else if (is_any(key, {"StepId", "Step"})) specification.step = value;
  else if (is_any(key, {"NodeName", "Node", "Nodes", "NodeNames"})) specification.nodes = value;
  else if (is_any(key, {"PartitionName", "Partition"})) specification.partition = value;
  else if (is_any(key, {"ReservationName", "Reservation", "res"})) specification.reservation = true, specification.reservation_name = value;
  else return false;
  return true;
}

// Whether the word is an entity without a value: "update job 12 TimeLimit=5", "create partition Nodes=…".
bool entity_word(std::string_view word) {
  return is_any(word, {"job", "jobid", "step", "stepid", "node", "nodename", "partition", "partitionname", "reservation", "res"});
}

// Keys that may stand without "=value".
bool lone_key(std::string_view word) { return is_any(word, {"ResetAccrueTime", "Nice", "Skip"}); }

bool read_specification(Context& context, Words words, Specification& specification) {
  for (size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    size_t equals = word.find('=');
    if (equals == std::string::npos) {
      if (lone_key(word) && !specification.names_nothing()) {
        specification.changes.push_back({word, "=", ""});
        continue;
      }
      if (is_any(word, {"reservation", "res"}) && specification.names_nothing()) {
        specification.reservation = true;
        const bool name = index + 1 < words.size() && words[index + 1].find('=') == std::string::npos && !lone_key(words[index + 1]);
        if (name) specification.reservation_name = specification.apart = words[++index];
        continue;
      }
      bool named = index + 1 < words.size() && words[index + 1].find('=') == std::string::npos;
      if (named && !specification.names_nothing()) {  // "arraytaskthrottle 2"
        specification.changes.push_back({word, "=", words[++index]});
        continue;
      }
      if (!entity_word(word) || (!named && index + 1 >= words.size())) {
        context.complain("Invalid input: " + word);
        context.complain("Request aborted");
        return false;
      }
      if (named) take_entity(specification, word, words[++index]);
      continue;
    }
    rpc::KeyValue kv;
    size_t end = equals;
    if (end > 0 && (word[end - 1] == '+' || word[end - 1] == '-')) --end;
    kv.key = word.substr(0, end);
    kv.op = word.substr(end, equals - end + 1);
    kv.value = word.substr(equals + 1);
    if (kv.op == "=" && is_any(kv.key, {"StartTime", "EndTime", "Deadline"})) kv.value = in_our_zone(kv.value);
    if (kv.op == "=" && take_entity(specification, kv.key, kv.value)) continue;
    specification.changes.push_back(std::move(kv));
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
void tell(Context& context, const Result<rpc::Messages>& answer, const std::string& failed, const std::string& about = {},
          bool named = false) {
  if (!answer) {
    Error e = answer.error();
    bool input = e.code == Errc::kInvalidArgument || e.code == Errc::kInvalidTime;
    if (input && !e.text.empty()) return tell_bad_input(context, e, named);
    if (!about.empty()) e.text = std::string(e.message()) + about;
    context.complain(about.empty() ? failed : "", e);
    return;
  }
  for (const std::string& line : answer->lines)
    if (!context.options.quiet) context.log.info("{}", line);
  for (const rpc::PerJobError& e : answer->errors)
    context.complain((e.text.empty() ? std::string(errc_text_of_number(e.code)) : e.text) + (about.empty() ? " for node " : " for job ") +
                     e.job);
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

void update_jobs(Context& context, const Specification& specification) {
  rpc::UpdateJob request;
  request.changes = specification.changes;
  request.name = specification.job_name;
  if (!find_uid(context, specification.user, request.owner) || !find_uid(context, context.options.uid_text, request.as_uid)) return;
  Session* session = context.control_session();
  if (!session) return;
  if (!specification.job_name.empty()) return tell(context, session->call(request), "scontrol: error: ");
  for (std::string_view one : split_outside_brackets(specification.job)) {
    Result<rpc::JobSelector> selector = parse_job_selector(one);
    std::string about = " for job " + std::string(one);
    if (!selector) return context.complain("Invalid job id specified" + about);
    request.job = std::move(*selector);
    Result<rpc::Messages> answer = session->call(request);
    tell(context, answer, "", about);
    if (answer && names_size(specification) && request.job.array_task == kNoArrayTask) after_resize(context, *session, request.job.job);
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
bool add_members(Context& context, rpc::UpdateReservation& request, const std::string& failed) {
  for (const rpc::KeyValue& kv : request.changes) {
    const bool users = istarts_with("Users", kv.key) && !kv.key.empty(), groups = istarts_with("Groups", kv.key) && !kv.key.empty();
    if (!users && !groups) continue;
    for (std::string_view name : split(kv.value, ',')) {
      if (name.starts_with('-') || name.starts_with('+')) name.remove_prefix(1);
      if (users && !os::find_user(name)) return context.complain(failed, Error(Errc::kUserIdMissing)), false;
      if (!groups) continue;
      auto members = os::group_members(name);
      if (!members) return context.complain(failed, Error(Errc::kGroupIdMissing)), false;
      for (std::string& member : *members) request.group_members.push_back(std::move(member));
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

void change_reservation(Context& context, const Specification& specification, bool create) {
  const std::string failed = create ? "Error creating the reservation: " : "Error updating the reservation: ";
  if (!create && specification.reservation_name.empty())
    return context.complain("scontrol: error: Reservation must be given.  No reservation update.");
  if (create && !specification.apart.empty())
    return context.complain("scontrol: error: Misformatted parameter '" + specification.apart +
                            "', most options have a parameter after '='.  No reservation created.");
  rpc::UpdateReservation request;
  request.name = specification.reservation_name;
  request.create = create;
  request.changes = specification.changes;
  if (!add_members(context, request, failed)) return;
  Session* session = context.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(request);
  tell_reservation(context, answer, failed);
  if (!answer && !create && answer.error().code != Errc::kInvalidArgument)
    context.complain("slurm_update error: ", Error(answer.error().code));
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

void update(Context& context, Words words) {
  Specification specification;
  if (!read_specification(context, words, specification)) return;
  if (specification.reservation) return change_reservation(context, specification, false);
  bool exceptions = specification.names_nothing() && !specification.changes.empty() && is_suspend_exception(specification.changes[0].key);
  if (exceptions) return update_suspend_exceptions(context, specification.changes);
  if (specification.names_nothing()) {
    if (!specification.changes.empty() && iequals(specification.changes[0].key, "SlurmctldDebug")) {
      std::vector<std::string> level = {specification.changes[0].value};
      return set_debug(context, level);
    }
    context.complain("No valid entity in update command");
    return context.complain("Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or "
                            "\"SlurmctldDebug\"");
  }
  if (specification.changes.empty()) return context.complain("No changes specified");
  if (!specification.job.empty() || !specification.job_name.empty()) return update_jobs(context, specification);
  if (!specification.step.empty()) return update_step(context, specification);
  Session* session = context.control_session();
  if (!session) return;
  if (!specification.partition.empty())
    return tell(context, session->call(partition_request(specification)), "slurm_update error: ", {}, true);
  tell(context, session->call(node_request(specification)), "slurm_update error: ");
}

void create(Context& context, Words words) {
  Specification specification;
  if (!read_specification(context, words, specification)) return;
  if (specification.reservation) return change_reservation(context, specification, true);
  if (specification.partition.empty() && specification.nodes.empty())
    return context.complain("scontrol: error: Invalid creation entity: " + words[0]);
  Session* session = context.control_session();
  if (!session) return;
  if (!specification.partition.empty()) {
    rpc::UpdatePartition request = partition_request(specification);
    request.create = true;
    return tell(context, session->call(request), "Error creating the partition: ", {}, true);
  }
  rpc::UpdateNode request = node_request(specification);
  request.create = true;
  tell(context, session->call(request), "Error creating the node(s): ");
}

void remove(Context& context, Words words) {
  Specification specification;
  if (!read_specification(context, words, specification)) return;
  if (specification.reservation) return remove_reservation(context, specification, words);
  if (specification.partition.empty() && specification.nodes.empty()) return context.complain("Invalid deletion entity: " + words[0]);
  Session* session = context.control_session();
  if (!session) return;
  if (!specification.partition.empty()) {
    rpc::UpdatePartition request = partition_request(specification);
    request.remove = true;
    return tell(context, session->call(request), "delete_partition " + words[0] + ": ");
  }
  rpc::UpdateNode request = node_request(specification);
  request.remove = true;
  tell(context, session->call(request), "delete_node " + words[0] + ": ");
}

}  // namespace muster::cli
