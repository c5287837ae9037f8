// Jobs and their records for tests that look at every field: all options set and not set, odd texts, limits of numbers. What a job has
// for a field depends on the job's number and the field's name and on nothing else, so a new field changes none of the others.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "fields/environment.h"
#include "fields/testing.h"
#include "model/accounting.h"
#include "model/mail.h"

namespace muster::fields {

class Varied {
 public:
  explicit Varied(uint32_t job) : job_(job) {}

  uint64_t number(std::string_view field) const {  // FNV-1a of the name, and splitmix64
    uint64_t hash = 0xcbf29ce484222325u;
    for (char c : field) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    uint64_t z = hash + 0x9e3779b97f4a7c15u * (job_ + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  bool flag(std::string_view field) const { return number(field) % 3 == 0; }
  template <class T>
  T one_of(std::string_view field, std::initializer_list<T> values) const {
    return values.begin()[number(field) % values.size()];
  }
  uint32_t count(std::string_view field) const { return one_of<uint32_t>(field, {0, 0, 1, 2, 3, 16, 999, 1234567, 4294967294u}); }
  uint64_t mem(std::string_view field) const { return one_of<uint64_t>(field, {0, 1, 100, 1024, 1500, 2048, 1048576, 9999999999u}); }
  uint32_t limit(std::string_view field) const { return one_of<uint32_t>(field, {kUnlimited32, 1, 30, 60, 1440, 100000, 0}); }
  Time time(std::string_view field) const {
    constexpr int64_t kSoon = kNow + 3600, kDay = 86400;
    return one_of<Time>(field, {kTimeUnset, from_unix(kNow - 7), from_unix(kNow - 3 * kDay), from_unix(kNow - 5), from_unix(kSoon),
                                from_unix(kNow + 40 * kDay), from_unix(kNow) - std::chrono::milliseconds(1500), kTimeInfinite});
  }
  Duration span(std::string_view field) const {
    return one_of<Duration>(field, {Duration::zero(), seconds(1), seconds(61), seconds(3723), seconds(200000), seconds(-5)});
  }
  // Half of the jobs have none; of the others some have what breaks lines, quotes, terminals and encodings.
  std::string text(std::string_view field) const {
    const uint64_t n = number(field);
    if (n % 2) return {};
    constexpr std::string_view odd[] = {"with blanks in it", "qu\"ote\\d", "tab\there", "two\nlines",  "\x1b[31mred", "gr\xc3\xbc\xc3\x9f",
                                        "\xff\xfe",          "a,b,c",      "key=value", "%j-%u-%A_%a", "(null)",      " "};
    const uint64_t kind = n / 2 % (2 * std::size(odd));
    if (kind < std::size(odd)) return std::string(odd[kind]);
    if (kind == std::size(odd)) return std::string(300, 'x');
    return std::string(field) + std::to_string(n % 97);
  }
  int32_t wait_status(std::string_view field) const { return one_of<int32_t>(field, {0, 0, 1 << 8, 255 << 8, 9, 15, 11 | 0x80, 0x7f}); }

 private:
  uint32_t job_;
};

inline TresAmounts varied_amounts(const Varied& is, const std::string& field) {
  if (is.number(field) % 4 == 0) return {};
  TresAmounts out{.cpus = is.count(field + "cpus"), .nodes = 1 + is.number(field + "nodes") % 9};
  if (is.flag(field + "mem?")) out.mem_mb = is.mem(field + "mem");
  if (is.flag(field + "billing?")) out.billing = is.count(field + "billing");
  if (is.flag(field + "gres?")) {
    out.add_gres("gpu", "", 4);
    out.add_gres("gpu", "h100", 4);
  }
  return out;
}

// A job's own facts: state, times, what it holds.
inline void vary_row(const Varied& is, uint32_t id, JobRow& r) {
  r.id = JobId(id);
  r.state = static_cast<JobState>(is.number("state") % 2 ? is.number("state_any") % kJobStateCount : is.number("state_few") % 2);
  r.flags = is.flag("flags") ? static_cast<uint32_t>(is.number("flag_bits") & 0x7fff) : 0;
  r.reason = is.one_of<Reason>("reason", {Reason::kNone, Reason::kPriority, Reason::kResources, Reason::kReqNodeNotAvail,
                                          Reason::kBeginTime, Reason::kNonZeroExitCode});
  r.reason_detail =
      is.one_of<std::string>("detail", {"", "ReqNodeNotAvail, UnavailableNodes:n1", "needs 4 nodes, 2 are idle", is.text("d")});
  r.priority = is.one_of<uint32_t>("priority", {0, 1, 1000, 4294901758u, 4294967295u});
  r.time_limit_min = is.limit("time_limit");
  if (is.flag("array")) {
    r.array_job_id = JobId(id - static_cast<uint32_t>(is.number("array_job_id") % 3));
    if (is.flag("array_task?")) r.array_task = static_cast<uint32_t>(is.number("array_task") % 1000);
    else
      r.array_tasks = is.one_of<std::string>("array_tasks", {"2-15", "0-9:3,17", "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31", "", "odd"});
    r.array_max_running = is.one_of<uint32_t>("array_max_running", {0, 2, 500});
  }
  r.partition = is.one_of<std::string>("partition", {"main", "big,main", "a_really_long_partition_name"});
  r.restarts = is.one_of<uint32_t>("restarts", {0, 0, 1, 17});
  r.submitted = is.one_of<Time>("submitted", {from_unix(kNow - 7), from_unix(kNow - 100000), from_unix(kNow - 40 * 86400)});
  r.eligible = is.time("eligible");
  r.started = is.one_of<Time>("started", {kTimeUnset, from_unix(kNow - 5), from_unix(kNow - 90000), from_unix(kNow + 600)});
  r.ends = is.time("ends");
  r.ended = is_finished(r.state) ? is.time("ended") : kTimeUnset;
  r.suspended = is.flag("suspended?") ? from_unix(kNow - 3) : kTimeUnset;
  r.suspended_total = is.one_of<Duration>("suspended_total", {Duration::zero(), Duration::zero(), seconds(2)});
  r.nodes = 1 + static_cast<uint32_t>(is.number("nodes") % 5);
  r.cpus = is.count("cpus");
  r.tasks = is.count("tasks");
  r.max_nodes = is.one_of<uint32_t>("max_nodes", {0, 1, 4, 8});
  r.max_cpus = is.one_of<uint32_t>("max_cpus", {0, 0, 64});
  r.node_list = is.one_of<std::string>("node_list", {"", "n1", "n[2-3]", "n[1-4,9]"});
  r.batch_host = is.one_of<std::string>("batch_host", {"", "n1", "n2"});
  r.expected_nodes = is.one_of<std::string>("expected_nodes", {"", "n[7-8]"});
  r.dependency = is.one_of<std::string>("dependency", {"", "", "afterok:12(unfulfilled)"});
  r.exit_status = is.wait_status("exit_status");
  r.derived_exit_status = is.wait_status("derived_exit_status");
  r.expected = r.state == JobState::kPending && is.flag("expected");
  r.switches = is.count("row_switches");
  r.tiers = {static_cast<uint32_t>(is.number("tiers") % 3)};
  r.last_sched_eval = is.time("last_sched_eval");
  r.resized = is.time("resized");
  r.exclusive = is.one_of<std::string>("row_exclusive", {"", "", "NODE"});
  r.oversubscribe = is.one_of<std::string>("row_oversubscribe", {"", "", "OK"});
  if (r.state != JobState::kPending && is.flag("licenses_held")) r.licenses = {{"app", 1}, {"db@server", 20}};
  r.mem_mb_per_node = is.mem("mem_mb_per_node");
  r.tres.edit().requested = varied_amounts(is, "requested");
  r.tres.edit().allocated = varied_amounts(is, "allocated");
  if (!is.flag("shares")) return;
  r.shares = {{"n1", "0-1", 1500, "gpu:a100:1(IDX:0)", 2}, {"n2", "0-1", 1500, "gpu:a100:1(IDX:0)", 2}, {"n9", "4", 100, "", 1}};
  r.gres_allocated = is.one_of<std::string>("gres_allocated", {"", "gpu:a100:2"});
  r.placement = is.one_of<std::string>("placement", {"", "s1[n1-2],s2[n9]"});
}

inline void vary_who_and_where(const Varied& is, ShownRequest& q) {
  q.uid = Uid(is.one_of<uint32_t>("uid", {0, 1000, 4294967294u}));
  q.gid = Gid(is.one_of<uint32_t>("gid", {0, 1000}));
  q.user_name = is.one_of<std::string>("user_name", {"", "alice", "a_long_user_name"});
  q.account = is.text("account");
  q.qos = is.text("qos");
  q.wckey = is.text("wckey");
  q.reservation = is.text("reservation");
  q.required_nodes = is.one_of<std::string>("required_nodes", {"", "", "n2,n1", "n[3-5]"});
  q.excluded_nodes = is.one_of<std::string>("excluded_nodes", {"", "", "n4,n9,n[1-2]"});
  q.features = is.one_of<std::string>("features", {"", "fast", "[rack1|rack2]", "fast&ib*2"});
  q.prefer = is.one_of<std::string>("prefer", {"", "ib"});
  q.batch_features = is.one_of<std::string>("batch_features", {"", "", "fast"});
  q.cluster_features = is.text("cluster_features");
  q.kind = is.flag("kind") ? JobKind::kAllocation : JobKind::kBatch;
  q.alloc_node = is.text("alloc_node");
  q.alloc_sid = is.count("alloc_sid");
  q.mcs_label = is.text("mcs_label");
}

inline void vary_amounts(const Varied& is, ShownRequest& q) {
  q.node_sizes = is.one_of<std::string>("node_sizes", {"", "", "2,4"});
  q.cpus_per_task = is.count("cpus_per_task");
  q.ntasks_per_node = is.one_of<uint32_t>("ntasks_per_node", {0, 0, 2, 64});
  q.ntasks_per_socket = is.count("ntasks_per_socket");
  q.ntasks_per_core = is.count("ntasks_per_core");
  q.ntasks_per_gpu = is.count("ntasks_per_gpu");
  q.min_cpus_per_node = is.count("min_cpus_per_node");
  q.sockets_per_node = is.count("sockets_per_node");
  q.cores_per_socket = is.count("cores_per_socket");
  q.threads_per_core = is.count("threads_per_core");
  switch (is.number("mem_per") % 4) {
    case 0: q.mem_per_node_mb = is.mem("mem_per_node"); break;
    case 1: q.mem_per_cpu_mb = is.mem("mem_per_cpu"); break;
    case 2: q.mem_per_gpu_mb = is.mem("mem_per_gpu"); break;
    default: break;
  }
  q.tmp_disk_mb = is.mem("tmp_disk");
  q.tres_per_node = is.one_of<std::string>("tres_per_node", {"", "", "gres/gpu:a100:2"});
  q.tres_per_job = is.one_of<std::string>("tres_per_job", {"", "", "gres/gpu:8"});
  q.tres_per_socket = is.one_of<std::string>("tres_per_socket", {"", "", "gres/gpu:1"});
  q.tres_per_task = is.one_of<std::string>("tres_per_task", {"", "", "gres/gpu:1", "license/ansys:2"});
  q.cpus_per_gpu = is.one_of<uint32_t>("cpus_per_gpu", {0, 0, 4});
  q.tres_bind = is.text("tres_bind");
  q.tres_freq = is.text("tres_freq");
  q.licenses = is.one_of<std::string>("licenses", {"", "", "ansys:1", "matlab:2,ansys:1"});
  q.core_spec = is.count("core_spec");
  q.core_spec_is_threads = is.flag("core_spec_is_threads");
  q.segment = is.count("segment");
  q.switches = is.one_of<uint32_t>("switches", {0, 0, 2});
  q.switches_wait = is.span("switches_wait");
}

inline void vary_policies(const Varied& is, ShownRequest& q) {
  q.network = is.text("network");
  q.exclusive = static_cast<Exclusive>(is.number("exclusive") % 6);
  q.contiguous = is.flag("contiguous");
  q.spread_job = is.flag("spread_job");
  q.use_min_nodes = is.flag("use_min_nodes");
  q.spread_segments = is.flag("spread_segments");
  q.consolidate_segments = is.flag("consolidate_segments");
  q.time_min_min = is.one_of<uint32_t>("time_min", {0, 0, 10, 3000});
  q.begin = is.time("begin");
  if (q.begin == kTimeInfinite) q.begin = kTimeUnset;
  q.deadline = is.time("deadline");
  q.delay_boot = is.span("delay_boot");
  q.kill_on_invalid_dependency_set = is.flag("kill_set");
  q.kill_on_invalid_dependency = is.flag("kill");
  q.nice = is.one_of<int32_t>("nice", {0, 0, 100, -2147483645, 2147483645});
  q.requeue = static_cast<TriState>(is.number("requeue") % 3);
  q.reboot = is.flag("reboot");
  q.mail_type = is.flag("mail") ? static_cast<uint16_t>(is.number("mail_type")) : 0;
  q.mail_user = is.text("mail_user");
  q.burst_buffer = is.text("burst_buffer");
  q.container = is.text("container");
  q.container_id = is.text("container_id");
  q.stepmgr = is.flag("stepmgr");
  q.profile = is.one_of<std::string>("profile", {"", "", "Energy", "Task,Lustre"});
}

inline void vary_own(const Varied& is, ShownRequest& q) {
  q.name = is.text("name");
  q.comment = is.text("comment");
  q.admin_comment = is.text("admin_comment");
  q.extra = is.text("extra");
  if (is.flag("argv")) q.argv = {is.text("script"), "a", "b"};
  q.work_dir = is.one_of<std::string>("work_dir", {"/tmp/w", "/home/a b"});
  q.std_in = is.one_of<std::string>("std_in", {"", "", "none", "/dev/zero", "in.%j"});
  q.std_out = is.one_of<std::string>("std_out", {"", "", "none", "/o/%x.%4j.%u.%%", "%A_%a-%N.out"});
  q.std_err = is.one_of<std::string>("std_err", {"", "", "err.%j", "/e/%s"});
  q.submit_line = is.text("submit_line");
}

inline TestJob varied_job(uint32_t number) {
  const Varied is(number);
  TestJob job(number + 1, "", "");
  vary_row(is, number + 1, job.row);
  vary_who_and_where(is, job.request);
  vary_amounts(is, job.request);
  vary_policies(is, job.request);
  vary_own(is, job.request);
  return job;
}

// As commands are started with and without the options and variables that change how values look.
inline Environment varied_environment(uint32_t number) {
  Environment env = test_environment();
  if (number % 3 == 1) env.noconvert = env.expand_patterns = true;
  if (number % 3 == 2) {
    env.time_format = number % 2 ? "relative" : "%a %T";
    env.array_text_length = number % 2 ? 0 : 10;
  }
  return env;
}

inline JobRecord varied_record(uint32_t number) {
  const Varied is(number);
  JobRecord j;
  j.key = {JobId(number + 1), is.time("submitted"), is.one_of<uint32_t>("restarts", {0, 0, 3})};
  if (j.key.submitted == kTimeInfinite) j.key.submitted = from_unix(kNow);
  j.cluster = is.text("cluster");
  if (is.flag("array")) j.array_job_id = JobId(number);
  if (is.flag("array") && is.flag("array_task?")) j.array_task = static_cast<uint32_t>(is.number("array_task") % 1000);
  else j.array_tasks = is.one_of<std::string>("array_tasks", {"", "2-15%2", "0-9:3,17", "odd"});
  j.state = static_cast<JobState>(is.number("state") % kJobStateCount);
  j.reason = is.one_of<Reason>("reason", {Reason::kNone, Reason::kPriority, Reason::kResources});
  j.flags = is.flag("flags") ? static_cast<uint32_t>(is.number("flag_bits") & 0x7fff) : 0;
  for (auto [member, name] :
       {std::pair(&JobRecord::eligible, "eligible"), {&JobRecord::started, "started"}, {&JobRecord::ended, "ended"}}) {
    j.*member = is.time(name);
    if (j.*member == kTimeInfinite) j.*member = kTimeUnset;
  }
  j.suspended_total = is.one_of<Duration>("suspended_total", {Duration::zero(), seconds(100)});
  j.uid = Uid(is.one_of<uint32_t>("uid", {0, 1000}));
  j.gid = Gid(is.one_of<uint32_t>("gid", {0, 1000}));
  for (auto [member, name] : {std::pair(&JobRecord::user, "user"),
                              {&JobRecord::group, "group"},
                              {&JobRecord::name, "name"},
                              {&JobRecord::partition, "partition"},
                              {&JobRecord::account, "account"},
                              {&JobRecord::qos, "qos"},
                              {&JobRecord::wckey, "wckey"},
                              {&JobRecord::reservation, "reservation"},
                              {&JobRecord::mcs_label, "mcs_label"},
                              {&JobRecord::container, "container"},
                              {&JobRecord::comment, "comment"},
                              {&JobRecord::admin_comment, "admin_comment"},
                              {&JobRecord::system_comment, "system_comment"},
                              {&JobRecord::extra, "extra"},
                              {&JobRecord::features, "features"},
                              {&JobRecord::licenses, "licenses"},
                              {&JobRecord::submit_line, "submit_line"},
                              {&JobRecord::failed_node, "failed_node"}})
    j.*member = is.text(name);
  j.work_dir = "/tmp/w";
  j.std_in = is.one_of<std::string>("std_in", {"", "none", "in.%j"});
  j.std_out = is.one_of<std::string>("std_out", {"", "/o/%A_%a", "o.%x.%u"});
  j.std_err = is.one_of<std::string>("std_err", {"", "err.%j"});
  j.priority = is.one_of<uint32_t>("priority", {0, 1000, 4294967295u});
  j.time_limit_min = is.limit("time_limit");
  j.requested_cpus = is.one_of<uint32_t>("requested_cpus", {0, 1, 64});
  j.requested_nodes = is.one_of<uint32_t>("requested_nodes", {0, 1, 4});
  j.tasks = is.count("tasks");
  j.requested_mem = is.one_of<std::string>("requested_mem", {"", "4G", "1500M", "100Mc", "odd"});
  j.nodes = is.one_of<uint32_t>("nodes", {0, 1, 4});
  j.cpus = is.one_of<uint32_t>("cpus", {0, 2, 64});
  j.node_list = is.one_of<std::string>("node_list", {"", "n1", "n[1-4,9]"});
  j.tres_requested = TresAmounts::from_text(is.one_of<std::string>("tres_requested", {"", "cpu=4,mem=8G,node=1,billing=4,gres/gpu=2"}));
  j.tres_allocated = TresAmounts::from_text(is.one_of<std::string>("tres_allocated", {"", "cpu=4,mem=1500M,node=2,gres/gpu:h100=16"}));
  j.gres_allocated = is.one_of<std::string>("gres_allocated", {"", "gpu:h100:16"});
  j.exit_status = is.wait_status("exit_status");
  j.derived_exit_status = is.wait_status("derived_exit_status");
  j.cancelled_by = Uid(is.one_of<uint32_t>("cancelled_by", {0, 1000}));
  j.has_script = is.flag("has_script");
  j.db_index = is.count("db_index");
  return j;
}

inline StepRecord varied_step_record(uint32_t number, const JobRecord& job) {
  const Varied is(number + 100000);
  StepRecord s;
  s.job = job.key;
  s.id = is.one_of<StepId>("id", {StepId{0}, StepId{17}, kBatchStep, kExternStep});
  s.name = is.text("name");
  s.state = static_cast<JobState>(1 + is.number("state") % (kJobStateCount - 1));
  s.started = is.one_of<Time>("started", {kTimeUnset, from_unix(kNow - 60)});
  s.ended = is.one_of<Time>("ended", {kTimeUnset, from_unix(kNow - 10)});
  s.nodes = is.count("nodes");
  s.tasks = is.count("tasks");
  s.cpus = is.one_of<uint32_t>("cpus", {0, 2, 64});
  s.node_list = is.one_of<std::string>("node_list", {"", "n1", "n[1-4,9]"});
  s.tres_allocated = TresAmounts::from_text(is.one_of<std::string>("tres_allocated", {"", "cpu=2,mem=500M,node=1"}));
  s.gres_allocated = is.one_of<std::string>("gres_allocated", {"", "gpu:1"});
  s.layout = is.one_of<std::string>("layout", {"", "Block"});
  s.cpu_freq = is.one_of<std::string>("cpu_freq", {"", "800000-1200000:ondemand", "high"});
  s.submit_line = is.text("submit_line");
  s.container = is.text("container");
  s.work_dir = is.text("work_dir");
  s.std_in = is.one_of<std::string>("std_in", {"", "in.%j"});
  s.std_out = is.one_of<std::string>("std_out", {"", "o.%s"});
  s.std_err = is.text("std_err");
  s.exit_status = is.wait_status("exit_status");
  s.cancelled_by = Uid(is.one_of<uint32_t>("cancelled_by", {0, 1000}));
  return s;
}

}  // namespace muster::fields
