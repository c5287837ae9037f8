#include "sched/supply/reserved.h"

#include <algorithm>

namespace muster::sched {
namespace {

bool meet(const Stretch& a, const Stretch& b) { return a.from < b.until && b.from < a.until; }

void close(ReservedSide& side, uint32_t node, const Stretch& when) {
  if (node >= side.closed.size()) side.closed.resize(node + 1);
  side.closed[node].push_back(when);
}

void merge(std::vector<Stretch>& list) {
  std::ranges::sort(list, {}, &Stretch::from);
  size_t kept = 0;
  for (const Stretch& s : list) {
    if (kept && s.from <= list[kept - 1].until) list[kept - 1].until = std::max(list[kept - 1].until, s.until);
    else list[kept++] = s;
  }
  list.resize(kept);
}

// What is left of a node beside a reservation's part of it, for those who may have that part only.
NodeShare rest_of(const Node& node, const NodeShare& part) {
  NodeShare out;
  out.node = node.id;
  out.cpus = Bitmap(node.spec->cpus, true) - part.cpus;
  for (const GresDevices& g : node.spec->gres) {
    if (g.count_only || is_shared_gres(g.name)) continue;
    GresShare rest{g.name, g.type, 0, {}, {}};
    for (uint32_t d = g.first_index; d < g.first_index + g.count; ++d) {
      const bool own = std::ranges::any_of(part.gres, [&](const GresShare& p) { return p.name == g.name && p.devices.test(d); });
      if (own) continue;
      rest.devices.set(d);
      ++rest.count;
    }
    const bool reserved = std::ranges::any_of(part.gres, [&](const GresShare& p) { return p.name == g.name; });
    if (reserved && rest.count) out.gres.push_back(std::move(rest));
  }
  return out;
}

}  // namespace

void Reserved::update(const Cluster& cluster, Time now, Duration longest) {
  bool changed = longest_ != longest;
  PersistentMap<Reservation>::diff(table_, cluster.reservations, [&](uint32_t, const Reservation*, const Reservation*) { changed = true; });
  longest_ = longest;
  const bool back = now < now_;
  now_ = now;
  if (changed) {
    table_ = cluster.reservations;
    by_start_.clear();
    floating_.clear();
    edges_.clear();
    table_.for_each([&](uint32_t, const Reservation& r) {
      (r.floats() ? floating_ : by_start_).push_back(&r);
      edges_.push_back(r.start);
      edges_.push_back(r.end);
    });
    std::ranges::stable_sort(by_start_, {}, &Reservation::start);
    std::ranges::stable_sort(floating_, {}, &Reservation::floats_by);
    std::ranges::sort(edges_);
  }
  const auto passed = static_cast<size_t>(std::ranges::upper_bound(edges_, now) - edges_.begin());
  // What is left of a node depends on its make, and floating times on now.
  if (changed || back || passed != edge_ || !floating_.empty() || nodes_ != cluster.nodes_epoch) {
    sides_.clear();
    views_.clear();
  }
  edge_ = passed;
  nodes_ = cluster.nodes_epoch;
  make_ = cluster.nodes;
}

Time Reserved::end_of(const Reserver& of) const {
  const Time end = now_ + (of.time_limit_min == kUnlimited32 ? longest_ : minutes(of.time_limit_min));
  const Reservation* own = table_.find(of.reservation);
  return own && own->confines() ? std::max(now_, std::min(end, own->end)) : end;
}

uint32_t Reserved::limit_of(const Reserver& of) const {
  const Reservation* own = table_.find(of.reservation);
  if (!own || !own->confines()) return of.time_limit_min;
  const int64_t left = (to_seconds(own->end - std::max(own->start, now_)) + 59) / 60;
  return static_cast<uint32_t>(std::clamp<int64_t>(left, 1, std::max<int64_t>(of.time_limit_min, 1)));
}

Stretch Reserved::stretch_of(const Reservation& r) const { return {r.starts(now_), r.ends(now_)}; }

// A job that runs longer than a floating reservation is ahead would always run into it.
uint32_t Reserved::floating_within(Duration length) const {
  return static_cast<uint32_t>(std::ranges::lower_bound(floating_, length, {}, &Reservation::floats_by) - floating_.begin());
}

bool Reserved::keeps_out(const Reservation& r, const Reservation* own, const SideKey& key) const {
  if (&r == own || (own && !own->yields_to(r))) return false;
  const Duration warned = seconds(std::get<1>(key));
  return !(warned > Duration::zero() && r.max_start_delay >= warned);
}

void Reserved::close_for_others(ReservedSide& out, const SideKey& key) const {
  auto close_for = [&](const Reservation& r, const Stretch& when) {
    if (when.until <= now_ || !keeps_out(r, out.own, key)) return;
    if (out.own && out.own->confines() && when.from >= out.own->end) return;  // its jobs are over by then
    if (!r.licenses.empty()) out.licenses.push_back({when, r.id, &r.licenses});
    if (r.has(kResvAnyNodes)) return;
    r.nodes.for_each([&](size_t id) {
      const auto node = static_cast<uint32_t>(id);
      const NodeShare* part = r.share_of(NodeId(node));
      if (part) out.parts[node].push_back({when, *part});
      else if (!r.by_cores()) close(out, node, when);
    });
  };
  for (const Reservation* r : by_start_) close_for(*r, stretch_of(*r));
  for (uint32_t i = 0; i < std::get<2>(key); ++i) close_for(*floating_[i], {now_, floating_[i]->ends(now_)});
}

std::shared_ptr<const ReservedSide> Reserved::side(const SideKey& key) {
  std::shared_ptr<const ReservedSide>& known = sides_[key];
  if (known) return known;
  auto out = std::make_shared<ReservedSide>();
  out->number = static_cast<uint32_t>(sides_.size());
  const uint32_t reservation = std::get<0>(key);
  out->own = table_.find(reservation);
  out->gone = reservation && !out->own;
  close_for_others(*out, key);
  if (const Reservation* own = out->own; own && own->confines_nodes()) {
    out->outside = true;
    out->within = own->nodes;
    own->nodes.for_each([&](size_t id) {
      const auto node = static_cast<uint32_t>(id);
      close(*out, node, {Time::min(), own->start});
      const NodeShare* part = own->share_of(NodeId(node));
      const Node* n = make_.find(node);
      if (part && n && n->spec) out->parts[node].push_back({{Time::min(), kTimeInfinite}, rest_of(*n, *part)});
    });
  }
  for (std::vector<Stretch>& list : out->closed) merge(list);
  return known = std::move(out);
}

ReservedViewPtr Reserved::make_view(const std::shared_ptr<const ReservedSide>& side, const SideKey& key, Time end) const {
  auto out = std::make_shared<ReservedView>();
  out->side = side;
  const Stretch run{now_, end};
  const Reservation* own = side->own;
  if (own && own->confines()) {
    if (own->start > now_) out->begins = own->start;
    out->over = own->end <= now_;
  }
  auto look = [&](const Reservation& r, const Stretch& when) {
    if (!meet(run, when) || !keeps_out(r, own, key) || r.has(kResvAnyNodes) || r.by_cores()) return;
    out->closed |= r.nodes;
    if (r.has(kResvMaint)) out->maintained |= r.nodes;
  };
  for (const Reservation* r : by_start_) {
    if (r->start >= end) break;
    look(*r, stretch_of(*r));
  }
  for (uint32_t i = 0; i < std::get<2>(key); ++i) look(*floating_[i], {now_, floating_[i]->ends(now_)});
  if (own && own->confines_nodes()) {
    const uint32_t size = make_.empty() ? 0 : make_.last_key() + 1;
    Bitmap open = own->nodes;
    if (out->begins != kTimeUnset || out->over) open.clear();
    out->closed |= Bitmap(size, true) - open;
  }
  for (const auto& [node, parts] : side->parts)
    if (!out->closed.test(node))
      for (const KeptPart& part : parts)
        if (meet(run, part.when)) out->parts.push_back(part.share);
  return out;
}

ReservedViewPtr Reserved::view(const Reserver& of) {
  if (none() && !of.reservation) return nullptr;
  const Time end = end_of(of);
  const SideKey key{of.reservation, to_seconds(of.warned), floating_within(end - now_)};
  // Which reservations a run of that length meets is a matter of how many begin before its end.
  const auto begun = static_cast<size_t>(std::ranges::lower_bound(by_start_, end, {}, &Reservation::start) - by_start_.begin());
  ReservedViewPtr& known = views_[{key, begun}];
  if (!known) known = make_view(side(key), key, end);
  return known;
}

void Reserved::use(uint32_t reservation, const std::vector<LicenseShare>& held) {
  if (!reservation) return;
  std::vector<LicenseShare>& list = used_[reservation];
  for (const LicenseShare& l : held) {
    auto it = std::ranges::find(list, l.name, &LicenseShare::name);
    if (it == list.end()) list.push_back(l);
    else it->count += l.count;
  }
}

std::vector<LicenseShare> Reserved::kept_licenses(const ReservedSide& side, Stretch when) const {
  std::vector<LicenseShare> out;
  for (const KeptLicenses& kept : side.licenses) {
    if (!meet(kept.when, when)) continue;
    auto used = used_.find(kept.reservation);
    for (LicenseShare l : *kept.all) {
      if (used != used_.end())
        for (const LicenseShare& u : used->second)
          if (u.name == l.name) l.count -= std::min(l.count, u.count);
      if (l.count) out.push_back(std::move(l));
    }
  }
  return out;
}

}  // namespace muster::sched
