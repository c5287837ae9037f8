#include "slurmd/daemon/job_channels.h"

#include <algorithm>
#include <vector>

namespace muster::slurmd {

void JobChannels::start(bool on) {
  read();
  driver_ = 0;
  if (!on) return;
  auto driver = devices_.driver_number();
  if (!driver) return log_.error("IMEX channels: {}", driver.error().message());
  driver_ = driver->value_or(0);
  if (!driver_) log_.info("no IMEX channels here: nvidia-caps-imex-channels is not in /proc/devices");
}

void JobChannels::read() {
  for (const auto& [job, generation, channel, uid] : rows_.read()) jobs_[JobId(job)] = {generation, channel, Uid(uid)};
}

Result<> JobChannels::write() {
  std::vector<Rows::Row> rows;
  for (const auto& [job, held] : jobs_) rows.emplace_back(job.value, held.generation, held.channel, held.uid.value);
  return rows_.replace(rows);
}

bool JobChannels::is_held(uint32_t channel) const {
  return std::ranges::any_of(jobs_, [&](const auto& job) { return job.second.channel == channel; });
}

// slurmctld gives a channel to one user's jobs at a time, so an entry of somebody else's is of a job that it knows no more. What is to be made is
// written down first, so that it is found and removed whatever happens in between.
Result<> JobChannels::give(JobId job, uint32_t generation, std::optional<uint32_t> channel, Uid uid) {
  if (!channel || !driver_) return {};
  const auto known = jobs_.find(job);
  const Held before = known == jobs_.end() ? Held{generation, *channel, uid} : known->second;
  if (known == jobs_.end() || before.generation != generation || before.channel != *channel) {
    std::erase_if(jobs_, [&](const auto& other) { return other.second.channel == *channel && other.second.uid != uid; });
    jobs_[job] = {generation, *channel, uid};
    MUSTER_TRY_VOID(write());
    if (!is_held(before.channel)) MUSTER_TRY_VOID(devices_.remove(before.channel));
  }
  return devices_.open_for(driver_, *channel, uid);
}

void JobChannels::take_back(const IsGone& is_gone) {
  bool changed = false;
  for (auto at = jobs_.begin(); at != jobs_.end();) {
    if (!is_gone(at->first, at->second.generation)) {
      ++at;
      continue;
    }
    const uint32_t channel = at->second.channel;
    at = jobs_.erase(at);
    changed = true;
    if (is_held(channel)) continue;  // by another component of the same job
    if (Result<> removed = devices_.remove(channel); !removed) log_.error("IMEX channel {}: {}", channel, removed.error().message());
  }
  if (!changed) return;
  if (Result<> written = write(); !written) log_.error("{}", written.error().message());
}

}  // namespace muster::slurmd
