#include "slurmctld/core/served.h"

#include <algorithm>

#include "slurmctld/core/rows.h"

namespace muster::slurmctld {

Result<rpc::Allocated> attach_allocation(const Cluster& cluster, const Privacy& privacy, const Rights& rights,
                                         const rpc::AttachAllocation& request) {
  const Job* job = cluster.jobs.find(request.job.value);
  if (!job || !privacy.shows(*job)) return fail(Errc::kInvalidJobId);
  if (!rights.may(row_of<rpc::AttachAllocation>.of_job, *job)) return fail(Errc::kAccessDenied);
  if (job->finished()) return fail(Errc::kAlreadyDone);
  if (job->pending()) return fail(Errc::kJobPending);
  return make_allocated(cluster, *job);
}

Result<TextWanted> text_wanted(const Cluster& cluster, const Privacy& privacy, const Rights& rights, const rpc::QueryText& query) {
  using Source = TextWanted::Source;
  if (query.subject == "config") return TextWanted{Source::kShownConfig, false, {}};
  if (query.subject == "slurm.conf") return TextWanted{Source::kWrittenConfig, rights.may(Right::kReadPasswords), {}};
  if (query.subject != "script" && query.subject != "environment") return fail(Errc::kInvalidArgument, "no such text: " + query.subject);
  const Job* j = cluster.jobs.find(query.job.value);
  if (!j || !privacy.shows(*j)) return fail(Errc::kInvalidJobId);
  if (!rights.may(row_of<rpc::QueryText>.of_job, *j)) return fail(Errc::kUserIdMissing);
  const ContentHashes hashes = j->own.content_hashes();
  std::string hash = query.subject == "script" ? hashes.script_hash : hashes.environment_hash;
  if (hash.empty()) return fail(Errc::kNotFound, "job " + std::to_string(j->id.value) + " has no batch script");
  return TextWanted{Source::kContent, false, std::move(hash)};
}

Result<> may_fetch(const Cluster& cluster, NodeId node, const rpc::FetchContent& what) {
  const Job* job = cluster.jobs.find(what.job.value);
  if (!job || !job->allocation) return fail(Errc::kInvalidJobId);
  if (std::ranges::none_of(job->allocation->nodes, [&](const NodeShare& s) { return s.node == node; })) return fail(Errc::kAccessDenied);
  const ContentHashes hashes = job->own.content_hashes();
  if (!what.hash.empty() && (what.hash == hashes.script_hash || what.hash == hashes.environment_hash)) return {};
  return fail(Errc::kAccessDenied, {}, "the content does not belong to the job");
}

Result<> may_query(const Rights& rights, const rpc::QueryStatistics& request) {
  if (!request.reset || rights.may(Right::kResetStatistics)) return {};
  return fail(Errc::kAccessDenied);
}

std::optional<NodeId> manager_to_ask(const Cluster& cluster, const Settings& settings, const Caller& who, Right right, JobId id) {
  const Job* j = cluster.jobs.find(id.value);
  if (!j || !j->managed || j->pending() || j->finished() || !j->allocation || (j->flags & kJobConfiguring)) return std::nullopt;
  if (!Rights(settings, cluster.directory, who).may(right, *j)) return std::nullopt;
  return j->allocation->nodes.front().node;
}

}  // namespace muster::slurmctld
