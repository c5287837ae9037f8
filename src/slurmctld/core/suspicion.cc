#include "slurmctld/core/suspicion.h"

#include <algorithm>
#include <set>

namespace muster::slurmctld {
namespace {

constexpr size_t kJobsNamed = 8;

int64_t part_of(Time at) { return (at - from_unix(0)) / minutes(10); }

}  // namespace

std::optional<bool> speaks_against_nodes(const Job& job) {
  if (!job.finished() || !job.allocation || job.started == kTimeUnset) return std::nullopt;
  if (job.flags & kJobLaunchFailed) return true;
  if (job.reason == Reason::kProlog) return std::nullopt;  // PrologSlurmctld, which runs on no node
  switch (job.state) {
    case JobState::kCompleted: return false;
    case JobState::kNodeFail:
    case JobState::kBootFail: return true;
    case JobState::kFailed:
      if (job.ended - job.started <= SuspicionBook::kStarting) return true;
      return std::nullopt;
    default: return std::nullopt;
  }
}

void HourCount::add(Time now, bool failed) {
  const int64_t number = part_of(now);
  Part& part = parts_[static_cast<size_t>(number % static_cast<int64_t>(parts_.size()))];
  if (part.number != number) part = {number, {}};
  ++part.sum.ends;
  part.sum.failed += failed;
}

HourCount::Sum HourCount::sum(Time now) const {
  Sum out;
  const int64_t oldest = part_of(now) - static_cast<int64_t>(parts_.size());
  for (const Part& part : parts_) {
    if (part.number <= oldest) continue;
    out.ends += part.sum.ends;
    out.failed += part.sum.failed;
  }
  return out;
}

std::string Suspicion::text() const {
  std::string out = "the last " + std::to_string(jobs.size()) + " jobs of " + std::to_string(users) + " users failed here (jobs ";
  for (size_t i = 0; i < std::min(jobs.size(), kJobsNamed); ++i) out += (i ? "," : "") + std::to_string(jobs[i].value);
  return out + (jobs.size() > kJobsNamed ? ",...)" : ")");
}

std::vector<NodeId> SuspicionBook::take(const Job& ended) {
  const std::optional<bool> failed = speaks_against_nodes(ended);
  if (!failed) return {};
  std::vector<NodeId> nodes;
  // Where one node was at fault, the others of the job were not.
  if (ended.run->has_failed_node) nodes.push_back(ended.run->failed_node);
  else
    for (const NodeShare& share : ended.allocation->nodes) nodes.push_back(share.node);
  all_.add(ended.ended, *failed);
  for (NodeId node : nodes) {
    Page& page = nodes_[node];
    page.hour.add(ended.ended, *failed);
    page.ends.push_back({ended.id, ended.request->uid, *failed, ended.ended});
    if (page.ends.size() > kKept) page.ends.pop_front();
  }
  return *failed ? nodes : std::vector<NodeId>{};
}

std::optional<Suspicion> SuspicionBook::suspect(NodeId node, Time now, const std::set<NodeId>& aside) const {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return std::nullopt;
  Suspicion out;
  std::set<Uid> users;
  for (auto end = at->second.ends.rbegin(); end != at->second.ends.rend(); ++end) {
    if (!end->failed || end->time + kOld < now) break;
    users.insert(end->user);
    out.jobs.insert(out.jobs.begin(), end->job);
  }
  out.users = users.size();
  if (out.jobs.size() < kFailures || out.users < kUsers) return std::nullopt;
  HourCount::Sum others = all_.sum(now);
  const auto leave_out = [&](const Page& page) {
    const HourCount::Sum here = page.hour.sum(now);
    others.ends -= std::min(others.ends, here.ends);
    others.failed -= std::min(others.failed, here.failed);
  };
  leave_out(at->second);
  for (NodeId broken : aside)
    if (const auto page = nodes_.find(broken); page != nodes_.end() && broken != node) leave_out(page->second);
  if (others.failed * 4 > others.ends) return std::nullopt;
  return out;
}

}  // namespace muster::slurmctld
