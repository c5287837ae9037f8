#include "cli/accounting/fresh_records.h"

#include <algorithm>

#include "cli/common/session.h"
#include "os/clock.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

constexpr Duration kRecordsTakeAtMost = seconds(1);
constexpr size_t kMostJobsNamed = 1000;  // the controller takes 1024; a longer list waits for all that there is

bool asks_for(const ClientConf& conf, const std::vector<std::string>& clusters) {
  return clusters.empty() || std::ranges::find(clusters, conf.cluster_name) != clusters.end();
}

}  // namespace

void wait_for_records(const ClientConf& conf, const rpc::JobRecordFilter& filter) {
  if (!asks_for(conf, filter.clusters)) return;
  rpc::WaitRecords ask;
  for (const rpc::JobSelector& s : filter.jobs)
    if (s.job) ask.jobs.push_back(s.job);
  // A job that is named in another way (SLUID) may be any.
  if (ask.jobs.size() != filter.jobs.size() || ask.jobs.size() > kMostJobsNamed) ask.jobs.clear();
  net::ClientOptions how = client_options(conf, Patience::kNone);
  how.timeout = kRecordsTakeAtMost;
  how.in_all = kRecordsTakeAtMost;
  const Time until = os::monotonic_now() + kRecordsTakeAtMost;
  auto client = net::connect_client(how);
  const Duration left = until - os::monotonic_now();
  if (client && left > Duration::zero()) static_cast<void>((*client)->request(wire::number_of<rpc::WaitRecords>, wire::encoded(ask), left));
}

}  // namespace muster::cli
