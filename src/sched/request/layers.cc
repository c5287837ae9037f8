#include "sched/request/layers.h"

#include <algorithm>

#include "base/saturating.h"

namespace muster::sched {
namespace {

size_t first_layer(const Params& params) { return params.licenses.size() - params.layers; }

const Hres* hierarchy(const Params& params, const std::string& name) {
  return params.hierarchies ? params.hierarchies->find(name) : nullptr;
}

std::string in_words(const HresLayer& layer) { return "layer " + std::string(PoolName::of(layer.name).nodes); }

std::string counted(uint64_t count) { return count == HresLayer::kEndless ? "endless" : std::to_string(count); }

}  // namespace

void set_layers(Params& params, HierarchiesPtr hierarchies) {
  params.licenses.resize(first_layer(params));
  params.layers = 0;
  params.hierarchies = std::move(hierarchies);
  if (!params.hierarchies) return;
  for (const Hres& h : params.hierarchies->all)
    for (const HresLayer& l : h.layers) params.licenses.emplace_back(l.name, l.for_jobs());
  params.layers = params.hierarchies->layers();
}

bool asks_layers(const Params& params, const LicenseNeeds& needs) {
  return params.hierarchies && std::ranges::any_of(needs.list, [&](const LicenseShare& l) { return hierarchy(params, l.name); });
}

std::vector<LicenseShare> plain_licenses(const Params& params, const LicenseNeeds& needs) {
  if (!params.hierarchies) return needs.list;
  std::vector<LicenseShare> out;
  std::ranges::copy_if(needs.list, std::back_inserter(out), [&](const LicenseShare& l) { return !hierarchy(params, l.name); });
  return out;
}

Result<> layers_could_ever(const Params& params, const LicenseNeeds& needs, uint32_t nodes) {
  const Hres* sum = nullptr;
  for (const LicenseShare& asked : needs.list) {
    if (names_layer(asked.name))
      return fail(Errc::kLicenses, {}, "\"" + asked.name + "\": a job asks for the resource, which layer it is from depends on its nodes");
    if (const size_t mark = asked.name.find(':'); mark != asked.name.npos) {
      const Hres* h = hierarchy(params, asked.name.substr(0, mark));
      const std::string of = h ? "resources.yaml has no such variable of it" : "the count is no number";
      return fail(Errc::kLicenses, {}, "\"" + asked.name + "\": " + of);
    }
    const Hres* h = hierarchy(params, asked.name);
    if (!h) continue;
    if (needs.any) return fail(Errc::kLicenses, {}, h->name + " is a hierarchical resource, which cannot be one of several (a|b)");
    if (h->mode != HresMode::kSum) continue;
    if (sum) return fail(Errc::kLicenses, {}, "only one resource of MODE_3 may be asked for, not " + sum->name + " and " + h->name);
    sum = h;
  }
  if (!asks_layers(params, needs)) return {};
  const LayerRoom room(params, needs, [&](size_t i) { return params.licenses[i].second; });
  if (room.most_of(room.open()) >= std::max(nodes, 1u)) return {};
  return fail(Errc::kLicenses, {}, room.lacking(nodes));
}

std::vector<LicenseShare> layers_left(const Params& params, const Allocation& held, const Bitmap& nodes) {
  if (!params.hierarchies) return held.licenses;
  Bitmap before;
  for (const NodeShare& s : held.nodes) before.set(s.node.value);
  std::vector<LicenseShare> out;
  for (LicenseShare share : held.licenses) {
    const Hres* hres = hierarchy(params, std::string(PoolName::of(share.name).resource));
    const HresLayer* layer = nullptr;
    if (hres)
      for (const HresLayer& one : hres->layers)
        if (one.name == share.name) layer = &one;
    if (layer && hres->mode == HresMode::kAll && !layer->nodes.intersects(nodes)) continue;
    if (layer && hres->mode == HresMode::kSum) {
      const size_t had = before.count_and(layer->nodes);
      if (had) share.count = share.count / had * layer->nodes.count_and(nodes);
      if (!share.count) continue;
    }
    out.push_back(std::move(share));
  }
  return out;
}

LayerRoom::LayerRoom(const Params& params, const LicenseNeeds& needs, const std::function<uint64_t(size_t)>& free)
    : all_(params.hierarchies) {
  for (const LicenseShare& l : needs.list) {
    size_t at = first_layer(params);
    for (const Hres& h : all_->all) {
      if (h.name == l.name && l.count > 0) {
        Need need{&h, at, l.count, {}};
        for (size_t i = 0; i < h.layers.size(); ++i) need.free.push_back(free(at + i));
        needs_.push_back(std::move(need));
      }
      at += h.layers.size();
    }
  }
  for (const Need& need : needs_) {
    if (need.of->mode == HresMode::kSum) sum_ = &need;
    if (&need == &needs_.front()) open_ = open_of(need);
    else open_ &= open_of(need);
  }
}

Bitmap LayerRoom::open_of(const Need& need) const {
  const auto& layers = need.of->layers;
  Bitmap out = need.of->mode == HresMode::kOne ? Bitmap() : need.of->nodes();
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool enough = need.free[i] >= need.count;
    if (need.of->mode == HresMode::kOne) {
      if (enough) out |= layers[i].nodes;
    } else if (!enough) {
      out -= layers[i].nodes;
    }
  }
  return out;
}

bool LayerRoom::has_room_for(const Bitmap& nodes) const {
  if (!open_.contains(nodes)) return false;
  if (!sum_) return true;
  for (size_t i = 0; i < sum_->free.size(); ++i)
    if (sum_->free[i] / sum_->count < nodes.count_and(sum_->of->layers[i].nodes)) return false;
  return true;
}

Bitmap LayerRoom::take(std::span<const uint32_t> in_order) const {
  Bitmap out;
  std::vector<uint64_t> left;
  if (sum_)
    for (const uint64_t free : sum_->free) left.push_back(free / sum_->count);
  for (const uint32_t node : in_order) {
    if (!open_.test(node) || out.test(node)) continue;
    bool room = true;
    for (size_t i = 0; i < left.size() && room; ++i) room = left[i] > 0 || !sum_->of->layers[i].nodes.test(node);
    if (!room) continue;
    for (size_t i = 0; i < left.size(); ++i)
      if (sum_->of->layers[i].nodes.test(node)) --left[i];
    out.set(node);
  }
  return out;
}

size_t LayerRoom::most_of(const Bitmap& nodes) const {
  const Bitmap there = nodes & open_;
  if (!sum_ || has_room_for(there)) return there.count();
  std::vector<uint32_t> order;
  there.for_each([&](size_t n) { order.push_back(static_cast<uint32_t>(n)); });
  return take(order).count();
}

// Which layer a job of MODE_1 on these nodes draws from.
std::optional<size_t> LayerRoom::drawn_from(const Need& need, const Bitmap& nodes) const {
  std::optional<size_t> best;
  size_t most = 0;
  for (size_t i = 0; i < need.free.size(); ++i) {  // the smallest first
    if (need.free[i] < need.count) continue;
    const size_t common = need.of->layers[i].nodes.count_and(nodes);
    if (common > most) most = common, best = i;
  }
  return best;
}

std::optional<std::vector<std::pair<size_t, uint64_t>>> LayerRoom::amounts(const Bitmap& nodes) const {
  std::vector<std::pair<size_t, uint64_t>> out;
  if (!open_.contains(nodes)) return std::nullopt;
  for (const Need& need : needs_) {
    if (need.of->mode == HresMode::kOne) {
      const auto layer = drawn_from(need, nodes);
      if (!layer) return std::nullopt;
      out.emplace_back(need.first + *layer, need.count);
      continue;
    }
    for (size_t i = 0; i < need.free.size(); ++i) {
      const size_t common = need.of->layers[i].nodes.count_and(nodes);
      if (!common) continue;
      const uint64_t amount = need.of->mode == HresMode::kSum ? mul_sat(need.count, common) : need.count;
      if (amount > need.free[i]) return std::nullopt;
      out.emplace_back(need.first + i, amount);
    }
  }
  return out;
}

std::optional<std::vector<LicenseShare>> LayerRoom::shares(const Allocation& of) const {
  Bitmap nodes;
  for (const NodeShare& s : of.nodes) nodes.set(s.node.value);
  const auto taken = amounts(nodes);
  if (!taken) return std::nullopt;
  std::vector<LicenseShare> out;
  for (const auto& [place, amount] : *taken)
    for (const Need& need : needs_)
      if (place >= need.first && place - need.first < need.free.size()) out.push_back({need.of->layers[place - need.first].name, amount});
  return out;
}

std::string LayerRoom::said_of(const Need& need, size_t i) {
  const HresLayer& layer = need.of->layers[i];
  std::string out = in_words(layer) + " has " + counted(need.free[i]) + " left of " + counted(layer.count);
  if (layer.base && layer.count != HresLayer::kEndless)
    out += ", " + std::to_string(std::min(layer.base, layer.count)) + " of which no job has";
  return out;
}

std::string LayerRoom::lacking(uint32_t nodes) const {
  for (const Need& need : needs_) {
    const size_t count = need.free.size();
    const bool sum = need.of->mode == HresMode::kSum, one = need.of->mode == HresMode::kOne;
    const std::string asked = need.of->name + ": " + std::to_string(need.count) + " are asked for" +
                              (sum ? " on each of " + std::to_string(std::max(nodes, 1u)) + " nodes" : "");
    std::optional<size_t> said;  // of several that have too little the largest; of those to choose from the one with the most
    for (size_t i = 0; i < count; ++i) {
      const bool too_little = sum ? need.free[i] / need.count < std::min<uint64_t>(std::max(nodes, 1u), need.of->layers[i].nodes.count())
                                  : need.free[i] < need.count;
      auto more = [&](size_t other) {
        return one ? need.free[i] > need.free[other] : need.of->layers[i].nodes.count() > need.of->layers[other].nodes.count();
      };
      if (too_little && (!said || more(*said))) said = i;
    }
    if (said) return asked + "; " + said_of(need, *said);
  }
  return needs_.empty() ? std::string() : needs_.front().of->name + " is on too few nodes";
}

}  // namespace muster::sched
