// Submission of a heterogeneous job: each component is checked as a job of its own, in order, beside those before it. All are accepted, by
// the events of one command, or none is. guide heterogeneous_jobs.
#include <algorithm>

#include "acct/admission.h"
#include "slurmctld/core/channels.h"
#include "slurmctld/core/decide.h"
#include "slurmctld/core/job_ids.h"
#include "slurmctld/core/job_shares.h"

namespace muster::slurmctld {
namespace {

std::unexpected<Error> in_component(uint32_t at, Error e) {
  const std::string where = "component " + std::to_string(at);
  e.hint = e.hint.empty() ? where : where + ": " + e.hint;
  return std::unexpected(std::move(e));
}

bool asks_licenses(const JobRequest& r) {
  const auto& per_task = r.tres_per_task->items();
  return !r.licenses.empty() || std::ranges::any_of(per_task, [](const Tres& t) { return t.kind == "license"; });
}

// What a component may not ask for, though a job of its own may.
Result<> check_component(const JobRequest& r, uint32_t at, const JobRequest& first) {
  if (!r.array.empty()) return fail(Errc::kInvalidArray, {}, "there are no job arrays of heterogeneous jobs");
  if (r.uid != first.uid || r.gid != first.gid) return fail(Errc::kInvalidReq, {}, "all components belong to one user and group");
  if (at > 0 && asks_licenses(r)) return fail(Errc::kLicenses, {}, "licences are asked for in the first component");
  return {};
}

// The first component has the batch script; the others are nodes for it, as an allocation is.
JobRequest as_component(JobRequest r, uint32_t at) {
  if (at > 0) r.kind = JobKind::kAllocation;
  return r;
}

}  // namespace

void count_submitted(Cluster& ahead, JobId id, const Accepted& accepted, Time now) {
  Job job;
  job.id = id;
  job.ask(accepted.request);
  job.partition = accepted.partitions[0];
  job.association = acct::association_of(ahead, accepted.request, job.partition);
  job.submitted = now;
  job.priority = 1;
  ahead.recharge({}, Charge::of(job, ahead.partitions), now);
}

Result<Decision<rpc::JobSubmitted>> decide(const View& view, const HetRequest& asked) {
  const auto size = static_cast<uint32_t>(asked.components.size());
  if (size == 0) return fail(Errc::kInvalidReq, {}, "the job has no component");
  if (size > kMostComponents)
    return fail(Errc::kInvalidReq, {},
                std::to_string(size) + " components, at most " + std::to_string(kMostComponents) + " in a heterogeneous job");
  if (size == 1) return decide(view, asked.components.front());
  const JobRequest& first = asked.components.front();
  MUSTER_TRY(forgotten, make_room(view.indexes, first.uid, size, view.settings.config().max_job_count, view.now));
  MUSTER_TRY(id, JobIds(view.cluster, view.settings.config()).next_in_a_row(size));
  Cluster ahead = view.cluster;  // with the components that were accepted so far
  const View with{ahead, view.indexes, view.settings, view.feasibility, view.now, view.caller, view.of_job};
  Decision<rpc::JobSubmitted> out;
  std::vector<Accepted> all;
  for (uint32_t at = 0; at < size; ++at) {
    const HetPart part{id, static_cast<uint16_t>(at), static_cast<uint16_t>(size)};
    const JobRequest request = as_component(asked.components[at], at);
    if (Result<> may = check_component(request, at, first); !may) return in_component(at, may.error());
    auto accepted = accept_request(with, request);
    if (!accepted) return in_component(at, accepted.error());
    count_submitted(ahead, part.component(at), *accepted, view.now);
    if (Result<> added = submit_as(view, part.component(at), part, *accepted, out.events); !added) return in_component(at, added.error());
    all.push_back(std::move(*accepted));
  }
  MUSTER_TRY_VOID(check_networks(view, all));
  if (!forgotten.empty()) out.events.push_back(event::JobsPurged{std::move(forgotten)});
  out.reply.job = id;
  return out;
}

}  // namespace muster::slurmctld
