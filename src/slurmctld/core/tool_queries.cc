#include "slurmctld/core/tool_queries.h"

namespace muster::slurmctld {

bool means(const rpc::TriggerFilter& f, const Trigger& t) {
  return (!f.id || f.id == t.id) && (!f.job || f.job == t.spec.job) && (!f.user || Uid(*f.user) == t.user);
}

rpc::TriggerRows query_triggers(const Cluster& cluster, const Privacy& privacy, const Caller& who, const rpc::QueryTriggers& q) {
  rpc::TriggerRows out;
  cluster.triggers.for_each([&](uint32_t, const Trigger& t) {
    if (!means(q.filter, t)) return;
    const Job* job = t.spec.job ? cluster.jobs.find(t.spec.job.value) : nullptr;
    if (t.user == who.uid || (privacy.shows_user(t.user) && (!job || privacy.shows(*job)))) out.triggers.push_back(t);
  });
  return out;
}

Result<rpc::CrontabText> query_crontab(const Cluster& cluster, const Rights& rights, const Caller& who, const rpc::QueryCrontab& q) {
  if (q.user != who.uid && !rights.may(Right::kSeeCrontabs))
    return fail(Errc::kAccessDenied, {}, "only operators may read another user's crontab");
  rpc::CrontabText out;
  const Crontab* file = cluster.crontabs.find(q.user.value);
  if (file) out = {true, file->text};
  return out;
}

}  // namespace muster::slurmctld
