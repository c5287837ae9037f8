// Triggers: who may set and clear them, what pulls them, and when their programs are due. strigger(1). Slurm looks every 15 seconds at what
// has happened; here an event pulls its triggers in the turn in which it happens, and only idle nodes are looked at by the clock.
//
// Of nodes that go the same way before the program of a pulled trigger has started, all are in its argument.
#include <algorithm>
#include <set>

#include "base/plain_text.h"
#include "hostlist/hostlist.h"
#include "model/request_texts.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/privacy.h"
#include "slurmctld/core/tool_queries.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kOfJobs = bit_of(TriggerOn::kTime) | bit_of(TriggerOn::kFini);

struct Happened {
  uint32_t on = 0;
  const Job* job = nullptr;        // to this job
  std::vector<const Node*> nodes;  // or to these nodes
};

bool holds(const Job& job, NodeId node) {
  return job.allocation && std::ranges::any_of(job.allocation->nodes, [&](const NodeShare& s) { return s.node == node; });
}

// Which of the nodes a trigger is about.
std::vector<std::string> nodes_meant(const View& view, const Trigger& trigger, const std::vector<const Node*>& nodes) {
  std::vector<std::string> out;
  const Job* job = trigger.spec.job ? view.cluster.jobs.find(trigger.spec.job.value) : nullptr;
  std::vector<std::string> named;
  if (!trigger.spec.nodes.empty()) {
    named = trigger.spec.nodes->names();
    std::ranges::sort(named);
  }
  for (const Node* n : nodes) {
    const bool meant = trigger.spec.job ? job && holds(*job, n->id) : named.empty() || std::ranges::binary_search(named, n->spec->name);
    if (meant) out.push_back(n->spec->name);
  }
  return out;
}

// The names of a pulled trigger's argument with more added.
std::string with_more(const std::string& argument, std::vector<std::string> more) {
  const NodeList before(argument == "*" ? std::string() : argument);
  for (const std::string& name : before->names()) more.push_back(name);
  std::ranges::sort(more);
  more.erase(std::unique(more.begin(), more.end()), more.end());
  return compress_hosts(more);
}

event::TriggerPulled pulled(const View& v, const Trigger& t, std::string argument) {
  const Time due = v.now + seconds(std::max(0, t.spec.offset_seconds));
  return {t.id, t.due == kTimeUnset ? due : t.due, std::move(argument)};
}

void pull(const View& view, const Happened& happened, Events& out) {
  if (!happened.on) return;
  view.cluster.triggers.for_each([&](uint32_t, const Trigger& trigger) {
    const uint32_t on = trigger.spec.on & happened.on;
    if (!on) return;
    if (happened.job) {
      if (trigger.spec.job == happened.job->id && trigger.due == kTimeUnset)
        out.push_back(pulled(view, trigger, std::to_string(happened.job->id.value)));
      return;
    }
    if (trigger_subject(on) != TriggerOf::kNode || happened.nodes.empty()) {  // a daemon, or its configuration
      if (trigger.due == kTimeUnset) out.push_back(pulled(view, trigger, "*"));
      return;
    }
    std::vector<std::string> names = nodes_meant(view, trigger, happened.nodes);
    if (names.empty()) return;
    std::string argument = with_more(trigger.argument, std::move(names));
    if (trigger.due == kTimeUnset || argument != trigger.argument) out.push_back(pulled(view, trigger, std::move(argument)));
  });
}

bool at_rest(const Node& n) { return n.jobs_running + n.jobs_completing == 0; }
bool drained(const Node& n) { return (n.flags & kNodeDrain) && at_rest(n); }
bool out_of_service(const Node& n) { return n.admin == NodeState::kDown || (n.flags & (kNodeDrain | kNodeFail)); }

uint32_t changes_of(const Node& before, const Node& now) {
  uint32_t on = bit_of(TriggerOn::kReconfig);  // strigger(1): also when a node's state changes
  const bool was_down = before.admin == NodeState::kDown, is_down = now.admin == NodeState::kDown;
  if (is_down && !was_down) on |= bit_of(TriggerOn::kDown);
  if (was_down && now.admin == NodeState::kIdle) on |= bit_of(TriggerOn::kUp);
  if ((now.flags & kNodeFail) && !(before.flags & kNodeFail)) on |= bit_of(TriggerOn::kFail);
  if (drained(now) && !drained(before)) on |= bit_of(TriggerOn::kDrained);
  if ((now.flags & kNodeDrain) && !(before.flags & kNodeDrain) && !at_rest(now)) on |= bit_of(TriggerOn::kDraining);
  if (out_of_service(before) && !out_of_service(now) && now.admin == NodeState::kIdle) on |= bit_of(TriggerOn::kResume);
  return on;
}

// Nodes of the job that have become drained by what was released.
void pull_drained(const View& v, const Cluster& before, const Job& job, Events& out) {
  if (!job.allocation) return;
  Happened h{bit_of(TriggerOn::kDrained), nullptr, {}};
  for (const NodeShare& s : job.allocation->nodes) {
    const Node *now = v.cluster.nodes.find(s.node.value), *was = before.nodes.find(s.node.value);
    if (now && was && drained(*now) && !drained(*was)) h.nodes.push_back(now);
  }
  if (!h.nodes.empty()) pull(v, h, out);
}

// The job is over: its triggers are pulled, or will never be.
void pull_ended(const View& v, const Job& job, Events& out) {
  if (job.flags & (kJobRequeued | kJobRequeueHold)) return;
  uint32_t on = bit_of(TriggerOn::kFini);
  if (job.state == JobState::kTimeout) on |= bit_of(TriggerOn::kTime);
  pull(v, {on, &job, {}}, out);
  event::TriggersCleared gone;
  v.cluster.triggers.for_each([&](uint32_t id, const Trigger& t) {
    if (t.spec.job == job.id && t.due == kTimeUnset && !(t.spec.on & on) && !recurrence_of(v.cluster, job)) gone.triggers.push_back(id);
  });
  if (!gone.triggers.empty()) out.push_back(std::move(gone));
}

// When the time of a job on whose limit a trigger waits comes; kTimeInfinite: that is not known.
Time limit_trigger_time(const View& v, const Trigger& t) {
  const Job* job = v.cluster.jobs.find(t.spec.job.value);
  if (!job || job->state != JobState::kRunning || job->ends == kTimeUnset || job->ends == kTimeInfinite) return kTimeInfinite;
  if ((job->flags & kJobConfiguring) || t.spec.offset_seconds > 0) return kTimeInfinite;
  return job->ends + seconds(t.spec.offset_seconds);
}

}  // namespace

bool may_pull_triggers(const Event& event) {
  return std::holds_alternative<event::NodeStateChanged>(event) || std::holds_alternative<event::JobEnding>(event) ||
         std::holds_alternative<event::JobNodesReleased>(event) || std::holds_alternative<event::RecordsStored>(event) ||
         std::holds_alternative<event::JobsPurged>(event);
}

Events pull_triggers(const View& view, const Cluster& before, const Event& event) {
  Events out;
  if (view.cluster.triggers.size() == 0) return out;
  if (auto* e = std::get_if<event::NodeStateChanged>(&event)) {
    const Node *now = view.cluster.nodes.find(e->node.value), *was = before.nodes.find(e->node.value);
    if (now && was) pull(view, {changes_of(*was, *now), nullptr, {now}}, out);
  } else if (auto* e = std::get_if<event::JobEnding>(&event)) {
    const Job* job = view.cluster.jobs.find((e->task_job ? e->task_job : e->job).value);
    if (!job || !job->finished()) return out;
    pull_ended(view, *job, out);
    pull_drained(view, before, *job, out);
  } else if (auto* e = std::get_if<event::JobNodesReleased>(&event)) {
    if (const Job* job = view.cluster.jobs.find(e->job.value)) pull_drained(view, before, *job, out);
  } else if (auto* e = std::get_if<event::RecordsStored>(&event); e && !e->dropped.empty()) {
    pull(view, {bit_of(TriggerOn::kRecordsFull), nullptr, {}}, out);
  } else if (auto* e = std::get_if<event::JobsPurged>(&event)) {
    event::TriggersCleared gone;  // of jobs that will not come again
    view.cluster.triggers.for_each([&](uint32_t id, const Trigger& t) {
      if (t.spec.job && t.due == kTimeUnset && std::ranges::find(e->jobs, t.spec.job) != e->jobs.end()) gone.triggers.push_back(id);
    });
    if (!gone.triggers.empty()) out.push_back(std::move(gone));
  }
  return out;
}

Events pull_triggers(const View& v, TriggerOn on) {
  Events out;
  pull(v, {bit_of(on), nullptr, {}}, out);
  return out;
}

Events pull_timed_triggers(const View& view) {
  Events out;
  bool idle = false;
  view.cluster.triggers.for_each([&](uint32_t, const Trigger& t) {
    if (t.due != kTimeUnset) return;
    idle = idle || (t.spec.on & bit_of(TriggerOn::kIdle));
    if ((t.spec.on & bit_of(TriggerOn::kTime)) && limit_trigger_time(view, t) <= view.now)
      out.push_back(pulled(view, t, std::to_string(t.spec.job.value)));
  });
  if (!idle) return out;
  std::vector<const Node*> nodes;
  view.cluster.nodes.for_each([&](uint32_t, const Node& n) {
    if (n.admin == NodeState::kIdle && at_rest(n) && !out_of_service(n)) nodes.push_back(&n);
  });
  view.cluster.triggers.for_each([&](uint32_t, const Trigger& t) {
    if (t.due != kTimeUnset || !(t.spec.on & bit_of(TriggerOn::kIdle))) return;
    std::vector<const Node*> long_enough;
    // A permanent one says again only what has become idle since.
    for (const Node* n : nodes)
      if (n->last_busy + seconds(t.spec.offset_seconds) <= view.now) long_enough.push_back(n);
    std::vector<std::string> names = nodes_meant(view, t, long_enough);
    if (!names.empty()) out.push_back(event::TriggerPulled{t.id, view.now, compress_hosts(names)});
  });
  return out;
}

Time next_trigger_time(const View& v) {
  Time next = kTimeInfinite;
  v.cluster.triggers.for_each([&](uint32_t, const Trigger& t) {
    if (t.due != kTimeUnset) {
      if (t.due > v.now) next = std::min(next, t.due);
      return;
    }
    if (t.spec.on & bit_of(TriggerOn::kTime)) next = std::min(next, std::max(limit_trigger_time(v, t), v.now));
    if (t.spec.on & bit_of(TriggerOn::kIdle)) next = std::min(next, v.now + kIdleTriggerCheck);
  });
  return next;
}

namespace {

Result<> check_subject(const TriggerSpec& spec) {
  const uint32_t known = (1u << std::size(kTriggers)) - 1;
  if (spec.on == 0 || (spec.on & ~known)) return fail(Errc::kInvalidArgument, {}, "it says nothing to wait for");
  const TriggerOf of = trigger_subject(spec.on);
  for (const TriggerInfo& t : kTriggers) {
    if (!(spec.on & bit_of(t.on))) continue;
    if (t.refusal) return fail(Errc::kDisabled, {}, "--" + std::string(t.word) + ": " + t.refusal);
    if (t.of != of)
      return fail(Errc::kInvalidArgument, {}, "--" + std::string(t.word) + ": one trigger is about one thing, set another for this");
  }
  if ((spec.on & kOfJobs) && !spec.job) return fail(Errc::kInvalidJobId, {}, "the end of a job is that of one named with --jobid");
  if (spec.job && of != TriggerOf::kJob && of != TriggerOf::kNode)
    return fail(Errc::kInvalidArgument, {}, "--jobid: what happens to a daemon has nothing to do with a job");
  if (spec.job && !spec.nodes.empty()) return fail(Errc::kInvalidArgument, {}, "--jobid and --node cannot be used together");
  if (spec.job && (spec.on & (bit_of(TriggerOn::kIdle) | bit_of(TriggerOn::kReconfig))))
    return fail(Errc::kInvalidArgument, {}, "--idle and --reconfig are not about the nodes of a job");
  if (spec.permanent && (spec.on & bit_of(TriggerOn::kIdle)))
    return fail(Errc::kInvalidArgument, {}, "--idle with --flags=PERM would run the program again and again while nodes are idle");
  return {};
}

Result<> check_rest(const View& view, const TriggerSpec& spec) {
  if (spec.offset_seconds < -TriggerSpec::kMostOffset || spec.offset_seconds > TriggerSpec::kMostOffset)
    return fail(Errc::kInvalidArgument, {}, "--offset: between +/-" + std::to_string(TriggerSpec::kMostOffset));
  if (spec.offset_seconds < 0 && (spec.on & bit_of(TriggerOn::kIdle)))
    return fail(Errc::kInvalidArgument, {}, "--offset: nodes are idle for so long, which is not negative");
  if (!spec.program.starts_with('/') || spec.program.size() > kMostText || plain(spec.program) != spec.program)
    return fail(Errc::kInvalidArgument, {},
                "--program: an absolute path, perhaps with arguments, of at most " + std::to_string(kMostText) + " bytes");
  if (!spec.nodes.empty()) {
    MUSTER_TRY(names, spec.nodes.parsed());
    if (names.has_functions()) return fail(Errc::kInvalidNodeName, {}, "--node lists nodes by their names");
    for (const std::string& name : names.names())
      if (!view.cluster.node(name)) return fail(Errc::kInvalidNodeName, {}, "there is no node \"" + name + "\"");
  }
  if (!spec.job) return {};
  const Job* job = view.cluster.jobs.find(spec.job.value);
  if (!job || !Privacy(view.settings, view.cluster.directory, view.caller).shows(*job)) return fail(Errc::kInvalidJobId);
  if (job->finished() && !recurrence_of(view.cluster, *job) && !(job->flags & (kJobRequeued | kJobRequeueHold)))
    return fail(Errc::kAlreadyDone);
  return {};
}

}  // namespace

Result<Decision<rpc::TriggerSet>> decide(const View& view, const rpc::SetTrigger& request) {
  if (view.settings.config().slurmctld_parameters.has("disable_triggers"))
    return fail(Errc::kDisabled, {}, "SlurmctldParameters=disable_triggers");
  // The program runs as whoever set the trigger, and only root can become another.
  if (view.settings.rootless && view.caller.uid != view.settings.slurm_user)
    return fail(Errc::kAccessDenied, {}, "slurmctld does not run as root, so only SlurmUser may set triggers");
  MUSTER_TRY_VOID(check_subject(request.trigger));
  MUSTER_TRY_VOID(check_rest(view, request.trigger));
  size_t own = 0;
  bool there = false;
  view.cluster.triggers.for_each([&](uint32_t, const Trigger& t) {
    if (t.user != view.caller.uid) return;
    ++own;
    there = there || t.spec == request.trigger;
  });
  if (there) return fail(Errc::kTriggerDuplicate);
  if (own >= Trigger::kMostOfUser)
    return fail(Errc::kTryAgainLater, "you have " + std::to_string(own) + " triggers, which is as many as a user may have");
  if (view.cluster.triggers.size() >= kMostTriggers) return fail(Errc::kTryAgainLater, "there are too many triggers");
  Trigger trigger;
  trigger.id = view.cluster.last_trigger + 1;
  trigger.spec = request.trigger;
  trigger.user = view.caller.uid;
  trigger.set = view.now;
  if (trigger.spec.nodes.text().size() > kMostText) {  // it is kept as long as the trigger is there
    std::vector<std::string> names = trigger.spec.nodes->names();
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    trigger.spec.nodes = compress_hosts(names);
  }
  Decision<rpc::TriggerSet> d;
  d.reply.id = trigger.id;
  d.events.push_back(event::TriggerSet{std::move(trigger)});
  return d;
}

Result<Decision<rpc::TriggersCleared>> decide(const View& view, const rpc::ClearTriggers& request) {
  const rpc::TriggerFilter& filter = request.filter;
  if (!filter.id && !filter.job && !filter.user)
    return fail(Errc::kInvalidArgument, "You must specify a --id, --jobid, or --user to clear");
  event::TriggersCleared cleared;
  bool of_others = false;
  view.cluster.triggers.for_each([&](uint32_t id, const Trigger& t) {
    if (!means(filter, t)) return;
    if (t.user == view.caller.uid || view.may(Right::kClearTriggers)) cleared.triggers.push_back(id);
    else of_others = true;
  });
  if (cleared.triggers.empty())
    return of_others ? fail(Errc::kAccessDenied) : fail(Errc::kNotFound, "No such process", "no trigger matches");
  Decision<rpc::TriggersCleared> d;
  d.reply.count = static_cast<uint32_t>(cleared.triggers.size());
  d.events.push_back(std::move(cleared));
  return d;
}

}  // namespace muster::slurmctld
