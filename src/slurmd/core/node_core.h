// NodeCore: what a node daemon decides: which jobs are here and how far each is, what the controller is told, and what has to be done to
// processes. No I/O, clock or thread: slurmd/daemon carries effects out and feeds back what came of them, and the simulator runs the same
// class. The protocol and its promises stand in model/node_rpc.h:
//
//   a LaunchBatch never runs a job's generation twice: one that runs, ran or is remembered is answered with
//   what is known; TerminateJob always leads to JobGone; a job that ended is remembered until the controller
//   says that its end is durable; orders of an earlier generation do nothing to a later one.
//
// A contained job (PrologFlags=Contain) has an external step here, which no srun asks for: it is started after the prolog, or before it if
// that is to run in it, and everything else of the job waits for it. It ends when nothing else of the job is left, with every process in
// it, before the epilog or, if that runs in it, after. What it used is told with JobGone; its slurmstepd keeps that until the job is
// forgotten. One that ends before its time is not missed, and is not started again.
//
// A run without a job (srun --no-allocate, model/without_job.h) is known here alone: it has no prolog and no epilog, nothing about it is
// reported or registered, and it is forgotten with its step.
//
// Without a session reports are not kept, but the state is, and Registered brings out again whatever the controller may have missed. The
// end of a step's part is reported in each session until whoever decides about the step has it (StepEndTaken); until then the step's
// slurmstepd keeps it, so it outlives slurmd. Cost: O(log jobs) an input; registration O(jobs).
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "model/node_rpc.h"

namespace muster::slurmd {

// ---- what is to be done
struct RunProlog {
  JobId job{};
  uint32_t generation = 0;
  bool in_job = false;  // among the processes of the external step
};
struct RunEpilog {
  JobId job{};
  uint32_t generation = 0;
  bool in_job = false;
};
struct StartBatch {
  std::shared_ptr<const node_rpc::LaunchBatch> launch;
};
struct StartExternal {  // the job's external step; answered by StepStarted or StepFailed of kExternStep
  std::shared_ptr<const node_rpc::JobOnNode> job;
};
struct EndExternal {  // and all processes in it, at once; answered by StepEnded
  JobId job{};
  uint32_t generation = 0;
};
struct FindContent {  // the launch names its script or environment by hash; answered by ContentFound or ContentMissing
  JobId job{};
  uint32_t generation = 0;
  std::vector<std::string> hashes;
};
struct StartStep {  // the launch that was asked for with StepAsked
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
};
struct RefuseStep {
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  std::string text;
};
struct EndSteps {  // every step of the job, the batch script too; what is in the external step is told to end, which is to stay
  JobId job{};
  uint32_t generation = 0;
  uint32_t kill_wait_seconds = 30;
  JobState state = JobState::kCancelled;
  Time time{};
};
struct SignalSteps {
  node_rpc::SignalJob order;
};
struct LimitSteps {  // a step's own time limit changes
  node_rpc::LimitStep order;
};
struct MeasureSteps {  // how much memory they use together; answered by StepsMeasured, or asked again
  JobId job{};
  uint32_t generation = 0;
};
struct LimitMemoryOfSteps {  // of those that run now
  node_rpc::LimitMemory order;
};
struct StopSteps {  // or lets them go on; answered by StepsStopped
  JobId job{};
  uint32_t generation = 0;
  bool stop = true;
  uint32_t grace_seconds = 0;  // between SIGTSTP and SIGSTOP
};
struct ReleaseStep {  // its result is taken: its slurmstepd may go
  JobId job{};
  StepId step{};
};
struct DropJob {  // nothing of the job is left or remembered: its files here can go
  JobId job{};
  uint32_t generation = 0;
};
struct ReadConfig {};
struct StopDaemon {};
struct ChangeLogging {
  node_rpc::SetLogging order;
};
struct Reboot {
  std::string reason;
  std::string action;                 // the PowerAction; "": RebootProgram
  std::vector<std::string> features;  // that its helpers bring first
};
struct PowerDown {
  std::string action;
};
struct TestThisNode {  // quarantine; answered with node_rpc::NodeTested
  Time since{};
};
struct NotifySteps {  // tells the batch script, or the steps of an allocation, a line
  JobId job{};
  std::string text;
};
using Effect = std::variant<RunProlog, RunEpilog, StartExternal, EndExternal, FindContent, StartBatch, StartStep, RefuseStep, EndSteps,
                            SignalSteps, LimitSteps, MeasureSteps, LimitMemoryOfSteps, StopSteps, ReleaseStep, DropJob, ReadConfig,
                            StopDaemon, ChangeLogging, Reboot, PowerDown, TestThisNode, NotifySteps>;

// ---- what happened
struct PrologEnded {
  JobId job{};
  uint32_t generation = 0;
  std::string error;  // "" = success
};
struct EpilogEnded {
  JobId job{};
  uint32_t generation = 0;
  std::string error;
};
struct ContentFound {  // all of it is on this node until the batch script is started
  JobId job{};
  uint32_t generation = 0;
};
struct ContentMissing {  // it is not here and will not come
  JobId job{};
  uint32_t generation = 0;
  bool node_fault = false;
  std::string text;
};
struct ContentLost {  // it was found, but could not be read when the batch script was to be started: it is looked for again
  std::shared_ptr<const node_rpc::LaunchBatch> launch;
  std::string text;
};
struct StepSurvives {  // its slurmstepd died, and what it left running cannot be killed
  JobId job{};
  uint32_t generation = 0;
  std::string held;  // what holds it: "cat (812) of step 7.0 cannot be interrupted"; "" is not known
};
struct StepAsked {  // srun wants to start it; answered by StartStep or RefuseStep
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
};
struct StepStarted {  // also of steps found after a restart of slurmd
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
};
struct StepEnded {
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  int32_t exit_status = 0;
  bool out_of_memory = false;
  bool ends_step = false;  // its end here ends it on its other nodes, too
  StepUsagePtr usage;
};
struct StepFailed {  // it never ran
  JobId job{};
  uint32_t generation = 0;
  StepId step{};
  bool node_fault = false;
  std::string text;
};
struct StepsStopped {  // StopSteps was carried out
  JobId job{};
  uint32_t generation = 0;
  bool stopped = true;
};
struct StepsMeasured {  // MeasureSteps was carried out
  JobId job{};
  uint32_t generation = 0;
  std::optional<Bytes> resident;  // none: no use is gathered here
};
struct RebootFailed {};   // the program that was to reboot the node: a repeated order tries again
struct StepsUnkillable {  // what EndSteps was to end is still here, long after SIGKILL
  JobId job{};
  uint32_t generation = 0;
  std::string held;  // as of StepSurvives
};
using NodeEvent = std::variant<PrologEnded, EpilogEnded, ContentFound, ContentMissing, ContentLost, StepSurvives, StepAsked, StepStarted,
                               StepEnded, StepFailed, StepsStopped, StepsMeasured, StepsUnkillable, RebootFailed>;

struct NodePrograms {  // which programs the node's configuration has
  bool prolog = false, epilog = false;
  bool in_job = false;  // PrologFlags=RunInJob: they run among the processes of the job's external step
};

class NodeCore {
 public:
  explicit NodeCore(NodePrograms programs = {}) : programs_(programs) {}

  void on_order(const NodeOrder& order, Time now);
  void on_event(const NodeEvent& event);
  void disconnected() { registered_ = false; }
  void set_programs(NodePrograms programs) { programs_ = programs; }  // after Reconfigure

  std::vector<node_rpc::NodeJob> registration() const;  // the jobs of a Register, by number
  std::vector<NodeReport> take_reports() { return std::exchange(reports_, {}); }
  std::vector<Effect> take_effects() { return std::exchange(effects_, {}); }

  size_t jobs() const { return jobs_.size(); }
  bool knows(JobId job, uint32_t generation) const;
  // Whether this run of the job ends or has ended here: then nothing more of it is started.
  bool has_ended(JobId job, uint32_t generation) const;
  // Whether nothing of this run is left here. Of one that never came here that is not known.
  bool is_gone(JobId job, uint32_t generation) const {
    const auto at = jobs_.find(job);
    if (at == jobs_.end()) return was_forgotten(job, generation);
    return at->second.generation > generation || (at->second.generation == generation && at->second.phase == Phase::kGone);
  }
  // Whether the external step is the user's by now: it is up, and neither prolog nor epilog, which may run in it, is under way. Until then it takes
  // neither signals nor logins of the user's.
  bool is_external_open(JobId job) const {
    const auto at = jobs_.find(job);
    return at != jobs_.end() && at->second.external == External::kRunning && at->second.phase == Phase::kActive;
  }
  bool is_suspended(JobId job) const {
    const auto at = jobs_.find(job);
    return at != jobs_.end() && at->second.suspended;
  }
  void remember_ended(JobId job, uint32_t generation);  // what an earlier slurmd knew
  // How many runs are remembered: more than end on a node within a credential's life, which is two minutes.
  static constexpr size_t kEndedKept = 65536;
  // Of the run that is known, the batch script among them, and the external step once it is told to end.
  std::vector<StepId> steps_of(JobId job) const;

 private:
  enum class Phase : uint8_t { kProlog, kActive, kEnding, kEpilog, kGone };
  enum class Batch : uint8_t { kNone, kLaunching, kRunning, kFinished, kFailed };
  enum class External : uint8_t { kNone, kStarting, kRunning, kEnding, kOver };
  struct Entry {
    JobId job{};
    uint32_t generation = 0;
    Phase phase = Phase::kActive;
    Batch batch = Batch::kNone;
    External external = External::kNone;
    bool prolog_ran = false, epilog_ran = false, forget = false;
    bool ready = false;      // prolog and external step are there
    bool ending = false;     // TerminateJob came
    bool prepare = false;    // PrepareJob came: the controller waits for the prolog's end
    bool suspended = false;  // a step that comes up late is stopped, too
    int32_t exit_status = 0;
    bool out_of_memory = false, node_fault = false;
    StepUsagePtr batch_usage, external_usage;
    std::string failure, epilog_error;
    std::shared_ptr<const node_rpc::JobOnNode> contained;  // until its external step is started; null: it gets none
    std::shared_ptr<const node_rpc::LaunchBatch> launch;   // until it is started
    bool content = true;                                   // the script and environment that the launch names by hash are here
    uint32_t content_lost = 0;                             // how often they were found and then could not be read
    std::shared_ptr<const node_rpc::LaunchBatch> next;     // of a later generation, for when this one is gone
    std::set<StepId> asked;                                // wait for the prolog
    std::set<StepId> steps;                                // started, the batch step not among them
    std::map<StepId, node_rpc::StepGone> untaken;          // ends that nobody has taken yet
    std::map<StepId, node_rpc::LimitStep> limits;          // changed ones, for steps whose slurmstepd is not up yet
    std::optional<node_rpc::LimitMemory> memory;           // likewise of the whole job
  };

  void order(const node_rpc::Registered& o);
  void order(const node_rpc::LaunchBatch& order);
  void order(const node_rpc::PrepareJob& order);
  void order(const node_rpc::TerminateJob& order);
  void order(const node_rpc::SignalJob& o);
  void order(const node_rpc::LimitStep& o);
  void order(const node_rpc::MeasureJob& o);
  void order(const node_rpc::LimitMemory& o);
  void order(const node_rpc::ForgetJobs& o);
  void order(const node_rpc::Reconfigure& o);
  void order(const node_rpc::SetLogging& o);
  void order(const node_rpc::RebootNode& o);
  void order(const node_rpc::PowerDownNode& o) { effects_.emplace_back(PowerDown{o.action}); }
  void order(const node_rpc::TestNode& o) { effects_.emplace_back(TestThisNode{o.since}); }
  void order(const node_rpc::NotifyJob& o);
  void order(const node_rpc::SuspendJob& o);
  // What is said to the step manager changes nothing here (slurmd/core/step_manager.h).
  void order(const node_rpc::ManageSteps&) {}
  void order(const node_rpc::StepsTaken&) {}
  void order(const node_rpc::PartOfStepEnded&) {}
  void order(const node_rpc::EndManagement&) {}
  void order(const node_rpc::StepEndTaken& o);
  void event(const PrologEnded& e);
  void event(const EpilogEnded& e);
  void event(const ContentFound& e);
  void event(const ContentMissing& e);
  void event(const ContentLost& e);
  void event(const StepSurvives& e);
  void event(const StepAsked& e);
  void event(const StepStarted& e);
  void event(const StepEnded& e);
  void event(const StepFailed& e);
  void event(const StepsStopped& e);
  void event(const StepsMeasured& e);
  void event(const StepsUnkillable& e);
  void event(const RebootFailed&) { reboot_begun_ = kTimeUnset; }

  Entry* find(JobId job, uint32_t generation);
  Entry& entry_of_step(JobId job, uint32_t generation);
  void launch(Entry& e, const node_rpc::LaunchBatch& o);
  void find_content(const Entry& e);
  void contain(Entry& e, const node_rpc::JobOnNode& job);
  void begin(Entry& e);
  void go_on(Entry& e);
  void start_external(Entry& e);
  void external_started(Entry& e);
  void external_over(Entry& e, const StepUsagePtr& usage, const std::string& failure, bool node_fault);
  void not_prepared(Entry& e, const std::string& why, bool node_fault);
  void end_as_told(Entry& e);
  void after_prolog(Entry& e);
  void release_late(const Entry& e, StepId step);
  void step_ended(Entry& e, node_rpc::StepGone gone);
  void batch_ended(Entry& e);
  void end(Entry& e, uint32_t kill_wait_seconds, JobState state, Time time);
  void step_left(Entry& e);
  void all_left(Entry& e);
  void gone(Entry& entry);
  node_rpc::JobGone job_gone(const Entry& e) const { return {e.job, e.generation, e.epilog_error, e.external_usage}; }
  static bool has_external(const Entry& e) { return e.external > External::kNone && e.external < External::kOver; }
  static bool batch_runs(const Entry& e) { return e.batch == Batch::kLaunching || e.batch == Batch::kRunning; }
  void drop(JobId job);
  bool was_forgotten(JobId job, uint32_t generation) const;
  void tell(const Entry& entry);  // how it stands, to the controller
  void report(NodeReport r);

  NodePrograms programs_;
  bool registered_ = false;
  Time reboot_begun_ = kTimeUnset;  // which reboot this slurmd has begun
  std::map<JobId, Entry> jobs_;
  std::set<std::pair<JobId, uint32_t>> forgotten_;   // those of late; steps of them that come now are refused
  std::deque<std::pair<JobId, uint32_t>> in_order_;  // the same, as they ended
  std::vector<NodeReport> reports_;
  std::vector<Effect> effects_;
};

}  // namespace muster::slurmd
