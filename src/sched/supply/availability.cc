#include "sched/supply/availability.h"

#include <algorithm>

namespace muster::sched {
namespace {

constexpr uint32_t kForbidding = kNodeDrain | kNodeFail | kNodeNoRespond | kNodeInvalid | kNodeCompleting | kNodePoweringDown |
                                 kNodePowerDownRequested | kNodeRebootIssued | kNodeMaint | kNodeBlocked;

std::string kind_key(const Kind& kind) {
  std::string key;
  auto num = [&](uint64_t v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
  for (uint64_t v : {kind.sockets, kind.cores_per_socket, kind.threads, kind.cpus, kind.cores, kind.spec_threads, kind.units}) num(v);
  num(kind.mem_mb);
  num(kind.tmp_disk_mb);
  auto bits = [&](const Bitmap& b) {
    num(b.count());
    b.for_each([&](size_t i) { num(i); });
  };
  bits(kind.specialized);
  bits(kind.restricted);
  for (const GresDevices& devices : kind.gres) {
    key += devices.name;
    key += '\0';
    key += devices.type;
    key += '\0';
    num(devices.count);
    num(devices.first_index);
    num(devices.count_only);
    num(devices.flags);
    num(devices.shared);
    bits(devices.cores);
    for (int32_t link : devices.links) num(static_cast<uint64_t>(link));
    num(devices.links.size());
  }
  return key;
}

// Keeps the first `per_gpu` cores of each GPU's own for it, each core for one GPU only.
void restrict_cores(Kind& kind, uint32_t per_gpu, bool whole_cores) {
  for (const GresDevices& devices : kind.gres) {
    if (devices.name != "gpu" || devices.cores.none()) continue;
    for (size_t gpu = devices.first_index; gpu < devices.first_index + devices.count; ++gpu) {
      uint32_t left = per_gpu;
      for (uint32_t core = 0; core < kind.cores && left > 0; ++core) {
        const bool there = !kind.specialized.test(size_t{core} * kind.threads);
        if (!devices.cores.test(core) || kind.restricted.test(core) || !there) continue;
        kind.restricted.set(core);
        if (kind.restricted_of.size() <= gpu) kind.restricted_of.resize(gpu + 1);
        kind.restricted_of[gpu].set(core);
        --left;
      }
    }
  }
  const auto n = static_cast<uint32_t>(kind.restricted.count());
  kind.restricted_units = whole_cores ? n : n * kind.threads;
}

const GresDevices* found_at(const std::vector<GresDevices>& found, const GresDevices& g, uint32_t index) {
  for (const GresDevices& h : found) {
    const uint64_t devices = h.shared ? 1 : h.count;
    if (h.name == g.name && h.type == g.type && index >= h.first_index && index - h.first_index < devices) return &h;
  }
  return nullptr;
}

// Devices configured without Cores have the cores that the node found (AutoDetect), device by device.
void add_devices(std::vector<GresDevices>& out, GresDevices line, const std::vector<GresDevices>* found) {
  line.files.clear();
  if (!found || line.cores.any() || line.count_only || line.count == 0) {
    out.push_back(std::move(line));
    return;
  }
  const uint64_t devices = line.shared ? 1 : line.count;
  const size_t before = out.size();
  for (uint32_t index = line.first_index; index - line.first_index < devices; ++index) {
    const GresDevices* have = found_at(*found, line, index);
    const Bitmap cores = have ? have->cores : Bitmap();
    const std::vector<int32_t>& links = have && line.links.empty() ? have->links : line.links;
    if (out.size() > before && out.back().cores == cores && out.back().links == links) {
      ++out.back().count;
      continue;
    }
    out.push_back(line);
    out.back().first_index = index;
    out.back().cores = cores;
    out.back().links = links;
    if (!line.shared) out.back().count = 1;
  }
}

}  // namespace

bool counts_as_powered(const Node& node) {
  if (!node.spec || node.admin == NodeState::kFuture || node.spec->external) return false;
  return !(node.flags & kNodePoweredDown) || node.has_jobs();
}

bool node_usable(const Node& node) { return node_usable_but_for(node, 0); }

bool node_usable_but_for(const Node& node, uint32_t flags) {
  if (!node.spec || node.admin != NodeState::kIdle || (node.flags & kForbidding & ~flags)) return false;
  return node.hardware || (node.flags & (kNodePoweredDown | kNodePoweringUp));
}

Kind make_kind(const Node& node, bool whole_cores) {
  const NodeSpec& spec = *node.spec;
  Kind kind;
  kind.cpus = std::max(spec.cpus, 1u);
  kind.sockets = std::max(spec.sockets, 1u);
  kind.cores_per_socket = std::max(spec.cores_per_socket, 1u);
  kind.spec_threads = std::max(spec.threads_per_core, 1u);
  const uint64_t cores = static_cast<uint64_t>(kind.sockets) * kind.cores_per_socket;
  if (cores <= kind.cpus && kind.cpus % cores == 0) {
    kind.cores = static_cast<uint32_t>(cores);
    kind.threads = kind.cpus / kind.cores;
  } else {
    // Where CPUs do not agree with sockets and cores, they count as one flat socket.
    kind.sockets = 1;
    kind.cores_per_socket = kind.cores = kind.cpus;
    kind.threads = 1;
  }
  kind.mem_mb = spec.real_memory_mb > spec.specialized_mem_mb ? spec.real_memory_mb - spec.specialized_mem_mb : 0;
  kind.tmp_disk_mb = spec.tmp_disk_mb;
  kind.specialized = spec.specialized_cpus;
  for (const GresDevices& g : spec.gres) add_devices(kind.gres, g, node.hardware ? &node.hardware->gres : nullptr);
  kind.units = free_units(kind, Bitmap(), whole_cores);
  restrict_cores(kind, spec.restricted_cores_per_gpu, whole_cores);
  return kind;
}

uint32_t free_units(const Kind& k, const Bitmap& used, bool whole_cores) {
  if (!whole_cores || k.threads == 1) {
    size_t taken = used.count() + k.specialized.count() - used.count_and(k.specialized);
    return k.cpus > taken ? k.cpus - static_cast<uint32_t>(taken) : 0;
  }
  Bitmap taken = used | k.specialized;
  uint32_t busy_cores = 0;
  for (size_t cpu = taken.first(); cpu != Bitmap::npos && cpu < k.cpus; cpu = taken.next((cpu / k.threads + 1) * k.threads)) ++busy_cores;
  return k.cores - busy_cores;
}

uint32_t open_units(const Kind& k) { return k.units - std::min(k.units, k.restricted_units); }

uint32_t units_opened(const Kind& k, uint64_t gpus) {
  if (k.restricted.none()) return 0;
  std::vector<size_t> cores;
  for (const Bitmap& of : k.restricted_of) cores.push_back(of.count());
  std::sort(cores.rbegin(), cores.rend());
  cores.resize(std::min<uint64_t>(cores.size(), gpus));
  uint32_t n = 0;
  for (size_t each : cores) n += static_cast<uint32_t>(each);
  return n * (k.restricted_units / static_cast<uint32_t>(k.restricted.count()));
}

Bitmap restricted_cpus(const Kind& k, const Bitmap& gpus) {
  Bitmap cores = k.restricted, out(k.cpus);
  gpus.for_each([&](size_t gpu) {
    if (gpu < k.restricted_of.size()) cores -= k.restricted_of[gpu];
  });
  cores.for_each([&](size_t core) { out.set_range(core * k.threads, (core + 1) * k.threads); });
  return out;
}

namespace {

// For shares of one GPU: all are taken when the GPU is held whole or in shares of another kind.
uint64_t shares_taken(const GresDevices& g, const std::vector<GresShare>& used) {
  uint64_t taken = 0;
  for (const GresShare& u : used) {
    const bool other_form = u.name == "gpu" || is_shared_gres(u.name);
    if (u.name == g.name && shares_one_gpu(g) && u.devices.any() && !u.devices.test(g.first_index)) return g.count;
    if (u.name == g.name) taken += u.shares_on(g.first_index);
    else if (other_form && u.devices.test(g.first_index)) return g.count;
  }
  return taken;
}

uint64_t devices_taken(const GresDevices& g, const std::vector<GresShare>& used) {
  Bitmap taken;
  for (const GresShare& u : used)
    if (u.name == g.name || (g.name == "gpu" && is_shared_gres(u.name))) taken |= u.devices;
  uint64_t n = 0;
  for (size_t d = taken.next(g.first_index); d != Bitmap::npos && d < g.first_index + g.count; d = taken.next(d + 1)) ++n;
  return n;
}

}  // namespace

void free_gres(const Kind& kind, const std::vector<GresShare>& used, uint64_t* out) {
  for (size_t index = 0; index < kind.gres.size(); ++index) {
    const GresDevices& devices = kind.gres[index];
    uint64_t taken = 0;
    if (used.empty() || (devices.flags & kGresNoConsume)) {
    } else if (devices.shared) {
      taken = shares_taken(devices, used);
    } else if (devices.count_only) {
      for (const GresShare& u : used)
        if (u.name == devices.name && u.type == devices.type) taken += u.count;
    } else {
      taken = devices_taken(devices, used);
    }
    out[index] = devices.count > taken ? devices.count - taken : 0;
  }
}

NodeUse use_of(const Node& node) { return {node.cpus_used, node.cpus_shared, {}, node.mem_used_mb, node.gres_used, {}}; }

void add_share(NodeUse& use, const NodeShare& share) {
  hold_cpus(use.cpus, use.cpus_shared, share.cpus);
  use.mem_mb += share.mem_mb;
  for (const GresShare& g : share.gres) add_gres(use.gres, g);
}

void Availability::grow(uint32_t size) {
  if (size <= kind_.size()) return;
  kind_.resize(size, kNoKind);
  units_free_.resize(size, 0);
  weight_.resize(size, 1);
  gres_at_.resize(size, 0);
  mem_free_.resize(size, 0);
  for (Bitmap* b : {&known_, &usable_, &idle_, &asleep_, &powered_down_, &powered_up_, &owned_, &shared_}) b->resize(size);
  for (Bitmap& b : by_units_) b.resize(size);
}

void Availability::update(const PersistentMap<Node>& nodes, const Params& params, bool ideal) {
  const bool whole_cores = params.allocate_cores || params.linear;
  const bool same = changeable_ == params.changeable || (changeable_ && params.changeable && *changeable_ == *params.changeable);
  if (!started_ || whole_cores != whole_cores_ || ideal != ideal_ || !same) {
    *this = Availability();
    changeable_ = params.changeable;
    started_ = true;
    whole_cores_ = whole_cores;
    ideal_ = ideal;
  }
  if (!nodes.empty()) grow(nodes.last_key() + 1);
  const uint32_t room = room_to_wake();
  max_powered_ = params.max_powered_nodes;
  room_kept_ = false;
  woken_.clear();
  const std::map<uint32_t, Laid> laid = std::exchange(overlay_, {});
  PersistentMap<Node> before = std::move(nodes_);
  nodes_ = nodes;
  for (const auto& [id, was] : laid) refresh(id, nodes_.find(id), was.use);
  PersistentMap<Node>::diff(before, nodes, [&](uint32_t id, const Node* was, const Node* now) {
    if (was && now && was->extra != now->extra) ++extra_version_;
    if (!laid.contains(id)) refresh(id, now, was ? use_of(*was) : NodeUse());
  });
  if (room_to_wake() > room) ++freed_;
}

uint32_t Availability::kind_for(const Node& node) {
  // A spec seen before is found by its pointer, unless some of its devices have no cores: then the kind also depends on what the node found.
  auto known = kind_of_spec_.find(node.spec.get());
  bool plain = std::none_of(node.spec->gres.begin(), node.spec->gres.end(), [](const auto& g) { return g.cores.none(); });
  if (known != kind_of_spec_.end() && plain) return known->second.second;
  Kind kind = make_kind(node, whole_cores_);
  auto [it, fresh] = kind_index_.try_emplace(kind_key(kind), static_cast<uint32_t>(kinds_.size()));
  if (fresh) {
    if (kind.units + 1 > by_units_.size()) {
      by_units_.resize(kind.units + 1, Bitmap(kind_.size()));
      count_by_units_.resize(kind.units + 1, 0);
    }
    kinds_.push_back(std::move(kind));
    of_kind_.emplace_back(kind_.size());
  }
  if (plain) kind_of_spec_[node.spec.get()] = {node.spec, it->second};
  return it->second;
}

void Availability::set_units(uint32_t id, uint32_t units) {
  const uint32_t old = units_free_[id];
  if (old < by_units_.size() && by_units_[old].test(id)) {
    by_units_[old].reset(id);
    --count_by_units_[old];
  }
  units_free_[id] = units;
  if (usable_.test(id)) {
    by_units_[units].set(id);
    ++count_by_units_[units];
  }
}

void Availability::forget(uint32_t id) {
  if (id >= kind_.size() || kind_[id] == kNoKind) return;
  usable_.reset(id);
  set_units(id, 0);
  for (Bitmap* b : {&known_, &idle_, &asleep_, &powered_down_, &powered_up_, &owned_, &shared_}) b->reset(id);
  owners_.erase(id);
  of_kind_[kind_[id]].reset(id);
  for (auto& [name, nodes] : features_) nodes.reset(id);
  for (auto& [name, nodes] : possible_) nodes.reset(id);
  kind_[id] = kNoKind;
  tiers_stale_ = true;
  ++shape_version_;
}

namespace {

// Makes the node's bits those of the list; false: they were.
bool set_bits(std::map<std::string, Bitmap>& index, uint32_t id, const std::vector<std::string>& names) {
  bool changed = false;
  for (auto& [name, nodes] : index)
    if (nodes.test(id) && std::ranges::find(names, name) == names.end()) {
      nodes.reset(id);
      changed = true;
    }
  for (const std::string& name : names) {
    Bitmap& nodes = index[name];
    changed |= !nodes.test(id);
    nodes.set(id);
  }
  return changed;
}

}  // namespace

bool Availability::note_features(uint32_t id, const Node& node) {
  const bool changed = set_bits(features_, id, node.features_active);
  return (changeable_ && set_bits(possible_, id, changeable_->only(available_features(node)))) || changed;
}

Bitmap Availability::could_have(const std::string& name) const {
  Bitmap out(size());
  if (const Bitmap* active = feature(name)) out |= *active;
  if (auto at = possible_.find(name); at != possible_.end()) out |= at->second;
  return out;
}

void Availability::refresh(uint32_t id, const Node* node, const NodeUse& was) {
  ++changed_;
  if (!node || !node->spec || node->admin == NodeState::kFuture) return forget(id);
  const uint32_t kind = kind_for(*node);
  const uint32_t weight = node->weight;
  const bool usable = ideal_ || node_usable(*node), asleep = !ideal_ && (node->flags & (kNodePoweredDown | kNodePoweringUp));
  const bool is_new = kind_[id] == kNoKind;
  if (kind_[id] != kind) {
    if (!is_new) of_kind_[kind_[id]].reset(id);
    kind_[id] = kind;
    of_kind_[kind].set(id);
    gres_at_[id] = static_cast<uint32_t>(gres_free_.size());
    gres_free_.resize(gres_free_.size() + kinds_[kind].gres.size());
    ++shape_version_;
  }
  known_.set(id);
  if (is_new || usable != usable_.test(id) || asleep != asleep_.test(id) || weight != weight_[id]) tiers_stale_ = true;
  if (usable && !usable_.test(id)) ++freed_;
  weight_[id] = weight;
  usable_.assign(id, usable);
  asleep_.assign(id, asleep);
  const bool powered = ideal_ || counts_as_powered(*node);
  powered_up_.assign(id, powered);
  powered_down_.assign(id, !powered && (node->flags & kNodePoweredDown));
  if (note_features(id, *node)) ++shape_version_;
  count_free(id, *node, was);
}

namespace {

// Whether anything that was held is held no longer, whatever else was taken since. Counts alone do not show that one job ended and another
// began between two looks.
bool gives_back(const NodeUse& was, const Node& now) {
  if (was.mem_mb > now.mem_used_mb || !now.cpus_used.contains(was.cpus)) return true;
  for (size_t level = 0; level < was.cpus_shared.size(); ++level) {
    const bool there = level < now.cpus_shared.size();
    if (there ? !now.cpus_shared[level].contains(was.cpus_shared[level]) : was.cpus_shared[level].any()) return true;
  }
  return std::any_of(was.gres.begin(), was.gres.end(), [&](const GresShare& w) {
    auto it =
        std::find_if(now.gres_used.begin(), now.gres_used.end(), [&](const GresShare& n) { return n.name == w.name && n.type == w.type; });
    if (it == now.gres_used.end()) return true;
    bool less = w.count > it->count || !it->devices.contains(w.devices);
    if (!w.shares.empty()) w.devices.for_each([&](size_t d) { less |= w.shares_on(d) > it->shares_on(d); });
    return less;
  });
}

}  // namespace

void Availability::count_free(uint32_t id, const Node& node, const NodeUse& was) {
  const Kind& kind = kinds_[kind_[id]];
  if (ideal_) {
    free_gres(kind, {}, gres_free_.data() + gres_at_[id]);
    set_units(id, kind.units);
    mem_free_[id] = kind.mem_mb;
    idle_.set(id);
    return;
  }
  const uint32_t units = node.whole_node_jobs > 0 ? 0 : free_units(kind, node.cpus_used, whole_cores_);
  const uint64_t mem = kind.mem_mb > node.mem_used_mb ? kind.mem_mb - node.mem_used_mb : 0;
  bool freed = units > units_free_[id] || mem > mem_free_[id] || gives_back(was, node);
  free_gres(kind, node.gres_used, gres_free_.data() + gres_at_[id]);
  set_units(id, units);
  mem_free_[id] = mem;
  note_depth(node.by_partition.size(), node.cpus_shared.size());
  // A job that is suspended keeps its memory and devices, and a job that wants the whole node wants those, too.
  const bool keeps = node.jobs_off > 0 && (node.mem_used_mb > 0 || !node.gres_used.empty());
  const bool idle = node.jobs_running == 0 && node.jobs_completing == 0 && node.cpus_used.none() && !keeps;
  freed |= set_owner(id, owner_of(node));
  freed |= idle && !idle_.test(id);
  const bool shared = node.shared_jobs > 0 && node.shared_jobs >= node.jobs_running;
  freed |= shared && !shared_.test(id);
  if (freed) ++freed_;
  idle_.assign(id, idle);
  shared_.assign(id, shared);
}

NodeUse Availability::use(uint32_t id) const {
  if (auto it = overlay_.find(id); it != overlay_.end()) return it->second.use;
  const Node* n = nodes_.find(id);
  return !n || ideal_ ? NodeUse() : use_of(*n);
}

// Returns whether the node is no longer kept as it was, so that somebody else may have found a place.
bool Availability::set_owner(uint32_t id, NodeOwner owner) {
  bool released = false;
  if (auto was = owners_.find(id); was != owners_.end()) {
    released = !(was->second == owner);
    owners_.erase(was);
  }
  owned_.assign(id, owner.kept());
  if (owner.kept()) owners_.emplace(id, std::move(owner));
  return released;
}

const NodeOwner& Availability::kept_for(uint32_t id) const {
  static const NodeOwner kNobody;
  if (auto it = overlay_.find(id); it != overlay_.end()) return it->second.owner;
  auto it = owners_.find(id);
  return it == owners_.end() ? kNobody : it->second;
}

const std::vector<PartitionUse>& Availability::by_partition(uint32_t id) const {
  static const std::vector<PartitionUse> kNothing;
  if (auto it = overlay_.find(id); it != overlay_.end()) return it->second.by_partition;
  const Node* n = nodes_.find(id);
  return !n || ideal_ ? kNothing : n->by_partition;
}

void Availability::note_depth(size_t partitions, size_t levels) {
  if (partitions > 0) most_on_a_cpu_ = std::max(most_on_a_cpu_, static_cast<uint32_t>(levels) + 1);
}

// The held CPUs that the job cannot share: those with too many jobs, with as many jobs of its own partition as may be, or with a job of a
// partition that is no peer.
Bitmap Availability::closed_to(uint32_t id, const NodeUse& use, const Onlooker& job) const {
  Bitmap out = job.others <= use.cpus_shared.size() ? use.cpus_shared[job.others - 1] : Bitmap();
  for (const PartitionUse& u : by_partition(id)) {
    if (u.partition != job.partition) {
      if (!job.peers || !job.peers->test(u.partition)) out |= u.cpus;
    } else if (job.most < 2) {
      out |= u.cpus;
    } else if (job.most - 2 < u.cpus_shared.size()) {
      out |= u.cpus_shared[job.most - 2];
    }
  }
  return out;
}

NodeUse Availability::use_for(uint32_t id, const Onlooker& job) const {
  NodeUse out = use(id);
  if (job.limit.concerns())
    if (const PartitionUse* own = use_of_partition(by_partition(id), job.partition)) out.of_partition = own->cpus;
  if (job.others == 0) return out;
  out.busy = out.cpus;
  out.cpus = closed_to(id, out, job);
  out.cpus_shared.clear();
  return out;
}

uint32_t Availability::units_for(uint32_t id, const Onlooker& job) const {
  const Kind& k = kind(id);
  uint32_t units = units_free(id);
  if (job.others > 0) units = free_units(k, closed_to(id, use(id), job), whole_cores_);
  if (!job.limit.concerns()) return units;
  const PartitionUse* own = use_of_partition(by_partition(id), job.partition);
  const uint64_t left = job.limit.left(k.sockets, k.cpus, own ? own->cpus : Bitmap());
  return static_cast<uint32_t>(std::min<uint64_t>(units, whole_cores_ ? left / k.threads : left));
}

const std::vector<Bitmap>& Availability::tiers() {
  if (!tiers_stale_) return tiers_;
  tiers_stale_ = false;
  std::map<uint64_t, Bitmap> by_order;
  Bitmap* tier = nullptr;
  uint64_t tiers_order = 0;
  usable_.for_each([&](size_t id) {
    const uint64_t order = (asleep_.test(id) ? 1ull << 32 : 0) | weight_[id];
    if (!tier || order != tiers_order) tier = &by_order.try_emplace(order, kind_.size()).first->second;  // neighbours mostly are in one
    tiers_order = order;
    tier->set(id);
  });
  tiers_.clear();
  for (auto& [order, nodes] : by_order) tiers_.push_back(std::move(nodes));
  return tiers_;
}

const Bitmap* Availability::feature(const std::string& name) const {
  auto it = features_.find(name);
  return it == features_.end() || it->second.none() ? nullptr : &it->second;
}

// What the node holds together with what the pass laid over it.
Availability::Laid& Availability::laid_over(uint32_t id) {
  auto [it, fresh] = overlay_.try_emplace(id);
  if (fresh && !ideal_)
    if (const Node* n = nodes_.find(id))
      it->second = {use_of(*n), owner_of(*n), n->by_partition, n->jobs_running, n->jobs_completing, n->whole_node_jobs, n->shared_jobs};
  return it->second;
}

void Availability::fence(uint32_t id) {
  if (id >= size() || !known_.test(id)) return;
  ++changed_;
  laid_over(id);
  set_units(id, 0);
  usable_.reset(id);
}

uint32_t Availability::room_to_wake() const {
  if (!max_powered_) return kUnlimited32;
  return room_kept_ ? 0 : *max_powered_ - std::min(*max_powered_, powered());
}

std::string Availability::said_of_room_to_wake() const {
  const uint32_t most = max_powered_.value_or(kUnlimited32), now = powered();
  return std::to_string(now) + (now == 1 ? " node is" : " nodes are") + " powered up, of " + std::to_string(most) +
         " that may be (max_powered_nodes)" + (room_kept_ && now < most ? "; the others are for a job ahead" : "");
}

void Availability::consume(const NodeShare& share, const Allocation& of, Uid owner, uint32_t partition) {
  ++changed_;
  const uint32_t id = share.node.value;
  if (partition != Cluster::kNoPartition && (powered_down_.test(id) || woken_.contains(id))) {  // what a reservation keeps wakes nobody
    ++woken_[id];
    powered_down_.reset(id);
  }
  Laid& laid = laid_over(id);
  add_share(laid.use, share);
  ++laid.jobs;
  laid.whole += of.whole_nodes;
  laid.sharing += of.oversubscribe;
  hold_cpus_of(laid.by_partition, partition, share.cpus);
  note_depth(laid.by_partition.size(), laid.use.cpus_shared.size());
  const Kind& k = kinds_[kind_[id]];
  set_units(id, of.whole_nodes ? 0 : free_units(k, laid.use.cpus, whole_cores_));
  mem_free_[id] = mem_free_[id] > share.mem_mb ? mem_free_[id] - share.mem_mb : 0;
  if (!share.gres.empty()) free_gres(k, laid.use.gres, gres_free_.data() + gres_at_[id]);
  shared_.assign(id, of.oversubscribe && (idle_.test(id) || shared_.test(id)));
  idle_.reset(id);
  if (of.exclusive_user) laid.owner.user = owner;
  if (!of.mcs_label.empty()) laid.owner.label = of.mcs_label;
  if (laid.owner.kept()) owned_.set(id);
}

void Availability::give_back(const NodeShare& share, const Allocation& of, uint32_t partition) {
  ++changed_;
  ++freed_;
  const uint32_t id = share.node.value;
  if (auto at = woken_.find(id); partition != Cluster::kNoPartition && at != woken_.end() && --at->second == 0) {
    woken_.erase(at);
    powered_down_.set(id);
  }
  const Kind& kind = kinds_[kind_[id]];
  Laid& laid = laid_over(id);
  free_cpus(laid.use.cpus, laid.use.cpus_shared, share.cpus);
  free_cpus_of(laid.by_partition, partition, share.cpus);
  laid.use.mem_mb -= std::min(laid.use.mem_mb, share.mem_mb);
  for (const GresShare& g : share.gres) remove_gres(laid.use.gres, g);
  auto one_less = [](uint32_t& n, bool it_is) { n -= std::min<uint32_t>(n, it_is); };
  one_less(laid.jobs, true);
  one_less(laid.whole, of.whole_nodes);
  one_less(laid.sharing, of.oversubscribe);
  set_units(id, laid.whole > 0 ? 0 : free_units(kind, laid.use.cpus, whole_cores_));
  mem_free_[id] = kind.mem_mb - std::min(kind.mem_mb, laid.use.mem_mb);
  free_gres(kind, laid.use.gres, gres_free_.data() + gres_at_[id]);
  shared_.assign(id, laid.sharing > 0 && laid.sharing >= laid.jobs);
  idle_.assign(id, laid.jobs + laid.completing == 0 && laid.use.cpus.none() && laid.use.gres.empty());
  if (laid.jobs + laid.completing == 0) laid.owner = {};
  owned_.assign(id, laid.owner.kept());
}

}  // namespace muster::sched
