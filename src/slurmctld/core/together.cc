// Heterogeneous jobs: what becomes of one component, and with it of the others. They start together. While they wait only the whole can be
// cancelled. Once they run a component may end by itself, but for the first, in which the script or the user's command runs: with it ends
// the whole. They go back to the queue together. guide heterogeneous_jobs.
#include <algorithm>

#include "base/first_fit.h"
#include "slurmctld/core/apply.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/ends_in.h"

namespace muster::slurmctld {
namespace {

constexpr uint32_t kComesBack = kJobRequeued | kJobRequeueHold;

// A run that is over and comes back with the others.
void bring_back(const Job& job, uint32_t flags, Events& out) {
  event::JobChanged e = changed(job);
  e.flags = (e.flags & ~(kComesBack | kJobSpecialExit)) | flags;
  if (e.flags != job.flags) out.push_back(std::move(e));
}

// The job as it is once the events so far are recorded: a component with --no-kill may have given up a node for the very reason that ends it.
Job as_shrunk(const Job& job, const Events& out) {
  Job left = job;
  if (job.allocation) left.allocation = std::make_shared<const Allocation>(nodes_left(job, out));
  return left;
}

// The nodes that one component powers up need no second order by another.
void leave_out_repeated(Events& events, const Events& before) {
  std::erase_if(events, [&](const Event& e) {
    auto* node = std::get_if<event::NodeStateChanged>(&e);
    return node && std::ranges::any_of(before, [&](const Event& b) {
             auto* known = std::get_if<event::NodeStateChanged>(&b);
             return known && known->node == node->node;
           });
  });
}

// The events of each component, in an order in which each fits beside those before it: one with --exclusive=user takes an idle node, and
// another of the same user may join it there, but not the other way round. A limit, too, may bind one and not another.
Result<std::vector<Events>> start_each(const View& view, const sched::StartItem& item) {
  std::vector<Events> out;
  std::optional<Error> refused;
  const bool all = first_fit(item.together.size() + 1, [&](const std::vector<size_t>& order) -> std::optional<size_t> {
    out.clear();
    Cluster ahead = view.cluster;  // with the components that have started so far
    const View with{ahead, view.indexes, view.settings, view.feasibility, view.now, view.caller, view.of_job};
    for (size_t i = 0; i < order.size(); ++i) {
      auto events = start_one(with, order[i] == 0 ? item : item.together[order[i] - 1]);
      if (!events) {
        if (!refused) refused = events.error();
        return i;
      }
      for (const Event& e : *events)
        if (auto* start = std::get_if<event::JobStarted>(&e)) start_ahead(ahead, *start);
      out.push_back(std::move(*events));
    }
    return std::nullopt;
  });
  if (!all) return std::unexpected(*refused);
  return out;
}

}  // namespace

std::vector<const Job*> components_of(const Cluster& cluster, const HetPart& het) {
  std::vector<const Job*> out;
  for (uint32_t i = 0; i < het.size; ++i)
    if (const Job* j = cluster.jobs.find(het.component(i).value); j && j->het.leader == het.leader) out.push_back(j);
  return out;
}

Result<Events> start_together(const View& view, const sched::StartItem& item) {
  const HetPart het = view.cluster.jobs.at(item.job.value).het;
  if (item.together.size() + 1 != het.size || item.job != het.leader) return fail(Errc::kInvalidStateChange);
  for (uint32_t i = 1; i < het.size; ++i)
    if (item.together[i - 1].job != het.component(i)) return fail(Errc::kInvalidStateChange);
  MUSTER_TRY(starts, start_each(view, item));
  Events out;
  bool waits = false;
  for (Events& events : starts) {
    leave_out_repeated(events, out);
    for (Event& e : events) {
      if (auto* start = std::get_if<event::JobStarted>(&e)) waits = waits || (start->flags & kJobConfiguring);
      out.push_back(std::move(e));
    }
  }
  for (Event& e : out)
    if (auto* start = std::get_if<event::JobStarted>(&e); start && waits) start->flags |= kJobConfiguring;
  return out;
}

void end_together(const View& view, const Job& job, const Ending& ending, Events& out) {
  if (job.finished() || ends_in(out, job.id)) return;
  end_one(view, job, ending, out);
  const uint32_t back = ending.flags & (kComesBack | kJobSpecialExit | kJobLaunchFailed | kJobHeldByUser);
  if (!job.pending() && job.het.offset != 0 && !(back & kComesBack)) return;
  for (const Job* other : components_of(view.cluster, job.het)) {
    if (other == &job || ends_in(out, other->id)) continue;
    if (other->finished()) {
      if (back & kComesBack) bring_back(*other, back, out);
      continue;
    }
    Ending same = ending;
    same.gone = Bitmap();
    end_one(view, as_shrunk(*other, out), same, out);
  }
}

void settle_together(const View& v, const Job& job, Events& out) {
  const std::vector<const Job*> all = components_of(v.cluster, job.het);
  const bool ready = std::ranges::all_of(all, [&](const Job* j) { return j->finished() || nodes_ready(v, *j); });
  for (const Job* j : all)
    if (!j->finished()) settle_one(v, *j, ready, out);
}

void release_together(const View& v, const Job& job, Events& out) {
  std::vector<const Job*> all = components_of(v.cluster, job.het);
  for (const Job*& j : all)
    if (j->id == job.id) j = &job;  // as it will be
  if (std::ranges::any_of(all, [](const Job* j) { return !j->finished() || !j->cleaned_up() || !(j->flags & kComesBack); })) return;
  if (all.size() == job.het.size) {
    for (const Job* j : all) requeue_one(v, *j, out);
    return;
  }
  // Some were forgotten meanwhile, and without them the job cannot start again: it stays as it ended.
  for (const Job* j : all) bring_back(*j, 0, out);
}

Result<> requeue_ended(const View& view, const Job& job, uint32_t flags, Events& out) {
  const std::vector<const Job*> all = components_of(view.cluster, job.het);
  if (all.size() != job.het.size) return fail(Errc::kInvalidJobId, {}, "some of the job's components are not known any more (MinJobAge)");
  const bool over = std::ranges::all_of(all, [](const Job* j) { return j->finished() && j->cleaned_up(); });
  for (const Job* j : all) {
    if (!over) {  // when the last of them is cleaned up
      bring_back(*j, flags, out);
      continue;
    }
    Job again = *j;
    again.flags |= flags;
    requeue_one(view, again, out);
  }
  return {};
}

void stay_ended(const View& v, const Job& job, Events& out) {
  for (const Job* j : components_of(v.cluster, job.het))
    if (j->finished()) bring_back(*j, 0, out);
}

std::vector<rpc::JobSelector> whole_where_wanted(const View& v, std::vector<rpc::JobSelector> selectors) {
  const auto& words = v.settings.config().scheduler_parameters;
  if (!words.has("whole_hetjob") && !words.has("whole_pack")) return selectors;
  for (rpc::JobSelector& s : selectors)
    if (const Job* j = v.cluster.jobs.find(s.job.value); j && j->het && !s.het_offset) s.job = j->het.leader;
  return selectors;
}

bool names_component(const rpc::JobSelector& s, const Job& job) {
  return job.het && (s.het_offset || (job.het.offset != 0 && s.job == job.id));
}

bool may_be_forgotten(const View& v, const Job& job) {
  const Time before = v.now - v.settings.config().min_job_age;
  return std::ranges::all_of(components_of(v.cluster, job.het), [&](const Job* j) {
    return j->finished() && j->cleaned_up() && !(j->flags & kComesBack) && j->ended <= before;
  });
}

}  // namespace muster::slurmctld
