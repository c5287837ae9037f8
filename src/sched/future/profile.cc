#include "sched/future/profile.h"

#include <algorithm>
#include <utility>

#include "sched/place/gang_chooser.h"

namespace muster::sched {
namespace {

constexpr size_t kMany = 64;  // changes that a line is brought up to date with at once

// A GPU given in shares is no longer available whole, so it is counted as held. A GPU held whole has no shares either; but counts do not
// show which GPU of an entry that is, so its shares are not counted out.
void hold_both_forms(const Kind& k, std::vector<uint64_t>& held) {
  for (size_t g = 0; g < k.gres.size(); ++g) {
    if (!k.gres[g].shared || held[g] == 0) continue;
    for (size_t gpu = 0; gpu < k.gres.size(); ++gpu) {
      const GresDevices& d = k.gres[gpu];
      const uint32_t at = k.gres[g].first_index;
      if (d.name == "gpu" && at >= d.first_index && at < d.first_index + d.count && held[gpu] < d.count) ++held[gpu];
    }
  }
}

}  // namespace

Profile::Profile(const Cluster& cluster, const Params& params, Time now, Availability& nodes, const Pending& pending,
                 const std::vector<Held>& starts, size_t classes, const std::set<uint32_t>& yielding, ProfileMemory* memory)
    : params_(params),
      now_(now),
      resolution_(std::max(params.bf.resolution_s, 1u)),
      base_(unix_seconds(now) / resolution_),
      reserved_(now, resolution_, base_),
      nodes_(nodes),
      far_(now, resolution_, base_, !nodes.reserved().none()),
      partitions_(cluster, params.allocate_cores || params.linear),
      layers_(params, site_, reserved_),
      plans_(classes),
      promised_(nodes.size()) {
  build_lines(pending, starts, yielding);
  begin_site(pending, starts);
  begin_memory(pending, memory);
}

// What keeps nodes for users, reservations, and which nodes sleep, is not in the lines that are compared.
void Profile::begin_memory(const Pending& pending, ProfileMemory* memory) {
  if (!memory) return;
  if (params_.bf.busy_nodes || nodes_.owned().any() || !nodes_.reserved().none() || nodes_.limits_waking()) return memory->forget();
  const TopologyRules& t = params_.topology;
  std::string settings = params_key(params_);
  for (const int64_t v : {resolution_, far_.begins(), to_seconds(params_.default_time_limit), int64_t{t.max_size_unroll},
                          int64_t{t.dragonfly}, int64_t{t.optional}, int64_t{t.switch_as_node_rank}, int64_t{t.block_as_node_rank}})
    settings += "," + std::to_string(v);
  memory_ = memory;
  recalling_ = memory->begin({pending.classes_epoch(), std::move(settings)}, base_, lines_, site_);
  if (recalling_) deferred_.resize(nodes_.size());
}

// Brings the node's line up to what was promised while answers came from memory.
void Profile::catch_up(uint32_t node) const {
  for (const Deferred& d : deferred_[node]) {
    NodeLine& line = lines_[node];
    line.take(d.from, d.end, amounts_of(*d.of, d.place->parts[d.part], line.least(d.from, d.end)));
  }
  deferred_[node].clear();
}

Profile::~Profile() {
  if (memory_ && !recalling_) memory_->keep_end(std::move(lines_));
}

void Profile::go_on_alone() {
  if (!std::exchange(recalling_, false)) return;
  if (auto end = memory_->take_end()) {
    lines_ = std::move(*end);
    return deferred_.clear();
  }
  for (uint32_t node = 0; node < deferred_.size(); ++node) catch_up(node);
}

Slot Profile::slot_of(Time t) const {
  const int64_t s = (unix_seconds(t) + resolution_ - 1) / resolution_ - base_;
  return static_cast<Slot>(std::clamp<int64_t>(s, 1, 1 << 30));
}

Slot Profile::length_of(uint32_t limit) const {
  const int64_t s = limit == kUnlimited32 ? to_seconds(params_.default_time_limit) : int64_t{limit} * 60;
  return static_cast<Slot>(std::clamp<int64_t>((s + resolution_ - 1) / resolution_, 1, 1 << 30));
}

Slot Profile::end_from_now(uint32_t limit) const {
  return std::max<Slot>(slot_of(now_ + (limit == kUnlimited32 ? params_.default_time_limit : Duration(minutes(limit)))), 1);
}

Time Profile::time_of(Slot slot) const { return slot == 0 ? now_ : from_unix((base_ + slot) * resolution_); }

// Sets up the amounts that belong to no node. A running job keeps its part for as long as it may run.
void Profile::begin_site(const Pending& pending, const std::vector<Held>& starts) {
  for (const JobRule* rule : job_rules())
    if (rule->amounts) site_.emplace_back(*rule->amounts, params_);
  for (SiteLine& line : site_) {
    if (line.empty()) continue;
    for (const auto& [id, r] : pending.running())
      if (!r.finished) line.hold(*r.allocation, r.ends == kTimeInfinite ? slot_of(now_ + params_.default_time_limit) : slot_of(r.ends));
    for (const Held& h : starts) line.hold(*h.allocation, end_from_now(h.time_limit_min));
  }
}

// The first slot from which a job of the class has all the amounts that belong to no node.
Slot Profile::site_earliest(const RequestClass& asked, Slot from, Slot length) const {
  Slot at = from;
  for (bool moved = true; moved && at != kNever;) {
    moved = false;
    for (const SiteLine& line : site_) {
      if (at == kNever || !line.concerns(asked)) continue;
      const Slot free = asked.reserved ? line.earliest(asked, at, length, reserved_.amounts(*asked.reserved->side, line.amounts(), params_))
                                       : line.earliest(asked, at, length);
      moved |= free != at;
      at = free;
    }
  }
  return at;
}

std::vector<uint64_t> Profile::promised(const SiteAmounts& of, uint32_t limit) const {
  for (const SiteLine& line : site_)
    if (&line.amounts() == &of && !line.empty()) return line.promised(end_from_now(limit));
  return {};
}

// Gives the entries of the kind's devices numbers; entries with the same name have the same number.
std::vector<uint32_t> Profile::kinds_of_devices(const Kind& k) {
  std::vector<uint32_t> out;
  for (size_t g = 0; g < k.gres.size(); ++g) {
    uint32_t first = 0;
    while (k.gres[first].name != k.gres[g].name) ++first;
    out.push_back(first);
  }
  return out;
}

void Profile::started(const Allocation& allocation, uint32_t limit, uint32_t partition) {
  go_on_alone();
  if (memory_) memory_->learn(nullptr, 0, {});
  const Slot end = end_from_now(limit);
  std::vector<uint32_t> ids;
  for (const NodeShare& share : allocation.nodes) {
    const uint32_t id = share.node.value;
    Amounts held = amounts_of(share, allocation, share.cpus, partition);
    partitions_.share(nodes_.kind(id), partition, held.sharing, held.gres);
    lines_[id].take_known(0, end, held, kinds_of_devices(nodes_.kind(id)));
    ids.push_back(id);
    if (nodes_.owned().test(id)) owned_[id] = {nodes_.kept_for(id), std::max(owned_[id].until, end)};
  }
  take_whole(allocation.fenced, 0, end, ids);
  taken(ids, 0, end);
  for (SiteLine& line : site_) line.hold(allocation, end);
}

Amounts Profile::amounts_of(const RequestClass& asked, const Spot::Part& part, const Amounts& least) const {
  const Kind& kind = nodes_.kind(part.node);
  const Shape& shape = asked.shape;
  Amounts out;
  out.jobs = 1;
  out.gres.assign(kind.gres.size(), 0);
  uint64_t gpus = 0;
  auto take = [&](const GresNeed& need, uint64_t count) {
    if (need.name == "gpu") gpus += count;
    for (size_t g = 0; g < kind.gres.size() && count > 0; ++g) {
      if (kind.gres[g].name != need.name || (!need.type.empty() && kind.gres[g].type != need.type)) continue;
      if (kind.gres[g].flags & kGresNoConsume) return;
      const uint64_t n = std::min(count, least.gres[g] - std::min(least.gres[g], out.gres[g]));
      if (need.one_device && n < count) continue;
      out.gres[g] += n;
      count -= n;
    }
  };
  for (const GresNeed& need : shape.per_node) take(need, need.count);
  for (const GresNeed& need : shape.per_task) take(need, mul_sat(need.count, part.tasks));
  for (size_t i = 0; i < shape.per_job.size() && i < part.job_gres.counts.size(); ++i) take(shape.per_job[i], part.job_gres.counts[i]);
  hold_both_forms(kind, out.gres);
  // A job that keeps others off is promised the whole node.
  out.units = shape.whole || shape.keeps_others_off() ? kind.units : std::min(kind.units, units_for(shape, kind, part.tasks, gpus));
  out.open = out.units;  // a job with GPUs may take none of those kept for them
  out.due = kind.restricted.any() && !shape.whole ? out.units : 0;
  out.sharing = shape.oversubscribe ? Sharing{1, 0, out.units, out.units, out.units > least.units} : Sharing{0, 1};
  if (shape.mem_consumable) out.mem_mb = memory_for(shape, kind, out.units, gpus);
  if (shape.whole)
    for (size_t g = 0; g < kind.gres.size(); ++g) out.gres[g] = kind.gres[g].count;
  partitions_.add_held(kind, asked.partition, params_.allocate_cores || params_.linear ? uint64_t{out.units} * kind.threads : out.units,
                       out.gres);
  partitions_.share(kind, asked.partition, out.sharing, out.gres);
  return out;
}

void Profile::promise(const RequestClass& asked, const Spot& spot) {
  const Slot end = spot.slot + far_.length(length_of(limit_of(asked)), spot.slot);
  horizon_ = std::max(horizon_, end);
  const std::shared_ptr<const Spot> known = recalling_ && !asked.shape.exclusive_topo ? memory_->recall_promise(asked, spot) : nullptr;
  if (known) {
    for (uint32_t i = 0; i < known->parts.size(); ++i) {
      deferred_[known->parts[i].node].push_back({&asked, known, i, spot.slot, end});
      promised_.set(known->parts[i].node);
    }
    promise_site(asked, spot, end);
    return;
  }
  go_on_alone();
  if (memory_) memory_->learn_promise(asked, spot);
  std::vector<uint32_t> ids;
  for (const Spot::Part& part : spot.parts) {
    NodeLine& line = lines_[part.node];
    line.take(spot.slot, end, amounts_of(asked, part, line.least(spot.slot, end)));
    promised_.set(part.node);
    ids.push_back(part.node);
    Owned& owned = owned_[part.node];  // the node stays kept until a job that comes meanwhile has gone
    if (spot.slot < owned.until) owned.until = std::max(owned.until, end);
  }
  if (asked.shape.exclusive_topo && asked.topology) promise_leaves(asked, spot.slot, end, ids);
  taken(ids, spot.slot, end);
  promise_site(asked, spot, end);
}

void Profile::promise_site(const RequestClass& c, const Spot& spot, Slot end) {
  for (SiteLine& line : site_)
    if (line.concerns(c)) line.promise(c, spot.slot, end);
  layers_.promise(c, spot, end);
}

// A node that is kept for a user or a label is open to them alone until the last job there ends.
bool Profile::may_share(const RequestClass& c, uint32_t node, Slot slot, uint32_t jobs) const {
  if (jobs > 0 && c.shape.whole) return false;
  const Owned& owned = owned_[node];
  if (slot < owned.until) return admits(owned.by, c.shape.newcomer(c.uid));
  return jobs == 0 || !c.shape.keeps_others_off();
}

// How many units one more job may have where up to `most` jobs share a unit, whatever units the others stand on. All, as long as fewer than
// `most` share. Otherwise a unit may be full for each `most` units in the sum that the others hold, and the job must leave enough to the
// largest sharer that has a promise.
uint64_t Profile::units_to_share(uint32_t all, uint32_t most, const Sharing& held) {
  if (held.sharers < most) return all;
  const uint64_t full = std::min<uint64_t>(all, held.stacked / most), largest = std::min(held.largest, all);
  const uint64_t room = uint64_t{most} * (all - largest + 1) + largest - 1;
  return std::min(all - full, room - std::min(room, held.stacked));
}

// Units available to the job: those that nobody holds and, where all jobs of the node share theirs, also what these leave.
template <class Row>
uint32_t Profile::units_for_job(const RequestClass& c, const Kind& k, const Row& row, std::span<const uint64_t> gres) const {
  const bool kept = keeps_from(c.shape, k);
  uint32_t there = kept ? row.open : row.units;
  // Of the cores kept for GPUs a job may have those of its own GPUs; which GPUs these are is not known before it starts.
  if (!kept && k.restricted.any() && !c.shape.whole) there = std::min(there, row.open + units_opened_for(c.shape, k));
  const uint32_t free = partitions_.units_left(c, k, there, gres);
  if (!c.shape.oversubscribe) return row.sharing.leaning ? 0 : free;
  const Sharing sharing = partitions_.sharing(c, k, row.sharing, gres);
  if (sharing.apart > 0) return free;
  const auto shared = static_cast<uint32_t>(units_to_share(kept ? open_units(k) : k.units, c.shape.oversubscribe_count, sharing));
  return sharing.leaning ? shared : std::max(free, shared);
}

// The most tasks that fit on a node throughout a stretch of time.
uint32_t Profile::tasks_within(const RequestClass& c, uint32_t node, Slot first, Slot end, Amounts& least) const {
  const Kind& k = nodes_.kind(node);
  least = lines_[node].least(first, end);
  if (const auto kept = kept_parts(c, node, first, end)) lessen(least, *kept);
  if (!may_share(c, node, first, least.jobs)) return kNoTasks;
  if (least.jobs == 0 && (c.shape.whole || c.shape.keeps_others_off())) return c.idle_tasks[nodes_.kind_index(node)];
  return count_tasks(c.shape, k, {units_for_job(c, k, least, least.gres), least.mem_mb, least.gres});
}

uint32_t Profile::tasks(uint32_t node, const RequestClass& asked, uint32_t count) const {
  if (!lines_[node].started()) return kNoTasks;
  if (recalling_) catch_up(node);
  const Slot end = end_from_now(limit_of(asked));
  // The placement looks after the present; promises lie in the future.
  const Amounts least = lines_[node].least(0, end);
  const Kind& k = nodes_.kind(node);
  if (asked.shape.whole) return least.jobs == 0 ? count : kNoTasks;
  // Jobs that are promised the node once its present keeper has gone would find it kept longer.
  if (asked.shape.keeps_others_off() || nodes_.owned().test(node)) {
    const Slot from = std::max<Slot>(owned_[node].until, 1);
    if (from < end && lines_[node].least(from, end).jobs > 0) return kNoTasks;
  }
  uint32_t units = units_for_job(asked, k, least, least.gres);
  // The job may take open ones of the cores that are free now, even though kept cores would do for it.
  if (least.due > 0 && least.open < lines_[node].row(0).open) units = std::min(units, least.open);
  return std::min(count, count_tasks(asked.shape, k, {units, least.mem_mb, least.gres}));
}

void Profile::prepare(ClassPlan& plan, const RequestClass& asked) {
  plan.ready = true;
  const uint32_t side = asked.reserved && !asked.reserved->side->keeps_nothing() ? asked.reserved->side->number : 0;
  const Shape& shape = asked.shape;
  const bool plain = asked.places.empty() && asked.counts.empty() && asked.alternatives.empty() && !shape.contiguous &&
                     shape.per_job.empty() && shape.node_sizes.empty() && !asked.bound_by_topology() && !layers_.concern(asked) &&
                     !nodes_.limits_waking(asked.feasible);
  uint32_t caps = 0;
  bool alike = true;
  for (uint32_t k = 0; k < asked.idle_tasks.size(); ++k)
    if (asked.idle_tasks[k] != kNoTasks) {
      alike &= caps == 0 || caps == asked.idle_tasks[k];
      caps = asked.idle_tasks[k];
    }
  const bool single = shape.min_nodes <= 1 && !shape.grow && !shape.spread && shape.num_tasks && asked.best_idle_tasks >= shape.num_tasks;
  if (plain && shape.whole && (alike || !shape.num_tasks) && caps) {
    plan.mode = Mode::kIdleNodes;
    const uint32_t wanted = shape.num_tasks ? (shape.num_tasks + caps - 1) / caps : 1;
    plan.count = std::max({shape.min_nodes, wanted, static_cast<uint32_t>(asked.required.count())});
    plan.fit = &*fits_.try_emplace(FitKey{.idle = true, .needs = {}, .label = {}, .side = side}).first;
    return;
  }
  const bool one =
      plain && asked.required.count() <= 1 && !shape.overcommit && (single || (!shape.num_tasks && shape.min_nodes <= 1 && !shape.grow));
  plan.mode = one ? Mode::kOneNode : Mode::kSpread;
  const uint32_t tasks = one ? (shape.num_tasks ? shape.num_tasks : wanted_on_a_node(shape)) : wanted_on_a_node(shape);
  FitKey key{false,
             {},
             shape.whole,
             shape.exclusive_user,
             shape.exclusive_label,
             shape.oversubscribe ? shape.oversubscribe_count : 0,
             asked.uid,
             shape.mcs_label,
             side};
  key.needs.resize(asked.idle_tasks.size());
  for (uint32_t which = 0; which < key.needs.size(); ++which) {
    Need& need = key.needs[which];
    if (asked.idle_tasks[which] < tasks || asked.idle_tasks[which] == kNoTasks) continue;
    const Kind& kind = nodes_.kinds()[which];
    need.possible = true;
    need.tasks = tasks;
    uint64_t gpus = shape.gpus_per_node() + shape.gpus_per_task() * tasks;
    for (const GresNeed& g : shape.per_job) gpus += g.name == "gpu";
    need.units = shape.whole ? kind.units : units_for(shape, kind, tasks, gpus);
    need.open_only = keeps_from(shape, kind);
    if (shape.mem_consumable) need.mem_mb = memory_for(shape, kind, need.units, gpus);
    need.gres = devices_needed(shape, kind, tasks);
    if (const auto own = partitions_.need(asked, kind, need.units)) need.gres.push_back({{own->first}, own->second, false});
  }
  plan.fit = &*fits_.try_emplace(std::move(key)).first;
}

std::vector<Profile::Need::Devices> Profile::devices_needed(const Shape& shape, const Kind& kind, uint32_t tasks) {
  std::vector<GresNeed> all;
  for (const GresNeed& g : shape.per_node) all.push_back(g);
  for (const GresNeed& g : shape.per_task) all.push_back({g.name, g.type, mul_sat(g.count, tasks), g.one_device});
  for (const GresNeed& g : shape.per_job) all.push_back({g.name, g.type, 1, g.one_device});
  std::vector<Need::Devices> out;
  for (const GresNeed& g : all) {
    Need::Devices d;
    d.one = g.one_device;
    // A need without a type competes with all needs of that name.
    for (const GresNeed& o : all)
      if (o.name == g.name && (g.type.empty() || o.type == g.type)) d.count += o.count;
    for (uint32_t e = 0; e < kind.gres.size(); ++e)
      if (kind.gres[e].name == g.name && (g.type.empty() || kind.gres[e].type == g.type)) d.entries.push_back(e);
    out.push_back(std::move(d));
  }
  return out;
}

bool Profile::row_fits(const Need& need, const RequestClass& asked, uint32_t node, size_t row, const Amounts* kept) const {
  const NodeLine::Row& stretch = lines_[node].row(row);
  const std::span<const uint64_t> free = lines_[node].gres(row);
  const uint32_t units = units_for_job(asked, nodes_.kind(node), stretch, free), lost = kept ? kept->units : 0;
  if (units < lost || units - lost < need.units || stretch.mem_mb < need.mem_mb) return false;
  if (!may_share(asked, node, stretch.slot, stretch.jobs)) return false;
  if (need.gres.empty()) return true;
  for (const Need::Devices& d : need.gres) {
    uint64_t have = 0;
    for (uint32_t e : d.entries) {
      const uint64_t there = kept && e < kept->gres.size() ? free[e] - std::min(free[e], kept->gres[e]) : free[e];
      have = d.one ? std::max(have, there) : have + there;
    }
    if (have < d.count) return false;
  }
  return true;
}

std::optional<Amounts> Profile::kept_parts(const RequestClass& asked, uint32_t node, Slot first, Slot end) const {
  if (!asked.reserved) return std::nullopt;
  const auto at = asked.reserved->side->parts.find(node);
  if (at == asked.reserved->side->parts.end()) return std::nullopt;
  std::optional<Amounts> out;
  reserved_.each_part(at->second, first, end, [&](const NodeShare& share) {
    const Amounts one = amounts_of(share, Allocation{}, share.cpus, asked.partition);
    const size_t devices = nodes_.kind(node).gres.size();  // what partitions count stands behind them
    if (!out) out = Amounts{.gres = std::vector<uint64_t>(one.gres.size()), .sharing = {}};
    out->units += one.units;
    for (size_t g = 0; g < devices; ++g) out->gres[g] += one.gres[g];
  });
  return out;
}

void Profile::keep_out(const FitKey& key, const RequestClass& asked, uint32_t node, std::vector<Window>& windows) const {
  if (!key.side || windows.empty()) return;
  const ReservedSide& side = *asked.reserved->side;
  reserved_.cut_closed(side, node, windows);
  const auto parts = side.parts.find(node);
  if (parts == side.parts.end() || windows.empty()) return;
  const NodeLine& line = lines_[node];
  auto fits = [&](Slot at) {
    const auto kept = kept_parts(asked, node, at, at + 1);
    if (!kept) return true;
    return !key.idle && !asked.shape.whole && row_fits(key.needs[nodes_.kind_index(node)], asked, node, line.row_at(at), &*kept);
  };
  reserved_.cut_parts(parts->second, line, fits, windows);
}

void Profile::taken(const std::vector<uint32_t>& nodes, Slot first, Slot end) {
  for (uint32_t node : nodes) changes_.push_back({node, first, end});
}

void Profile::windows_on(const FitKey& key, const RequestClass& asked, uint32_t node, std::vector<Window>& out, Window within) const {
  out.clear();
  const NodeLine& line = lines_[node];
  if (!line.started()) return;
  if (key.idle) {
    find_windows(
        line, [&](size_t row) { return line.row(row).jobs == 0; }, out, within);
    return keep_out(key, asked, node, out);
  }
  const Need& need = key.needs[nodes_.kind_index(node)];
  if (!need.possible) return;
  find_windows(
      line, [&](size_t row) { return row_fits(need, asked, node, row); }, out, within);
  keep_out(key, asked, node, out);
}

std::vector<NodeWindow> Profile::windows_of(const FitKey& key, const RequestClass& c, const Bitmap& among) const {
  std::vector<NodeWindow> all;
  std::vector<Window> one;
  among.for_each([&](size_t id) {
    const auto node = static_cast<uint32_t>(id);
    windows_on(key, c, node, one);
    for (const Window& w : one) all.push_back({node, w});
  });
  return all;
}

// The need's line as it was brought up to date last: a node may have less room than it says, never more.
FitLine& Profile::line_built(const ClassPlan& plan, const RequestClass& c) {
  auto& [key, fit] = *plan.fit;
  if (fit.line.built()) return fit.line;
  size_t bytes = 0;
  for (const auto& [k, f] : fits_) bytes += f.line.bytes();
  if (bytes > kLineBytes)
    for (auto& [k, f] : fits_) f = {};
  fit.line.build(nodes_.size(), windows_of(key, c, nodes_.known()));
  fit.changes_seen = changes_.size();
  return fit.line;
}

// The need's line, brought up to date.
FitLine& Profile::line_of(const ClassPlan& plan, const RequestClass& asked) {
  FitLine& line = line_built(plan, asked);
  auto& [key, fit] = *plan.fit;
  if (fit.changes_seen == changes_.size()) return line;
  std::vector<Window> windows;
  std::vector<FitLine::Loss> losses;
  for (; fit.changes_seen < changes_.size(); ++fit.changes_seen) {
    const Change& change = changes_[fit.changes_seen];
    if (!key.idle && !key.needs[nodes_.kind_index(change.node)].possible) continue;  // it never had room
    if (!line.any(change.node, change.first, change.end)) continue;
    windows_on(key, asked, change.node, windows, {change.first, change.end});
    FitLine::losses_outside(change.node, change.first, change.end, windows, losses);
  }
  line.lose(std::move(losses));
  return line;
}

Slot Profile::find(const ClassPlan& plan, const RequestClass& c, const FitLine::Question& q, Bitmap& out) {
  auto& [key, fit] = *plan.fit;
  if (!fit.line.built() && ++fit.asked < kRare) return find_once(nodes_.size(), windows_of(key, c, q.among), q, out);
  return line_of(plan, c).find(q, out);
}

// The first slot at which some node of `among` has room; `node`: the first of them. What the line says is checked on the nodes that it
// names, so that most changes never have to be brought into it. Many changes at once, as gangs make them, cost less together.
Slot Profile::find_one(ClassPlan& plan, const RequestClass& asked, const Bitmap& among, uint32_t& node) {
  auto& [key, fit] = *plan.fit;
  if (!fit.line.built() && ++fit.asked < kRare) {
    Bitmap nodes;
    const Slot slot = find_once(nodes_.size(), windows_of(key, asked, among), {plan.cursor, plan.length, 1, among, Bitmap(), true}, nodes);
    if (slot != kNever) node = static_cast<uint32_t>(nodes.first());
    return slot;
  }
  FitLine& line = line_built(plan, asked);
  if (changes_.size() - fit.changes_seen > kMany) line_of(plan, asked);
  std::vector<Window> windows;
  while (true) {
    const Slot slot = line.find_one(plan.search, plan.cursor, plan.length, among, node);
    if (slot == kNever) return slot;
    windows_on(key, asked, node, windows, {slot, slot + plan.length});
    if (first_start(windows, slot, plan.length) == slot) return slot;
    windows_on(key, asked, node, windows, {slot, kNever});
    std::vector<FitLine::Loss> losses;
    FitLine::losses_outside(node, slot, kNever, windows, losses);
    line.lose(std::move(losses));
  }
}

Profile::Spot Profile::earliest(uint32_t class_id, uint32_t family, RequestClass& asked, Slot from, bool lasting) {
  if (class_id >= plans_.size()) plans_.resize(class_id + 1);
  if (family >= families_.size()) families_.resize(family + 1);
  ClassPlan& plan = plans_[class_id];
  plan.family = family;
  const Slot length = length_of(limit_of(asked));
  std::optional<Spot> spot;
  if (recalling_ && lasting) spot = memory_->recall(asked, from);
  if (spot) {
    plan.cursor = std::max(plan.cursor, spot->slot);
  } else {
    go_on_alone();
    if (!plan.ready) prepare(plan, asked);
    plan.cursor = std::max({plan.cursor, from, floor_of(families_[family], length)});
    spot = search_anew(plan, asked, length);
    if (memory_) memory_->learn(lasting ? &asked : nullptr, from, *spot);
  }
  raise_floor(families_[family], length, spot->slot);
  return std::move(*spot);
}

Profile::Spot Profile::search_anew(ClassPlan& plan, const RequestClass& asked, Slot length) {
  Spot spot;
  while (plan.cursor != kNever) {
    plan.length = far_.length(length, plan.cursor);  // never less than for the search before, which was for an earlier start
    spot = search(plan, asked);
    if (spot.slot >= reserved_.last_start(asked)) spot = {};
    if ((plan.cursor = spot.slot) == kNever) break;
    const Slot free = far_.start(site_earliest(asked, spot.slot, plan.length));
    if (free == spot.slot && plan.length == far_.length(length, free)) break;
    plan.cursor = free, spot = {};  // what else the job needs is free only later, or nobody is planned to start here
  }
  return spot;
}

Profile::Spot Profile::search(ClassPlan& plan, const RequestClass& c) {
  switch (plan.mode) {
    case Mode::kIdleNodes: return idle_nodes(plan, c);
    case Mode::kOneNode: return one_node(plan, c);
    case Mode::kSpread: break;
  }
  return spread(plan, c);
}

Slot Profile::floor_of(const Family& family, Slot length) {
  auto it = family.not_before.upper_bound(length);
  return it == family.not_before.begin() ? 1 : std::prev(it)->second;
}

void Profile::raise_floor(Family& family, Slot length, Slot slot) {
  if (floor_of(family, length) >= slot) return;
  auto it = family.not_before.insert_or_assign(length, slot).first;
  for (++it; it != family.not_before.end() && it->second <= slot;) it = family.not_before.erase(it);
}

Profile::Spot Profile::idle_nodes(ClassPlan& plan, const RequestClass& asked) {
  Spot spot;
  Bitmap nodes(nodes_.size());
  const bool first_only = !params_.bf.busy_nodes && asked.required.none();
  if (first_only && plan.count == 1) {
    uint32_t only = 0;
    spot.slot = find_one(plan, asked, asked.feasible, only);
    nodes.set(only);
  } else {
    spot.slot = find(plan, asked, {plan.cursor, plan.length, plan.count, asked.feasible, asked.required, first_only}, nodes);
  }
  if (spot.slot == kNever) return spot;
  std::vector<uint32_t> chosen, caps;
  asked.required.for_each([&](size_t id) { chosen.push_back(static_cast<uint32_t>(id)); });
  auto choose = [&](const Bitmap& from) {
    for (size_t id = from.first(); id != Bitmap::npos && chosen.size() < plan.count; id = from.next(id + 1))
      if (!asked.required.test(id)) chosen.push_back(static_cast<uint32_t>(id));
  };
  if (params_.bf.busy_nodes) choose(nodes - nodes_.idle());
  choose(params_.bf.busy_nodes ? nodes & nodes_.idle() : nodes);
  std::sort(chosen.begin(), chosen.end());
  std::vector<uint32_t> tasks(chosen.size(), std::max(asked.shape.tasks_per_node, 1u));
  if (asked.shape.num_tasks) {
    for (uint32_t id : chosen) caps.push_back(asked.idle_tasks[nodes_.kind_index(id)]);
    tasks = spread_tasks(caps, asked.shape.num_tasks, !asked.shape.pack_nodes);
  }
  for (size_t i = 0; i < chosen.size(); ++i) spot.parts.push_back({chosen[i], tasks[i], {}});
  return spot;
}

Profile::Spot Profile::one_node(ClassPlan& plan, const RequestClass& c) {
  Spot spot;
  uint32_t id = 0;
  spot.slot = find_one(plan, c, c.required.any() ? c.required : c.feasible, id);
  if (spot.slot == kNever) return spot;
  spot.parts.push_back({id, plan.fit->first.needs[nodes_.kind_index(id)].tasks, {}});
  return spot;
}

}  // namespace muster::sched
