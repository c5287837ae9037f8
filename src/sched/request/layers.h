// Layers: what a job takes of hierarchical resources (model/hres.h), and which nodes they leave to it. guide hres, resources.yaml(5).
//
// The layers of all resources are the last of Params::licenses, each under its pool's name, so whatever counts licences counts them: what
// running jobs hold, what reservations keep, what is promised. Only how much a job takes of which differs, for that depends on its nodes:
//
//   MODE_1   all of it from one layer. A layer overlaps with the job's nodes if it has one of them: so the guide says, and so a job is never
//            kept off nodes on which enough is left. Open are the nodes of all layers that have enough, whichever of them the job gets. It
//            draws from the smallest layer that has all of its nodes, so that the larger ones are left to jobs for which no other is left; if
//            none has them all, from the one that has most of them.
//   MODE_2   the same from every layer that has one of its nodes. Open are the nodes that are in no layer with too little.
//   MODE_3   so much for each of its nodes, from every layer that the node is in. Open are the nodes that are in no layer with too little for
//            one; of these a layer has room for what is left of it divided by that. Any part of a set of nodes for which there is room has
//            room, too, and as layers are nested, taking nodes one by one as long as there is room gives a set that no other exceeds (the
//            sets are the independent ones of a laminar matroid). So where nodes are taken in the order of their tasks, no other set of as many
//            takes more.
//
// A node in no layer of a resource has none of it, so it is open to nobody who asks for it.
//
// Pure. Cost: nothing to speak of where there are no hierarchical resources; else O(layers · nodes / 64), and O(nodes · layers) for a choice
// within MODE_3.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/license_needs.h"
#include "model/resources.h"
#include "sched/params.h"

namespace muster::sched {

// Makes these the hierarchical resources: puts their layers behind the licences. Null: there are none.
void set_layers(Params& params, HierarchiesPtr hierarchies);

// Whether some of what is asked for is a hierarchical resource.
bool asks_layers(const Params& params, const LicenseNeeds& needs);
// What is asked for but for hierarchical resources.
std::vector<LicenseShare> plain_licenses(const Params& params, const LicenseNeeds& needs);
// Whether a request could have it all on these many nodes if nobody held any; the error names the resource, the layer and the rule.
Result<> layers_could_ever(const Params& params, const LicenseNeeds& needs, uint32_t nodes);

// A job holds what it got until it ends; of nodes that it gives up it gives back what it had for them. `held`: with the nodes before.
std::vector<LicenseShare> layers_left(const Params& params, const Allocation& held, const Bitmap& nodes);

class LayerRoom {
 public:
  // `free(i)`: what is left of Params::licenses[i].
  LayerRoom(const Params& params, const LicenseNeeds& needs, const std::function<uint64_t(size_t)>& free);
  LayerRoom(LayerRoom&&) = default;
  LayerRoom(const LayerRoom&) = delete;

  const Bitmap& open() const { return open_; }
  bool limits() const { return sum_ != nullptr; }  // not every set of open nodes will do: MODE_3
  bool has_room_for(const Bitmap& nodes) const;
  // Of the nodes, taken in this order, those for which there is room together.
  Bitmap take(std::span<const uint32_t> in_order) const;
  // How many of these there is room for.
  size_t most_of(const Bitmap& nodes) const;
  // What a job on these nodes takes, by place in Params::licenses, or by name; nothing: there is too little.
  std::optional<std::vector<std::pair<size_t, uint64_t>>> amounts(const Bitmap& nodes) const;
  std::optional<std::vector<LicenseShare>> shares(const Allocation& of) const;
  // "flat: 5 are asked for; layer node[01-32] has 4 left of 24": what keeps a job from `nodes` nodes.
  std::string lacking(uint32_t nodes) const;

 private:
  struct Need {
    const Hres* of = nullptr;
    size_t first = 0;  // of its layers in Params::licenses
    uint64_t count = 0;
    std::vector<uint64_t> free;  // by layer
  };
  Bitmap open_of(const Need& need) const;
  std::optional<size_t> drawn_from(const Need& need, const Bitmap& nodes) const;
  static std::string said_of(const Need& need, size_t layer);

  HierarchiesPtr all_;
  std::vector<Need> needs_;
  const Need* sum_ = nullptr;  // the one of MODE_3
  Bitmap open_;
};
using LayerRoomPtr = std::shared_ptr<const LayerRoom>;

}  // namespace muster::sched
