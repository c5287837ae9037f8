#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/dependency.h"
#include "model/tres_list.h"
#include "sched/explain/changes.h"
#include "sched/explain/explain.h"
#include "sched/explain/node_census.h"
#include "sched/explain/placement_report.h"
#include "sched/explain/preempt_view.h"
#include "sched/gate.h"
#include "sched/rules/array_limit.h"
#include "sched/rules/eligibility.h"
#include "sched/rules/job_rule.h"
#include "sched/rules/node_rule.h"

namespace muster::sched {
namespace {

constexpr size_t kShown = 5;  // jobs in a list

// What the job asks for, in the words of the options.
std::string asks_for(const Job& job) {
  const RequestBody& request = *job.request;
  std::vector<std::string> out;
  auto counted = [&](uint64_t n, std::string_view what) {
    if (n) out.push_back(std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s"));
  };
  counted(request.min_nodes, "node");
  counted(request.num_tasks, "task");
  if (request.ntasks_per_node) out.push_back(std::to_string(request.ntasks_per_node) + " tasks per node");
  if (request.cpus_per_task > 1) out.push_back(std::to_string(request.cpus_per_task) + " CPUs per task");
  auto memory = [&](const std::optional<uint64_t>& mb, std::string_view per) {
    if (mb) out.push_back(*mb ? format_mem_mb(*mb) + " per " + std::string(per) : "all memory of its nodes");
  };
  memory(request.mem_per_node_mb, "node");
  memory(request.mem_per_cpu_mb, "CPU");
  memory(request.mem_per_gpu_mb, "GPU");
  if (!request.tres_per_node.empty()) out.push_back(request.tres_per_node->plain() + " per node");
  if (!request.tres_per_job.empty()) out.push_back(request.tres_per_job->plain());
  if (!request.tres_per_task.empty()) out.push_back(request.tres_per_task->plain() + " per task");
  if (!request.features.empty()) out.push_back("--constraint=" + request.features.text());
  if (!request.extra_constraint.empty()) out.push_back("--extra=" + request.extra_constraint.text());
  if (!request.required_nodes.empty()) out.push_back("--nodelist=" + request.required_nodes.text());
  if (!request.excluded_nodes.empty()) out.push_back("--exclude=" + request.excluded_nodes.text());
  if (request.exclusive == Exclusive::kNode) out.push_back("--exclusive");
  if (request.exclusive == Exclusive::kUser) out.push_back("--exclusive=user");
  out.push_back(job.time_limit_min == kUnlimited32 ? "no time limit" : format_span(minutes(job.time_limit_min)));
  return join(out, ", ");
}

std::string nodes_of(const Cluster& cluster, const Allocation& a) {
  Bitmap nodes;
  for (const NodeShare& s : a.nodes) nodes.set(s.node.value);
  return node_list(cluster, nodes);
}

std::string dependency_word(DependencyType type) {
  constexpr std::string_view kWords[] = {"after", "afterany", "afterok", "afternotok", "aftercorr", "afterburstbuffer", "singleton"};
  return std::string(kWords[static_cast<size_t>(type)]);
}

std::vector<DependencyView> dependencies_of(const Cluster& cluster, const Job& job) {
  std::vector<DependencyView> out;
  if (!job.dependencies) return out;
  for (const Dependency& dependency : job.dependencies->list) {
    if (out.size() == 20) break;
    DependencyView view;
    view.text = dependency_word(dependency.type);
    view.failed = dependency.state == DependencyState::kFailed;
    if (dependency.type == DependencyType::kSingleton) {
      view.state = "an earlier job of the same name and user has not ended";
    } else {
      view.text += ":" + std::to_string(dependency.job.value) +
                   (dependency.array_task == kNoArrayTask ? "" : "_" + std::to_string(dependency.array_task));
      const Job* other = cluster.jobs.find(dependency.job.value);
      view.state = dependency.state == DependencyState::kFulfilled ? "fulfilled"
                   : other
                       ? "job " + std::to_string(dependency.job.value) + " is " + std::string(job_state_shown(other->state, other->flags))
                       : "job " + std::to_string(dependency.job.value) + " is not in the queue any more";
    }
    out.push_back(std::move(view));
  }
  return out;
}

class Waiting {
 public:
  Waiting(const Cluster& cluster, const Params& params, Time now, const Job& job, JobExplanation& out)
      : cluster_(cluster),
        params_(params),
        now_(now),
        job_(job),
        out_(out),
        queue_(cluster, params, now, job),
        gate_(Gate::make(cluster, params, now)) {}

  void run() {
    nodes_.update(cluster_.nodes, params_);
    nodes_.reserve(cluster_, params_, now_);
    pending_.update(cluster_, params_, now_);
    busy_ = wanted_ = Bitmap(nodes_.size());
    for (uint32_t p : partitions_of(cluster_, job_))
      if (const Partition* partition = cluster_.partitions.find(p)) look_at(*partition);
    add_ahead();
    add_holders();
    if (job_.array_tasks)
      if (auto limit = ArrayLimit::of(cluster_, job_).view()) out_.limits.push_back(std::move(*limit));
    add_forecast();
  }

 private:
  void look_at(const Partition& partition) {
    PartitionView view;
    view.name = partition.name;
    view.nodes = static_cast<uint32_t>(partition.nodes.count());
    Result<Shape> shape = make_shape(*job_.request, partition, params_);
    if (!shape) {
      view.never = told(shape.error());
      out_.partitions.push_back(std::move(view));
      return;
    }
    RequestClass asked;
    asked.shape = std::move(*shape);
    asked.partition = partition.index;
    asked.uid = job_.request->uid;
    asked.time_limit_min = job_.time_limit_min;
    asked.warned = params_.preempt.notice(*job_.request);
    if (!job_.request->reservation.empty()) asked.reservation = pending_.reservations_for(cluster_, *job_.request, partition.index).front();
    view.needed = std::max(asked.shape.min_nodes, 1u);
    view.tasks_needed = asked.shape.num_tasks;
    const JobQuestion question{cluster_, params_, partition, *job_.request, asked, nullptr, gate_.get()};
    Grant grant;
    view.barred =
        first_to_hold(rules_concerning(asked, partition, params_) & rules_of(Of::kPartition), question, queue_.held(), grant).reason;
    add_limits(question);
    if (auto ever = can_ever_run(cluster_, params_, *job_.request, partition.index); !ever) view.never = told(ever.error());
    Census census = take_census(cluster_, nodes_, pending_, params_, asked, job_.request->uid, queue_);
    view.causes = std::move(census.causes);
    view.tasks_free = census.tasks_free;
    for (const NodesLeftOut& n : view.causes)
      if (n.cause == NodeCause::kFree) free_nodes_ = std::max(free_nodes_, n.count);
    for (const NodesLeftOut& n : view.causes)
      if (n.cause == NodeCause::kFree && n.count >= view.needed) view.together = not_together(asked.shape, view);
    busy_ |= census.busy;
    wanted_ |= partition.nodes;
    out_.partitions.push_back(std::move(view));
  }

  // The amounts that hold it back now, with the running jobs that use them up.
  void add_limits(const JobQuestion& question) {
    const RuleSet concerning = rules_concerning(question.asked, question.partition, params_);
    for (size_t i = 0; i < job_rules().size(); ++i) {
      const JobRule& rule = *job_rules()[i];
      if (!rule.limit || !(concerning >> i & 1)) continue;
      std::optional<LimitUsed> limit = rule.limit(question, queue_.held());
      if (!limit) continue;
      cluster_.jobs.for_each([&](uint32_t, const Job& other) {
        if (other.state == JobState::kRunning && limit->view.holders.size() < kShown && limit->by(other))
          limit->view.holders.push_back(brief_of(cluster_, other));
      });
      out_.limits.push_back(std::move(limit->view));
    }
  }

  // Enough nodes are free one by one; what keeps them from serving it together.
  static std::string not_together(const Shape& s, const PartitionView& view) {
    if (view.tasks_needed > view.tasks_free)
      return "the free nodes have room for " + std::to_string(view.tasks_free) + " of " + std::to_string(view.tasks_needed) + " tasks";
    return sched::not_together(s);
  }

  static std::string told(const Error& e) { return std::string(e.message()) + (e.hint.empty() ? "" : ": " + e.hint); }

  // Of the jobs ahead, lists those that may use some of this job's nodes.
  void add_ahead() {
    for (JobId id : queue_.ahead()) {
      const Job& other = cluster_.jobs.at(id.value);
      bool same_nodes = false;
      for (uint32_t p : partitions_of(cluster_, other))
        if (const Partition* partition = cluster_.partitions.find(p)) same_nodes |= partition->nodes.intersects(wanted_);
      if (!same_nodes) continue;
      if (++out_.ahead_count <= kShown) out_.ahead.push_back(brief_of(cluster_, other));
    }
  }

  void add_holders() {
    std::vector<std::pair<Time, uint32_t>> by_end;
    for (const auto& [id, r] : pending_.running()) {
      const bool holds = std::any_of(r.allocation->nodes.begin(), r.allocation->nodes.end(),
                                     [&](const NodeShare& s) { return s.node.value < busy_.size() && busy_.test(s.node.value); });
      if (holds) by_end.push_back({r.ends, id});
    }
    std::sort(by_end.begin(), by_end.end());
    out_.holder_count = static_cast<uint32_t>(by_end.size());
    for (size_t i = 0; i < std::min(by_end.size(), kShown); ++i)
      out_.holders.push_back(brief_of(cluster_, cluster_.jobs.at(by_end[i].second)));
  }

  void add_forecast() {
    const Verdict* verdict = cluster_.moment.verdicts.find(job_.id.value);
    if (verdict && verdict->expected_start > now_) {
      out_.expected_start = verdict->expected_start;
      out_.expected_nodes = verdict->expected_nodes;
    }
    out_.forecast = true;
    if (!queue_.planned_all()) {
      out_.forecast = out_.expected_start != Time{};
      return;
    }
    const std::vector<uint32_t> partitions = partitions_of(cluster_, job_);
    Result<Planner::Forecast> as_it_is = queue_.forecast(*job_.request, partitions, job_.time_limit_min);
    std::optional<Time> start;
    if (as_it_is) {
      start = as_it_is->start;
      if (out_.expected_start == Time{} || as_it_is->start <= now_) {
        out_.expected_start = as_it_is->start;
        out_.expected_nodes = nodes_of(cluster_, *as_it_is->allocation);
      }
    }
    if (start && *start <= now_) return;  // it is about to start
    Alternatives found = find_alternatives(cluster_, job_, queue_, now_, start, free_nodes_);
    out_.alternatives = std::move(found.list);
    out_.alternatives_tried = found.tried;
  }

  const Cluster& cluster_;
  const Params& params_;
  const Time now_;
  const Job& job_;
  JobExplanation& out_;
  WhatIf queue_;
  std::unique_ptr<Gate> gate_;
  Availability nodes_;
  Pending pending_;
  Bitmap busy_, wanted_;
  uint32_t free_nodes_ = 0;
};

}  // namespace

JobBrief brief_of(const Cluster& cluster, const Job& job) {
  JobBrief brief;
  brief.id = job.id;
  brief.array_job = job.array_job_id;
  brief.array_task = job.array_task;
  brief.user = job.request->user_name.empty() ? std::to_string(job.request->uid.value) : job.request->user_name;
  brief.name = job.name();
  if (const Partition* p = cluster.partitions.find(job.partition)) brief.partition = p->name;
  brief.state = job.state;
  brief.priority = job.priority;
  if (job.allocation) {
    brief.nodes = static_cast<uint32_t>(job.allocation->nodes.size());
    brief.cpus = job.allocation->total_cpus();
    for (const NodeShare& s : job.allocation->nodes) brief.mem_mb += s.mem_mb;
    brief.gres = gres_text(gres_sum(job.allocation->nodes));
  } else {
    brief.nodes = std::max(job.request->min_nodes, 1u);
    brief.gres = (job.request->tres_per_node.empty() ? job.request->tres_per_job : job.request->tres_per_node)->plain();
  }
  if (job.pending()) {
    if (const Verdict* v = cluster.moment.verdicts.find(job.id.value)) brief.start = v->expected_start;
  } else {
    brief.start = job.started;
    brief.end = job.finished() ? job.ended : job.ends;
  }
  return brief;
}

JobExplanation explain_job(const Cluster& cluster, const Params& params, Time now, const Job& job) {
  JobExplanation out;
  out.now = now;
  out.job = brief_of(cluster, job);
  out.flags = job.flags;
  out.asks = asks_for(job);
  out.submitted = job.submitted;
  out.eligible = job.eligible;
  out.reason = job.reason;
  if (job.detail) out.detail = *job.detail;
  if (job.cancel_asked) out.cancelled_by = job.cancelled_by.value;
  out.time_limit_min = job.time_limit_min;
  out.exit_status = job.exit_status;
  out.derived_exit_status = job.derived_exit_status;
  out.restarts = job.restarts;
  if (job.allocation) out.node_list = nodes_of(cluster, *job.allocation);
  out.placement = placement_of(cluster, job);
  add_preemption(cluster, params, now, job, out);
  if (!job.pending()) return out;
  Verdict parked = not_eligible(job, now);
  if (parked.reason == Reason::kNone) parked = not_in_turn(job, now);
  const Verdict* verdict = cluster.moment.verdicts.find(job.id.value);
  if (parked.reason != Reason::kNone) {
    out.reason = parked.reason;
    out.expected_start = parked.expected_start;
  } else if (verdict) {
    out.reason = verdict->reason;
    if (!verdict->detail.empty()) out.detail = verdict->detail;
  }
  out.dependencies = dependencies_of(cluster, job);
  if (parked.reason == Reason::kNone) Waiting(cluster, params, now, job, out).run();
  return out;
}

}  // namespace muster::sched
