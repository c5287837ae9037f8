#include "slurmctld/core/job_watch.h"

#include <algorithm>

#include "slurmctld/core/job_filter.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kRowsPerPart = 256;

bool same_verdict(const Verdict* a, const Verdict* b) {
  if (!a || !b) return a == b;
  return *a == *b;
}

}  // namespace

JobWatch::JobWatch(rpc::QueryJobs query, Privacy privacy)
    : query_(std::move(query)),
      privacy_(std::move(privacy)),
      writer_(query_.parts),
      before_(std::make_shared<const Cluster>()),
      now_(before_) {
  put_in_order(query_.filter);
}

bool JobWatch::shown(const Cluster& cluster, JobId id) const {
  const Job* j = cluster.jobs.find(id.value);
  return j && shows_job(cluster, *j, query_, privacy_);
}

bool JobWatch::look(std::shared_ptr<const Cluster> now) {
  before_ = std::move(now_);
  now_ = std::move(now);
  changed_.clear();
  next_ = 0;
  auto add = [&](uint32_t id) {
    if (shown(*now_, JobId(id)) || shown(*before_, JobId(id))) changed_.push_back(JobId(id));
  };
  PersistentMap<Job>::diff(before_->jobs, now_->jobs, [&](uint32_t id, const Job*, const Job*) { add(id); });
  PersistentMap<Verdict>::diff(before_->moment.verdicts, now_->moment.verdicts, [&](uint32_t id, const Verdict* a, const Verdict* b) {
    if (!same_verdict(a, b)) add(id);
  });
  std::ranges::sort(changed_);
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return std::exchange(first_, false) || !changed_.empty();
}

bool JobWatch::next(rpc::JobChanges& part) {
  part = {};
  size_t looked = 0;
  for (; next_ < changed_.size() && looked < kRowsPerPart; ++looked) {
    JobId id = changed_[next_++];
    const Job* j = now_->jobs.find(id.value);
    if (!j) {
      part.gone.push_back(id);
      continue;
    }
    rpc::JobRows rows;
    writer_.add(*now_, *j, rows);
    std::ranges::move(rows.requests, std::back_inserter(part.requests));
    std::ranges::move(rows.jobs, std::back_inserter(shows_job(*now_, *j, query_, privacy_) ? part.jobs : part.left));
  }
  return looked > 0;
}

}  // namespace muster::slurmctld
