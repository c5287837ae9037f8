#include "slurmctld/daemon/completion_text.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/plain_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/tres_amounts.h"

namespace muster::slurmctld {
namespace {

// The keys of a line, in its order.
constexpr std::string_view kKeys[] = {"JobId",        "UserId",          "GroupId",      "Name",       "JobState",    "Partition",
                                      "TimeLimit",    "StartTime",       "EndTime",      "NodeList",   "NodeCnt",     "ProcCnt",
                                      "WorkDir",      "ReservationName", "Tres",         "Account",    "QOS",         "WcKey",
                                      "Cluster",      "SubmitTime",      "EligibleTime", "ArrayJobId", "ArrayTaskId", "HetJobId",
                                      "HetJobOffset", "DerivedExitCode", "ExitCode"};

bool begins_with_key(std::string_view text) {
  return std::ranges::any_of(kKeys,
                             [&](std::string_view key) { return text.starts_with(key) && text.substr(key.size()).starts_with('='); });
}

// U+2028 and U+2029: some who read the file take them for ends of lines.
constexpr std::string_view kLineSeparator = "\xe2\x80\xa8", kParagraphSeparator = "\xe2\x80\xa9";

// What a user chose, as one value of a line.
std::string value_of(std::string_view text) {
  std::string out;
  const std::string shown = plain(text);
  for (size_t i = 0; i < shown.size(); ++i) {
    const std::string_view rest = std::string_view(shown).substr(i);
    if (shown[i] == ' ' && begins_with_key(rest.substr(1))) out += "\\040";
    else if (rest.starts_with(kLineSeparator) || rest.starts_with(kParagraphSeparator)) {
      out += rest.starts_with(kLineSeparator) ? "\\u2028" : "\\u2029";
      i += kLineSeparator.size() - 1;
    } else out += shown[i];
  }
  return out;
}

std::string named(std::string_view name, uint32_t number) { return value_of(name) + "(" + std::to_string(number) + ")"; }
std::string exit_text(int32_t status) {
  const bool signaled = WIFSIGNALED(status);
  return std::to_string(signaled ? 0 : WEXITSTATUS(status)) + ":" + std::to_string(signaled ? WTERMSIG(status) : 0);
}
std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }
// Of a job that never started it is its end, as everywhere.
Time start_of(const JobRecord& r) { return r.started == kTimeUnset ? r.ended : r.started; }
int64_t elapsed_of(const JobRecord& r) { return std::max<int64_t>(0, to_seconds(r.ended - start_of(r) - r.suspended_total)); }
std::string tres_of(const JobRecord& r) { return tres_text(r.tres_allocated.empty() ? r.tres_requested : r.tres_allocated); }

// "a=b a=c ": one line as it grows.
class Line {
 public:
  Line& add(std::string_view key, std::string_view value) {
    text_.append(key).append("=").append(value).append(" ");
    return *this;
  }
  Line& add(std::string_view key, uint64_t value) { return add(key, std::to_string(value)); }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

class Document {
 public:
  Document() : out_(buffer_) { out_.StartObject(); }
  void text(const char* key, std::string_view value) {
    const std::string clean = is_utf8(value) ? std::string(value) : to_utf8(value);
    out_.Key(key);
    out_.String(clean.data(), static_cast<rapidjson::SizeType>(clean.size()));
  }
  void if_any(const char* key, std::string_view value) {
    if (!value.empty()) text(key, value);
  }
  void number(const char* key, int64_t value) {
    out_.Key(key);
    out_.Int64(value);
  }
  void real(const char* key, double value) {
    out_.Key(key);
    out_.Double(value);
  }
  void time(const char* key, Time value) {
    if (value != kTimeUnset && value != kTimeInfinite) text(key, format_time(value));
  }
  std::string take() {
    out_.EndObject();
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  rapidjson::StringBuffer buffer_;
  Writer out_;
};

void add_times(Document& d, const JobRecord& r, bool ended) {
  d.time("@start", start_of(r));
  if (ended) {
    d.time("@end", r.ended);
    d.time("@end_time", r.ended);  // as the guide has it
    d.number("elapsed", elapsed_of(r));
  }
  d.time("@submit", r.key.submitted);
  if (r.eligible == kTimeUnset) return;
  d.time("@eligible", r.eligible);
  if (r.started != kTimeUnset) d.number("@queue_wait", std::max<int64_t>(0, to_seconds(r.started - r.eligible)));
}

void add_resources(Document& document, const EndedRun& run, bool ended) {
  const JobRecord& record = run.record;
  document.text("nodes", record.node_list);
  document.number("total_cpus", record.cpus);
  document.number("total_nodes", record.nodes);
  if (ended) document.real("cpu_hours", static_cast<double>(elapsed_of(record)) * record.cpus / 3600);
  document.number("ntasks", record.tasks);
  document.number("ntasks_per_node", run.tasks_per_node);
  document.number("cpus_per_task", std::max(1u, run.cpus_per_task));
  if (record.time_limit_min != kUnlimited32) document.number("time_limit", int64_t{record.time_limit_min} * 60);
  document.if_any("tres_req", tres_text(record.tres_requested));
  document.if_any("tres_alloc", tres_text(record.tres_allocated));
  document.if_any("excluded_nodes", run.excluded_nodes);
}

std::string document_of(const EndedRun& run, bool ended, bool comment, const std::optional<std::string>& script) {
  const JobRecord& record = run.record;
  Document document;
  document.number("jobid", record.key.id.value);
  document.text("cluster", record.cluster);
  document.text("container", record.container);
  document.text("username", record.user);
  document.number("user_id", record.uid.value);
  document.text("groupname", record.group);
  document.number("group_id", record.gid.value);
  add_times(document, record, ended);
  document.text("partition", record.partition);
  document.text("alloc_node", run.submit_host);
  add_resources(document, run, ended);
  if (ended) {
    document.text("derived_ec", exit_text(record.derived_exit_status));
    document.text("exit_code", exit_text(record.exit_status));
  }
  document.text("state", job_state_name(record.state));
  if (record.array_job_id) document.number("array_job_id", record.array_job_id.value);
  if (record.array_job_id && record.array_task != kNoArrayTask) document.number("array_task_id", record.array_task);
  document.number("het_job_id", record.het.leader.value);
  document.number("het_job_offset", record.het.offset);
  document.text("work_dir", record.work_dir);
  document.if_any("std_in", record.std_in);
  document.if_any("std_out", record.std_out);
  document.if_any("std_err", record.std_err);
  document.text("job_name", record.name);
  document.if_any("account", record.account);
  document.if_any("qos", record.qos);
  document.if_any("wc_key", record.wckey);
  document.if_any("reservation_name", record.reservation);
  document.if_any("licenses", record.licenses);
  document.if_any("orig_dependency", run.dependency);
  if (comment) document.if_any("comment", record.comment);
  if (script) document.if_any("script", *script);
  return document.take();
}

}  // namespace

std::string completion_line(const EndedRun& run) {
  const JobRecord& record = run.record;
  const bool endless = record.time_limit_min == kUnlimited32;
  Line line;
  line.add("JobId", record.key.id.value)
      .add("UserId", named(record.user, record.uid.value))
      .add("GroupId", named(record.group, record.gid.value));
  line.add("Name", value_of(record.name)).add("JobState", job_state_name(record.state)).add("Partition", value_of(record.partition));
  line.add("TimeLimit", endless ? "UNLIMITED" : std::to_string(record.time_limit_min));
  line.add("StartTime", format_time(start_of(record))).add("EndTime", format_time(record.ended)).add("NodeList", or_null(record.node_list));
  line.add("NodeCnt", record.nodes).add("ProcCnt", record.cpus).add("WorkDir", value_of(record.work_dir));
  line.add("ReservationName", value_of(record.reservation)).add("Tres", tres_of(record)).add("Account", value_of(record.account));
  line.add("QOS", value_of(record.qos)).add("WcKey", value_of(record.wckey)).add("Cluster", record.cluster);
  line.add("SubmitTime", format_time(record.key.submitted)).add("EligibleTime", format_time(record.eligible));
  if (record.array_job_id) line.add("ArrayJobId", record.array_job_id.value);
  if (record.array_job_id && record.array_task != kNoArrayTask) line.add("ArrayTaskId", record.array_task);
  if (record.het) line.add("HetJobId", record.het.leader.value).add("HetJobOffset", record.het.offset);
  line.add("DerivedExitCode", exit_text(record.derived_exit_status)).add("ExitCode", exit_text(record.exit_status));
  return line.take();
}

std::vector<std::string> completion_variables(const EndedRun& run) {
  const JobRecord& record = run.record;
  std::vector<std::string> out;
  // A variable ends at the first byte 0; no text of a job has one.
  auto set = [&](std::string_view name, std::string_view value) { out.push_back(std::string(name) + "=" + std::string(value)); };
  auto number = [&](std::string_view name, uint64_t value) { set(name, std::to_string(value)); };
  auto time = [&](std::string_view name, Time value) {
    number(name, value == kTimeUnset ? 0 : static_cast<uint64_t>(unix_seconds(value)));
  };
  number("JOBID", record.key.id.value);
  number("ARRAYJOBID", record.array_job_id.value);
  number("ARRAYTASKID", record.array_task == kNoArrayTask ? 0xfffffffeu : record.array_task);
  number("UID", record.uid.value);
  number("GID", record.gid.value);
  set("USERNAME", record.user);
  set("GROUPNAME", record.group);
  set("JOBNAME", record.name);
  set("JOBSTATE", job_state_name(record.state));
  set("STATEREASONPREV", reason_name(record.reason));
  set("PARTITION", record.partition);
  set("ACCOUNT", record.account);
  set("QOS", record.qos);
  set("WCKEY", record.wckey);
  set("CLUSTER", record.cluster);
  set("RESERVATION", record.reservation);
  set("CONSTRAINTS", record.features);
  set("DEPENDENCY", run.dependency);
  set("BATCH", run.is_batch ? "yes" : "no");
  set("LIMIT", record.time_limit_min == kUnlimited32 ? "UNLIMITED" : format_span_full(minutes(record.time_limit_min)));
  time("SUBMIT", record.key.submitted);
  time("START", start_of(record));
  time("END", record.ended);
  set("NODES", record.node_list);
  number("NODECNT", record.nodes);
  number("PROCS", record.cpus);
  set("TRES", tres_of(record));
  set("EXITCODE", exit_text(record.exit_status));
  set("DERIVED_EC", exit_text(record.derived_exit_status));
  set("WORK_DIR", record.work_dir);
  set("STDIN", record.std_in);
  set("STDOUT", record.std_out);
  set("STDERR", record.std_err);
  set("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
  return out;
}

std::string completion_document(const EndedRun& run, bool comment, const std::optional<std::string>& script) {
  return document_of(run, true, comment, script);
}

std::string start_document(const EndedRun& run, bool comment, const std::optional<std::string>& script) {
  return document_of(run, false, comment, script);
}

}  // namespace muster::slurmctld
