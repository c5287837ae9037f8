#include "sched/future/profile_memory.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace muster::sched {
namespace {

bool same_nodes(const Spot& a, const Spot& b) {
  return std::ranges::equal(a.parts, b.parts, [](const Spot::Part& x, const Spot::Part& y) {
    return x.node == y.node && x.tasks == y.tasks && x.job_gres.counts == y.job_gres.counts;
  });
}

}  // namespace

bool ProfileMemory::begin(Ground ground, int64_t base, const std::vector<NodeLine>& nodes, const std::vector<SiteLine>& site) {
  constexpr int64_t kLongest = 1 << 30;  // no slot is later
  bool same = ground == ground_ && base >= base_ && base - base_ < kLongest && nodes.size() == nodes_.size() && site.size() == site_.size();
  const auto passed = static_cast<Slot>(same ? base - base_ : 0);
  for (size_t i = 0; same && i < nodes.size(); ++i) same = nodes[i].goes_on(nodes_[i], passed);
  for (size_t i = 0; same && i < site.size(); ++i) same = site[i].line().goes_on(site_[i], passed);
  if (!same || next_ < events_.size()) end_.clear();
  events_.resize(same ? next_ : 0);
  next_ = recalled_ = 0;
  ground_ = std::move(ground);
  base_ = base;
  nodes_ = nodes;
  site_.clear();
  for (const SiteLine& line : site) site_.push_back(line.line());
  return same;
}

const ProfileMemory::Event* ProfileMemory::coming(const RequestClass& c, bool promise) const {
  if (next_ == events_.size()) return nullptr;
  const Event& e = events_[next_];
  return e.of == &c && e.promise == promise && e.resolved_at == c.resolved_at && e.topology == c.topology ? &e : nullptr;
}

// The first start at an earlier `from` or later is the first one at this `from` or later too, unless it lies before.
std::optional<Spot> ProfileMemory::recall(const RequestClass& c, Slot from) {
  const Event* e = coming(c, false);
  if (!e || e->from > absolute(from) || e->at < absolute(from)) return std::nullopt;
  ++next_, ++recalled_;
  Spot out = *e->spot;
  out.slot = e->at == kAbsent ? kNever : static_cast<Slot>(e->at - base_);
  return out;
}

std::shared_ptr<const Spot> ProfileMemory::recall_promise(const RequestClass& c, const Spot& spot) {
  const Event* e = coming(c, true);
  if (!e || e->at != absolute(spot.slot) || !same_nodes(*e->spot, spot)) return nullptr;
  ++next_;
  return e->spot;
}

void ProfileMemory::keep_end(std::vector<NodeLine> lines) {
  end_ = std::move(lines);
  end_base_ = base_;
}

std::optional<std::vector<NodeLine>> ProfileMemory::take_end() {
  if (next_ < events_.size() || end_.empty() || end_base_ != base_) return std::nullopt;
  return std::exchange(end_, {});
}

void ProfileMemory::add(Event event) {
  end_.clear();
  events_.resize(next_);
  events_.push_back(std::move(event));
  ++next_;
}

void ProfileMemory::learn(const RequestClass* c, Slot from, const Spot& spot) {
  Event e{.of = c, .from = absolute(from), .at = absolute(spot.slot), .spot = std::make_shared<const Spot>(spot)};
  if (c) e.resolved_at = c->resolved_at, e.topology = c->topology;
  add(std::move(e));
}

void ProfileMemory::learn_promise(const RequestClass& c, const Spot& spot) {
  const bool just_found = next_ > 0 && events_[next_ - 1].of == &c && same_nodes(*events_[next_ - 1].spot, spot);
  auto place = just_found ? events_[next_ - 1].spot : std::make_shared<const Spot>(spot);
  add({.of = &c,
       .promise = true,
       .resolved_at = c.resolved_at,
       .topology = c.topology,
       .at = absolute(spot.slot),
       .spot = std::move(place)});
}

}  // namespace muster::sched
