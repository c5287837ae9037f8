#include "sched/preempt/claims.h"

#include <algorithm>

#include "sched/request/licenses.h"

namespace muster::sched {
namespace {

uint32_t minutes_until(Time end, Time now) {
  if (end == kTimeInfinite) return kUnlimited32;
  return static_cast<uint32_t>(std::max<int64_t>(0, to_seconds(end - now)) / 60 + 1);
}

// The rest of one share when this much of it is claimed.
NodeShare rest_of(NodeShare share, NodeShare& claimed) {
  share.cpus -= claimed.cpus;
  const uint64_t mem = std::min(share.mem_mb, claimed.mem_mb);
  share.mem_mb -= mem;
  claimed.mem_mb -= mem;
  for (const GresShare& g : claimed.gres) remove_gres(share.gres, g);
  return share;
}

}  // namespace

std::vector<NodeShare> beyond_claim(const std::vector<const Allocation*>& victims, const Allocation& claimed) {
  std::map<uint32_t, NodeShare> left;
  for (const NodeShare& share : claimed.nodes) left[share.node.value] = share;
  std::vector<NodeShare> out;
  for (const Allocation* victim : victims)
    for (const NodeShare& share : victim->nodes) {
      auto at = left.find(share.node.value);
      NodeShare rest = at == left.end() ? share : rest_of(share, at->second);
      if (rest.cpus.any() || rest.mem_mb || !rest.gres.empty()) out.push_back(std::move(rest));
    }
  return out;
}

Allocation held_together(const std::vector<const Allocation*>& all) {
  std::map<uint32_t, NodeShare> of;
  for (const Allocation* one : all)
    for (const NodeShare& share : one->nodes) {
      auto [at, fresh] = of.try_emplace(share.node.value, share);
      if (fresh) continue;
      NodeShare& sum = at->second;
      sum.cpus |= share.cpus;
      sum.mem_mb += share.mem_mb;
      sum.tasks += share.tasks;
      for (const GresShare& g : share.gres) add_gres(sum.gres, g);
    }
  Allocation out;
  for (auto& [id, share] : of) out.nodes.push_back(std::move(share));
  out.licenses = licenses_of(all);
  return out;
}

Claims::Claims(const Cluster& cluster, const Pending& pending, Time now) : pending_(pending), now_(now) {
  for (uint32_t id : pending.claiming()) {
    const Job* job = cluster.jobs.find(id);
    if (!job || !job->turns->claim || !job->turns->claim->allocation) continue;
    Entry entry{job, job->turns->claim.get(), {}, {}};
    const Claim& claim = *entry.claim;
    for (const ClaimPart& part : claim.parts)
      if (const Job* of = cluster.jobs.find(part.job.value); of && part.allocation)
        entry.parts.push_back({of, part.partition, part.allocation});
    if (claim.parts.empty()) entry.parts = {{job, claim.partition, claim.allocation}};
    for (JobId victim : claim.victims)
      if (pending.running().contains(victim.value)) {
        const Job* v = cluster.jobs.find(victim.value);
        if (!v || v->run->preempted_by != job->id) continue;  // it came back and runs anew
        entry.victims.push_back(victim.value);
        yielding_.insert(victim.value);
      }
    of_.emplace(id, std::move(entry));
  }
}

std::vector<uint32_t> Claims::ready() const {
  std::vector<uint32_t> out;
  for (const auto& [id, e] : of_)
    if (e.victims.empty()) out.push_back(id);
  return out;
}

Time Claims::made_by(uint32_t job) const {
  Time last = now_;
  if (auto at = of_.find(job); at != of_.end())
    for (uint32_t v : at->second.victims)
      if (const RunningJob& r = pending_.running().at(v); !r.finished) last = std::max(last, r.ends);
  return last;
}

void Claims::consume(const Entry& e, Availability& nodes) {
  for (const Part& part : e.parts)
    for (const NodeShare& share : part.allocation->nodes)
      if (nodes.known().test(share.node.value)) nodes.consume(share, *part.allocation, part.job->request->uid, part.partition);
}

std::vector<Profile::Held> Claims::lay(Availability& nodes) const {
  std::vector<Profile::Held> held;
  for (const auto& [id, entry] : of_) {
    std::vector<const Allocation*> victims;
    uint32_t last = 1;
    for (uint32_t v : entry.victims) {
      const RunningJob& r = pending_.running().at(v);
      victims.push_back(r.allocation.get());
      last = std::max(last, r.finished ? 1 : minutes_until(r.ends, now_));
      if (r.finished) continue;  // its nodes take nobody until it is gone
      for (const NodeShare& share : r.allocation->nodes)
        if (nodes.known().test(share.node.value)) nodes.give_back(share, *r.allocation, r.partition);
    }
    consume(entry, nodes);
    if (victims.empty()) continue;
    for (const Part& part : entry.parts) held.push_back({part.allocation, part.job->time_limit_min, part.partition});
    auto rest = std::make_shared<Allocation>(*victims.front());
    rest->fenced.clear();
    rest->licenses = licenses_beyond(licenses_of(victims), entry.claim->allocation->licenses);
    rest->nodes = beyond_claim(victims, *entry.claim->allocation);
    const bool lives = std::ranges::any_of(entry.victims, [&](uint32_t v) { return !pending_.running().at(v).finished; });
    for (const NodeShare& share : rest->nodes)
      if (lives && nodes.known().test(share.node.value)) nodes.consume(share, *rest, entry.job->request->uid, entry.claim->partition);
    held.push_back({std::move(rest), last, entry.claim->partition});
  }
  return held;
}

std::vector<Allocation> Claims::kept_licenses() const {
  std::vector<Allocation> out;
  for (const auto& [id, e] : of_) {
    if (e.victims.empty() || e.claim->allocation->licenses.empty()) continue;
    std::vector<const Allocation*> victims;
    for (uint32_t v : e.victims)
      if (const RunningJob& r = pending_.running().at(v); !r.finished) victims.push_back(r.allocation.get());
    Allocation kept;
    kept.licenses = licenses_beyond(e.claim->allocation->licenses, licenses_of(victims));
    if (!kept.licenses.empty()) out.push_back(std::move(kept));
  }
  return out;
}

void Claims::lift(uint32_t job, Availability& nodes) const {
  for (const Part& part : of_.at(job).parts)
    for (const NodeShare& share : part.allocation->nodes)
      if (nodes.known().test(share.node.value)) nodes.give_back(share, *part.allocation, part.partition);
}

void Claims::put_back(uint32_t job, Availability& nodes) const { consume(of_.at(job), nodes); }

}  // namespace muster::sched
