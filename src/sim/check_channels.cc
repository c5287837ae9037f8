#include "sim/check_channels.h"

#include <map>
#include <set>

namespace muster::sim {
namespace {

JobId whole(const Job& job) { return job.het ? job.het.leader : job.id; }

struct Holder {
  JobId whole{};
  std::set<JobId> jobs;
};

}  // namespace

void check_channels(const Cluster& cluster, uint32_t total, const std::function<void(const std::string&)>& complain) {
  std::map<uint32_t, Holder> holders;
  const auto hold = [&](const Job& job, const NodeShare& share, bool running) {
    const std::string name = "job " + std::to_string(job.id.value);
    if (!share.channel) return running ? complain(name + " runs without a channel") : void();
    if (*share.channel >= total) complain(name + " has channel " + std::to_string(*share.channel) + " of " + std::to_string(total));
    Holder& holder = holders.try_emplace(*share.channel, Holder{whole(job), {}}).first->second;
    if (holder.whole != whole(job))
      complain(name + " and job " + std::to_string(holder.whole.value) + " hold channel " + std::to_string(*share.channel));
    holder.jobs.insert(job.id);
  };
  cluster.jobs.for_each([&](uint32_t, const Job& job) {
    const bool running = !job.pending() && !job.finished();
    for (const NodeShare& share : job.run->leaving) hold(job, share, running);
    if (!job.allocation || !(running || job.run->releasing.any())) return;
    for (const NodeShare& share : job.allocation->nodes) hold(job, share, running);
  });
  if (holders.size() != cluster.channels.size()) complain("the channels in use are counted wrong");
  for (const auto& [channel, holder] : holders)
    if (const uint32_t* count = cluster.channels.find(channel); !count || *count != holder.jobs.size())
      complain("who holds channel " + std::to_string(channel) + " is counted wrong");
}

}  // namespace muster::sim
