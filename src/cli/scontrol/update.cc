// update, create, delete: key=value words to a request. Which keys exist and what they may hold is the
// controller's to say.
#include "base/text.h"
#include "cli/common/job_ids.h"
#include "cli/scontrol/context.h"

namespace muster::cli {
namespace {

struct Specification {
  std::string job, nodes, partition;  // what the change is about
  bool step = false, reservation = false, other_entity = false;
  std::vector<rpc::KeyValue> changes;
};

bool is_any(std::string_view key, std::initializer_list<std::string_view> names) {
  for (std::string_view n : names)
    if (iequals(key, n)) return true;
  return false;
}

bool take_entity(Specification& s, const std::string& key, const std::string& value) {
  if (is_any(key, {"JobId", "Job"}))
    s.job = value;
  else if (is_any(key, {"NodeName", "Node", "Nodes", "NodeNames"}) && s.job.empty() && s.partition.empty())
    s.nodes = value;
  else if (is_any(key, {"PartitionName"}))
    s.partition = value;
  else if (is_any(key, {"StepId"}))
    s.step = true;
  else if (is_any(key, {"ReservationName", "Reservation"}) && s.job.empty())
    s.reservation = true;
  else
    return false;
  return true;
}

// "update job 12 TimeLimit=5": the entity and its name as two words.
bool entity_word(std::string_view word) {
  return is_any(word, {"job", "jobid", "node", "nodename", "partition", "partitionname"});
}

bool read_specification(Context& c, Words words, Specification& s) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    size_t equals = word.find('=');
    if (equals == std::string::npos) {
      if (!entity_word(word) || i + 1 >= words.size()) {
        c.complain("Invalid input: " + word);
        return false;
      }
      std::string key = iequals(word, "partition") ? "PartitionName" : word;
      take_entity(s, key, words[++i]);
      continue;
    }
    rpc::KeyValue kv;
    size_t end = equals;
    if (end > 0 && (word[end - 1] == '+' || word[end - 1] == '-')) --end;
    kv.key = word.substr(0, end);
    kv.op = word.substr(end, equals - end + 1);
    kv.value = word.substr(equals + 1);
    if (kv.op == "=" && take_entity(s, kv.key, kv.value)) continue;
    if (kv.op == "=" && iequals(kv.key, "Partition") && s.job.empty() && s.nodes.empty() &&
        s.changes.empty() && i == 0) {
      s.partition = kv.value;
      continue;
    }
    s.changes.push_back(std::move(kv));
  }
  return true;
}

// Prints what the controller had to say; `verb` as in "slurm_update error: ".
void tell(Context& c, const Result<rpc::Messages>& answer, const std::string& verb) {
  if (!answer) return c.complain(verb + " error: ", answer.error());
  for (const std::string& line : answer->lines)
    if (!c.options.quiet) c.log.info("{}", line);
  for (const rpc::PerJobError& e : answer->errors)
    c.complain((e.job.empty() ? "" : e.job + ": ") +
               (e.text.empty() ? std::string(errc_text_of_number(e.code)) : e.text));
}

void update_jobs(Context& c, const Specification& s) {
  std::vector<rpc::UpdateJob> requests;
  for (std::string_view one : split_outside_brackets(s.job)) {
    Result<rpc::JobSelector> selector = parse_job_selector(one);
    if (!selector) return c.complain("", selector.error());
    requests.push_back({std::move(*selector), s.changes});
  }
  Session* session = c.control_session();
  if (!session) return;
  for (const rpc::UpdateJob& r : requests) tell(c, session->call(r), "slurm_update");
}

}  // namespace

void update(Context& c, Words words) {
  Specification s;
  if (!read_specification(c, words, s)) return;
  if (s.step) return c.unavailable("update StepId=");
  if (!s.job.empty()) {
    if (s.changes.empty()) return c.complain("No changes specified");
    return update_jobs(c, s);
  }
  if (s.reservation) return c.unavailable("update ReservationName=");
  if (s.nodes.empty() && s.partition.empty()) {
    c.complain("No valid entity in update command");
    return c.complain(
        "Input line must include \"NodeName\", \"PartitionName\", \"Reservation\", \"JobId\", or "
        "\"SlurmctldDebug\"");
  }
  if (s.changes.empty()) return c.complain("No changes specified");
  Session* session = c.control_session();
  if (!session) return;
  if (!s.partition.empty()) {
    rpc::UpdatePartition request;
    request.name = s.partition;
    request.changes = s.changes;
    return tell(c, session->call(request), "slurm_update");
  }
  rpc::UpdateNode request;
  request.nodes = s.nodes;
  request.changes = s.changes;
  tell(c, session->call(request), "slurm_update");
}

void create(Context& c, Words words) {
  Specification s;
  if (!read_specification(c, words, s)) return;
  if (s.reservation) return c.unavailable("create reservation");
  if (s.partition.empty() && !s.nodes.empty()) return c.unavailable("create NodeName=");
  if (s.partition.empty()) {
    c.complain("No valid entity in create command");
    return c.complain("Input line must include \"NodeName\", \"Reservation\" or \"PartitionName\"");
  }
  Session* session = c.control_session();
  if (!session) return;
  rpc::UpdatePartition request;
  request.name = s.partition;
  request.create = true;
  request.changes = s.changes;
  if (!s.nodes.empty()) request.changes.push_back({"Nodes", "=", s.nodes});
  tell(c, session->call(request), "Error creating the partition: slurm_create");
}

void remove(Context& c, Words words) {
  Specification s;
  if (!read_specification(c, words, s)) return;
  if (s.reservation) return c.unavailable("delete reservation");
  if (!s.nodes.empty()) return c.unavailable("delete NodeName=");
  if (s.partition.empty()) return c.complain("invalid delete argument: " + words[0]);
  Session* session = c.control_session();
  if (!session) return;
  rpc::UpdatePartition request;
  request.name = s.partition;
  request.remove = true;
  tell(c, session->call(request), "slurm_delete");
}

}  // namespace muster::cli
