// The facts of records (fact.h): sacct, and the jobs and steps of its --json. sacct(1) Job Accounting Fields. Widths are those that Debian's
// Slurm 22.05 prints; newer columns are wide enough for their headers. A line of sacct is of a job or of a step, so a row says of which:
//
//   column(name, width)       of both: a member of the job's record, which its steps print, too, or what either<…> picks
//   job_column, step_column   of one of them; lines of the other print nothing
//   member(key, place)        in a job of --json
//   step_member(key, place)   in a step of it
//
// A column's header is its name. Columns stand in the order of their names, as the manual page has them, whatever the order of the rows.
#include "fields/record_fields.h"

#include <array>

#include "base/tres_mem.h"
#include "fields/job_values.h"
#include "fields/record_composites.h"
#include "fields/record_kinds.h"
#include "fields/record_values.h"
#include "fields/usage_columns.h"

namespace muster::fields {
namespace {

using RecordFact = Fact<RecordView, RecordField>;

const RecordView* job_of(const RecordView& v) { return v.step ? nullptr : &v; }
const RecordView* step_of(const RecordView& v) { return v.step ? &v : nullptr; }

template <class K, auto Get, auto Of = Itself{}>
constexpr Column<RecordFact, K, Get, Of> column_in(std::string_view name, int16_t width) {
  return {{name, name, width, Fit::kMarked, FieldStatus::kWorks, "", nullptr}, ""};
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto column(std::string_view name, int16_t width) {
  return column_in<K, Get>(name, width);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto job_column(std::string_view name, int16_t width) {
  return column_in<K, Get, job_of>(name, width);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto step_column(std::string_view name, int16_t width) {
  return column_in<K, Get, step_of>(name, width);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<RecordFact, K, Get>(key, place);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto step_member(std::string_view key, uint16_t place) {
  return second_of<RecordFact, K, Get>(key, place);
}

using Job = JobRecord;
using Step = StepRecord;
using View = RecordView;

template <auto OfStep, auto OfJob>
decltype(auto) either(const View& v) {
  return (v.step ? v.step->*OfStep : v.job.*OfJob);
}
// What a function appends, as a value.
template <auto Put>
std::string text_by(const View& v) {
  std::string out;
  Put(v, out);
  return out;
}

// ---- who and what

JobId job_id(const Job& job) { return job.key.id; }
uint32_t restarts(const Job& job) { return job.key.restarts; }
std::string sluid(const Job& job) { return sluid_text(job.sluid()); }
std::string original_sluid(const Job& job) { return sluid_text(job.original_sluid()); }
std::optional<uint64_t> db_index(const Job& job) { return job.db_index ? std::optional(job.db_index) : std::nullopt; }
std::string_view tasks_waiting(const Job& job) { return std::string_view(job.array_tasks).substr(0, job.array_tasks.find('%')); }
uint32_t tasks_at_once(const Job& job) {
  const size_t percent = job.array_tasks.find('%');
  return percent == job.array_tasks.npos ? 0 : parse_number<uint32_t>(std::string_view(job.array_tasks).substr(percent + 1)).value_or(0);
}
std::optional<uint32_t> array_task(const Job& job) { return job.array_task == kNoArrayTask ? std::nullopt : std::optional(job.array_task); }
JobId het_leader(const Job& job) { return job.het.leader; }
std::optional<uint32_t> het_offset(const Job& job) { return job.het ? std::optional<uint32_t>(job.het.offset) : std::nullopt; }
UserNamed owner(const Job& job) { return {job.uid, job.user}; }
void put_group_of(const View& v, std::string& out) {
  if (v.job.group.empty()) put_group(out, v.job.gid, v.env);
  else out += v.job.group;
}
std::optional<uint32_t> qos_number(const View& v) {
  const auto known = v.style.qos_numbers.find(v.job.qos);
  return known == v.style.qos_numbers.end() ? std::nullopt : std::optional(known->second);
}

std::optional<uint32_t> number_of(uint32_t number) { return number ? std::optional(number) : std::nullopt; }
std::optional<uint32_t> association_number(const Job& job) { return number_of(job.association); }
std::optional<uint32_t> reservation_number(const Job& job) { return number_of(job.reservation_id); }
std::optional<uint32_t> wckey_number(const View& v) {
  const auto known = v.style.wckey_numbers.find({v.job.cluster, v.job.user, v.job.wckey});
  return known == v.style.wckey_numbers.end() ? std::nullopt : std::optional(known->second);
}
// Of records of earlier releases nothing is known.
std::string_view exclusive(const Job& job) { return job.shares == Shares::kUnknown ? "" : word_of(job.exclusive); }
std::string_view shares_word(const Job& job) { return word_of(job.shares); }
std::string_view scheduler_part(const Job& job) { return started_by_word(job.flags); }

std::string wckey_shown(const Job& job) { return job.wckey_is_default ? "*" + job.wckey : job.wckey; }
std::string_view wckey_flag(const Job& job) { return job.wckey_is_default ? "ASSIGNED_DEFAULT" : ""; }

// ---- how it went

Time started(const View& v) { return record_start(v); }
Time eligible(const View& v) { return v.step ? v.step->started : v.job.eligible; }
Time submitted(const View& v) { return v.step ? v.step->started : v.job.key.submitted; }
Time job_submitted(const Job& job) { return job.key.submitted; }
int64_t elapsed_seconds(const View& v) { return to_seconds(record_elapsed(v)); }
Duration cpu_time(const View& v) { return record_elapsed(v) * record_cpus(v); }
int64_t cpu_seconds(const View& v) { return to_seconds(record_elapsed(v)) * record_cpus(v); }
std::optional<Duration> planned_cpu(const View& v) {
  const std::optional<Duration> planned = record_planned(v);
  return planned ? std::optional(*planned * v.job.requested_cpus) : std::nullopt;
}
std::optional<int64_t> planned_cpu_seconds(const View& v) {
  const std::optional<Duration> planned = record_planned(v);
  return planned ? std::optional(to_seconds(*planned) * v.job.requested_cpus) : std::nullopt;
}
Duration user_cpu(const View& v) { return record_cpu_times(v).user; }
Duration system_cpu(const View& v) { return record_cpu_times(v).system; }
Duration total_cpu(const View& v) { return user_cpu(v) + system_cpu(v); }
Ending ending(const View& v) { return v.step ? Ending{v.step->exit_status, v.step->state} : Ending{v.job.exit_status, v.job.state}; }
Ending worst_ending(const Job& job) { return {job.derived_exit_status, job.state}; }
bool is_held(const Job& job) { return job.state == JobState::kPending && job.priority == 0; }
template <class Record>
std::optional<UserNamed> ended_by(const Record& record) {
  return record.state == JobState::kCancelled ? std::optional<UserNamed>({record.cancelled_by, ""}) : std::nullopt;
}
std::string_view reason(const Job& job) { return reason_name(job.reason); }

// ---- what it held

std::string tres_allocated(const View& v) {
  std::string out;
  put_record_tres(either<&Step::tres_allocated, &Job::tres_allocated>(v), v, out);
  return out;
}
std::string tres_requested(const View& v) {
  std::string out;
  put_record_tres(v.job.tres_requested, v, out);
  return out;
}
std::string gres_requested(const Job& job) {
  std::string out;
  put_gres_of_tres(job.tres_requested, out);
  return out;
}
void put_mem_requested(const View& v, std::string& out) { put_record_mem(v.job.requested_mem, v, out); }
std::optional<uint64_t> mem_requested_mb(const Job& job) {
  const uint64_t mb = parse_tres_mem_mb(job.requested_mem);
  return mb ? std::optional(mb) : std::nullopt;
}
std::string_view node_list_or_none(const Job& job) { return job.node_list.empty() ? "None assigned" : std::string_view(job.node_list); }
template <FrequencyPart Part>
std::string frequency(const View& v) {
  std::string out;
  put_frequency(v.step ? v.step->cpu_freq : "", Part, out);
  return out;
}

std::string consumed_energy(const View& v) {
  std::string out;
  put_energy(record_energy(v), usage_style(v), out);
  return out;
}

std::string clock_rate(const View& v) {
  std::string out;
  put_clock(average_clock(usage_of(v)), usage_style(v), out);
  return out;
}

template <RecordStream Stream>
std::string stream(const View& v) {
  std::string out;
  put_record_stream(v, Stream, out);
  return out;
}
template <RecordStream Stream>
std::string expanded_stream(const View& v) {
  Environment expanding = v.env;
  expanding.expand_patterns = true;
  return stream<Stream>({v.job, v.step, expanding, v.style});
}

// ---- what no record has

constexpr std::string_view no_text(const View&) { return {}; }
constexpr int64_t zero(const View&) { return 0; }
constexpr std::optional<uint64_t> no_number(const View&) { return {}; }

constexpr RecordFact kWho[] = {
    composite("Its number; tasks of arrays as 12_3, steps as 12.0", column("JobID", -12).written(put_record_id),
              step_member<Text, text_by<put_record_id>>("step.id", 190)),
    field<Number, job_id>("Its number, also of an array task", column("JobIDRaw", -12).written(put_record_id_raw), member("job_id", 380)),
    field<Text, either<&Step::name, &Job::name>>("Name of the job or step", column("JobName", 10), member("name", 390),
                                                 step_member("step.name", 200)),
    field<Text, sluid>("The sortable unique id of this run, or of this part of a resized one", column("SLUID", 20)),
    field<Text, original_sluid>("The id of the run, which tools showed while it went on", column("OriginalSLUID", 20)),
    field<MaybeNumber, db_index>("The number of the row in the database", column("DBIndex", -10)),
    field<Text, &Job::cluster>("The cluster it ran on", column("Cluster", 10), member("cluster", 160)),
    field<Text, &Job::partition>("The partition it ran in", job_column("Partition", 10), member("partition", 430)),
    field<Number, &Job::array_job_id>("Its array", member("array.job_id", 60)),
    field<Number, tasks_at_once>("Tasks of the array that may run at once", member("array.limits.max.running.tasks", 70)),
    field<Quantity, array_task>("Its index in the array", member("array.task_id", 80)),
    field<Text, tasks_waiting>("Indexes of the array that wait", member("array.task", 90)),
    field<Number, het_leader>("The leader of its heterogeneous job", member("het.job_id", 360)),
    field<Quantity, het_offset>("Its offset in that job", member("het.job_offset", 370)),
    // for whom
    field<Text, &Job::account>("The account of the job", column("Account", 10), member("account", 10)),
    field<Text, &Job::account>("The account of its association", member("association.account", 100)),
    field<Text, &Job::cluster>("The cluster of its association", member("association.cluster", 110)),
    field<Text, &Job::user>("The user of its association", member("association.user", 130)),
    field<Owner, owner>("Its user", job_column("User", 9), member<Text, &Job::user>("user", 710)),
    field<Number, &Job::uid>("The number of its user", job_column("UID", 6).fit(Fit::kWhole)),
    field<Text, text_by<put_group_of>>("Its group", job_column("Group", 9), member<Text, &Job::group>("group", 350)),
    field<Number, &Job::gid>("The number of its group", job_column("GID", 6).fit(Fit::kWhole)),
    field<Text, &Job::qos>("Its quality of service", job_column("QOS", 10), member("qos", 460)),
    field<MaybeNumber, qos_number>("The number of its quality of service", job_column("QOSRAW", 6)),
    field<Text, &Job::qos>("The qualities of service it asked for", job_column("QOSREQ", 10), member("qosreq", 470)),
    field<Text, wckey_shown>("Its workload characterization key", job_column("WCKey", 10), member<Text, &Job::wckey>("wckey.wckey", 720)),
    field<MaybeNumber, wckey_number>("The number of that key", job_column("WCKeyID", 10)),
    field<MaybeNumber, association_number>("The number of the association", job_column("AssocID", 7),
                                           member<Number, &Job::association>("association.id", 140)),
    field<Words, wckey_flag>("Flags of that key", member("wckey.flags", 730)),
    field<Text, &Job::mcs_label>("Its multi-category security label", job_column("McsLabel", 12), member("mcs.label", 410)),
    field<Text, &Job::reservation>("The reservation it ran in", job_column("Reservation", 20), member("reservation.name", 540)),
    field<Text, &Job::reservation>("Reservations it asked for", job_column("ReqReservation", 20), member("reservation.requested", 550)),
    // in whose words
    field<Text, &Job::comment>("The comment of the job", job_column("Comment", 14), member("comment.job", 30)),
    field<Text, &Job::admin_comment>("A comment that an administrator set", job_column("AdminComment", 15),
                                     member("comment.administrator", 20)),
    field<Text, &Job::system_comment>("A comment that a plugin set", job_column("SystemComment", 15), member("comment.system", 40)),
    field<Text, &Job::extra>("The extra text of the job", job_column("Extra", 20), member("extra", 320)),
    field<Text, either<&Step::submit_line, &Job::submit_line>>("The command that submitted it", column("SubmitLine", 20),
                                                               member("submit_line", 670)),
    field<Text, either<&Step::container, &Job::container>>("Path of the OCI bundle", column("Container", 19), member("container", 180)),
    field<Text, either<&Step::work_dir, &Job::work_dir>>("The directory it ran in", column("WorkDir", 20),
                                                         member("working_directory", 740)),
    field<Text, stream<RecordStream::kIn>>("Where standard input came from", column("StdIn", 20), member("stdin", 630),
                                           step_member("step.stdin", 260)),
    field<Text, stream<RecordStream::kOut>>("Where standard output went", column("StdOut", 20), member("stdout", 610),
                                            step_member("step.stdout", 240)),
    field<Text, stream<RecordStream::kErr>>("Where standard error went", column("StdErr", 20), member("stderr", 620),
                                            step_member("step.stderr", 250)),
    field<Text, expanded_stream<RecordStream::kIn>>("The file of standard input", member("stdin_expanded", 580),
                                                    step_member("step.stdin_expanded", 210)),
    field<Text, expanded_stream<RecordStream::kOut>>("The file of standard output", member("stdout_expanded", 590),
                                                     step_member("step.stdout_expanded", 220)),
    field<Text, expanded_stream<RecordStream::kErr>>("The file of standard error", member("stderr_expanded", 600),
                                                     step_member("step.stderr_expanded", 230)),
};

constexpr RecordFact kCourse[] = {
    field<RecordTime, submitted>("When it was submitted", column("Submit", 19).fit(Fit::kCut).none("Unknown"),
                                 member<RecordTime, job_submitted>("time.submission", 250)),
    field<RecordTime, eligible>("When it could start at the earliest", column("Eligible", 19).fit(Fit::kCut).none("Unknown"),
                                member("time.eligible", 210)),
    field<RecordTime, started>("When it started", column("Start", 19).fit(Fit::kCut).none("Unknown"),
                               member<RecordTime, &Job::started>("time.start", 240), step_member<Moment, &Step::started>("time.start", 30)),
    field<RecordTime, record_end>("When it ended", column("End", 19).fit(Fit::kCut).none("Unknown"),
                                  member<RecordTime, &Job::ended>("time.end", 220), step_member<Moment, &Step::ended>("time.end", 20)),
    field<FullSpan, record_elapsed>("How long it has run", column("Elapsed", 10).fit(Fit::kWhole), member("time.elapsed", 200),
                                    step_member("time.elapsed", 10)),
    field<Number, elapsed_seconds>("How long it has run, in seconds", column("ElapsedRaw", 10).fit(Fit::kWhole)),
    field<FullSpan, cpu_time>("Elapsed time times CPUs", column("CPUTime", 10).fit(Fit::kWhole)),
    field<Number, cpu_seconds>("Elapsed time times CPUs, in seconds", column("CPUTimeRAW", 10).fit(Fit::kWhole)),
    field<MaybeSpan, record_planned>("How long it waited once it could run", column("Planned", 10).fit(Fit::kWhole).aliases("Reserved"),
                                     member("time.planned", 230)),
    field<MaybeSpan, planned_cpu>("That time times the CPUs asked for", column("PlannedCPU", 10).fit(Fit::kWhole).aliases("ResvCPU")),
    field<MaybeNumber, planned_cpu_seconds>("The same in seconds", column("PlannedCPURAW", 13).fit(Fit::kWhole).aliases("ResvCPURAW")),
    field<FullSpan, record_suspended>("How long it was suspended", column("Suspended", 10).fit(Fit::kWhole), member("time.suspended", 260),
                                      step_member("time.suspended", 40)),
    field<FullLimit, &Job::time_limit_min>("Its time limit", job_column("Timelimit", 10).none("UNLIMITED"), member("time.limit", 280),
                                           step_member("time.limit", 60)),
    field<Bound, &Job::time_limit_min>("Its time limit, in minutes", job_column("TimelimitRaw", 10).none("UNLIMITED")),
    field<CpuTime, user_cpu>("CPU time of its own", column("UserCPU", 10), member("time.user", 300), step_member("time.user", 80)),
    field<CpuTime, system_cpu>("CPU time spent in the system", column("SystemCPU", 10), member("time.system", 270),
                               step_member("time.system", 50)),
    field<CpuTime, total_cpu>("CPU time of it and of the system for it", column("TotalCPU", 10), member("time.total", 290),
                              step_member("time.total", 70)),
    field<Words, scheduler_part>("Which part of the scheduler started it", job_column("Flags", 19), member("flags", 340)),
    // its state and its end
    field<Words, record_state>("Its state", column("State", 10).written(put_record_state), member("state.current", 640),
                               step_member("state", 170)),
    field<Text, reason>("What it waited for last", job_column("Reason", 22), member("state.reason", 650)),
    field<Quantity, &Job::priority>("Its priority", job_column("Priority", 10).fit(Fit::kWhole), member("priority", 450)),
    field<Flag, is_held>("Whether it is held", member("hold", 440)),
    field<Number, restarts>("How often it was requeued before this run", job_column("Restarts", 8).fit(Fit::kWhole),
                            member("restart_cnt", 520)),
    field<Exit, ending>("Exit code and signal", column("ExitCode", 8), member("exit_code", 310), step_member("exit_code", 90)),
    field<Exit, worst_ending>("The highest exit code of its steps", job_column("DerivedExitCode", 15), member("derived_exit_code", 190)),
    field<Text, &Job::failed_node>("The node whose failure ended the job", job_column("FailedNode", 20), member("failed_node", 330)),
    composite("Who ended it", member<Someone, ended_by<Job>>("kill_request_user", 510),
              step_member<Someone, ended_by<Step>>("kill_request_user", 160)),
    composite("Its steps", member("steps", 660).written(Shape::kObjects, json_record_steps)),
};

constexpr RecordFact kHeld[] = {
    field<Number, record_cpus>("CPUs allocated; before its start those asked for", column("AllocCPUS", 10).fit(Fit::kWhole)),
    field<Number, record_cpus>("The same as AllocCPUS", column("NCPUS", 10).fit(Fit::kWhole)),
    field<Number, either<&Step::cpus, &Job::requested_cpus>>("CPUs it asked for", column("ReqCPUS", 8).fit(Fit::kWhole),
                                                             member("required.CPUs", 480)),
    field<Number, either<&Step::nodes, &Job::nodes>>("Nodes allocated, 0 before its start", column("AllocNodes", 10),
                                                     member("allocation_nodes", 50), step_member("nodes.count", 100)),
    field<Number, record_nodes>("Nodes allocated; before its start those asked for", column("NNodes", 8)),
    field<Number, either<&Step::nodes, &Job::requested_nodes>>("Nodes it asked for", column("ReqNodes", 8)),
    field<Text, either<&Step::node_list, &Job::node_list>>("Its nodes", column("NodeList", 15).none("None assigned"),
                                                           member<Text, node_list_or_none>("nodes", 420), step_member("nodes.range", 110)),
    composite("Its nodes one by one", step_member("nodes.list", 120).written(Shape::kTexts, json_record_hosts)),
    field<Number, &Step::tasks>("Tasks of a step", step_column("NTasks", 8).fit(Fit::kWhole), step_member("tasks.count", 130)),
    field<Text, &Step::layout>("How the tasks of a step lay on its nodes", step_column("Layout", 9).none("Unknown"),
                               step_member("task.distribution", 270)),
    field<Text, text_by<put_mem_requested>>("Memory it asked for", job_column("ReqMem", 10),
                                            member<Quantity, mem_requested_mb>("required.memory_per_node", 500)),
    field<Text, exclusive>("What it had for itself: NO, NODE, USER, MCS, TOPO", job_column("Exclusive", 10)),
    field<Text, shares_word>("Whether it could share its resources: NO, YES, OK", job_column("OverSubscribe", 13)),
    field<MaybeNumber, reservation_number>("The number of that reservation", job_column("ReservationId", 8),
                                           member<Number, &Job::reservation_id>("reservation.id", 530)),
    field<Text, &Job::features>("Features the job asked for", job_column("Constraints", 19), member("constraints", 170)),
    field<Text, &Job::licenses>("Licences it asked for", job_column("Licenses", 20), member("licenses", 400)),
    field<Text, tres_allocated>("Trackable resources allocated", column("AllocTRES", 10),
                                member<TresList, &Job::tres_allocated>("tres.allocated", 680)),
    field<Text, tres_requested>("Trackable resources it asked for", job_column("ReqTRES", 10),
                                member<TresList, &Job::tres_requested>("tres.requested", 690)),
    field<Text, &Job::gres_allocated>("Generic resources it had", member("used_gres", 700)),
    field<Text, frequency<FrequencyPart::kMax>>("CPU clock rate a step asked for", column("ReqCPUFreq", 10)),
    field<Text, frequency<FrequencyPart::kGovernor>>("CPU governor a step asked for", column("ReqCPUFreqGov", 13)),
    field<Text, frequency<FrequencyPart::kMax>>("Highest CPU clock rate a step asked for", column("ReqCPUFreqMax", 13)),
    field<Text, frequency<FrequencyPart::kMin>>("Lowest CPU clock rate a step asked for", column("ReqCPUFreqMin", 13)),
    composite("The frequencies that a step asked for", step_member("CPU", 150).written(Shape::kObject, json_record_frequency)),
    composite("What a step used", step_member("tres", 290).written(Shape::kObject, json_record_use)),
    field<Text, consumed_energy>("Energy used, in joules", column("ConsumedEnergy", 14)),
    field<Number, record_energy>("Energy used, in joules, without a unit", column("ConsumedEnergyRaw", 17)),
    field<Text, clock_rate>("Clock rate of the tasks, on average", step_column("AveCPUFreq", 10)),
    composite("What was measured of a step", step_member("statistics", 280).written(Shape::kObject, json_record_statistics)),
};

// What Slurm prints where a feature is not in use.
constexpr RecordFact kMissing[] = {
    absent_field<Text, no_text>("", "The partition of the association", member("association.partition", 120)),
    absent_field<Text, no_text>("", "A Blue Gene block", column("BlockID", 16), member("block", 150)),
    absent_field<Text, no_text>("", "Size of its segments of a block topology", column("SegmentSize", 11),
                                member<Number, zero>("segment_size", 570)),
    absent_field<Quantity, no_number>("", "Memory that it asked for, for a CPU", member("required.memory_per_cpu", 490)),
    absent_field<Text, no_text>("", "Its script", member("script", 560)),
    absent_field<Text, no_text>("", "The process of its srun", step_member("pid", 140)),
};

// Slurm has removed these columns, but scripts written for it still name them. They are not listed.
constexpr RecordFact kRemoved[] = {
    field<Text, either<&Step::gres_allocated, &Job::gres_allocated>>("Generic resources allocated, as gpu:a100:2",
                                                                     column("AllocGRES", 12).fit(Fit::kWhole)),
    field<Text, gres_requested>("Generic resources it asked for, as gpu:2", job_column("ReqGRES", 12).fit(Fit::kWhole)),
};

constexpr std::array<std::span<const RecordFact>, 4> kListed = {kWho, kCourse, kHeld, kMissing};
constexpr std::array<std::span<const RecordFact>, 1> kUnlisted = {kRemoved};
constexpr auto kListedColumns = by_name(together(columns_of<kListed>(), usage_columns<RecordView>(14)));
constexpr auto kColumns = together(kListedColumns, columns_of<kUnlisted>());
constexpr auto kJobObject = in_order<kListed, &RecordFact::member>();
constexpr auto kStepObject = in_order<kListed, &RecordFact::second>();

}  // namespace

const std::string_view kRecordLong =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,"
    "maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,"
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,"
    "avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,tresusageinmax,"
    "tresusageinmaxnode,tresusageinmaxtask,tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,"
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutave,tresusageouttot";

std::span<const RecordField> record_fields() { return kColumns; }
DocumentObject<RecordView> job_record_object() { return object_of<RecordView, kJobObject>(); }
DocumentObject<RecordView> step_record_object() { return object_of<RecordView, kStepObject>(); }
std::string record_help() { return column_help(names_of(kListedColumns)); }

}  // namespace muster::fields
