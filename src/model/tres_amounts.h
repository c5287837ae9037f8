// TresAmounts: how much of each trackable resource (TRES) is asked for, held or configured, of a job, a step, a node or a partition. Rows
// carry it, so whoever wants one amount reads it as a number. tres_text() is the one place that spells it:
//
//   cpu=4,mem=8G,node=2,billing=4,gres/gpu=2,gres/gpu:h100=2,license/matlab=1
//
// It names its resources itself, so it can leave the controller; TresCounts (tres_table.h) are amounts by index, for sums and limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "model/job.h"
#include "model/node.h"
#include "model/resources.h"
#include "model/tres_name.h"

namespace muster {

struct GresAmount {
  std::string name, type;  // "gpu" and "h100"; without a type it is all that has this name, of whatever type
  uint64_t count = 0;
  bool operator==(const GresAmount&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "type", self.type);
    field(3, "count", self.count);
  }
};

struct TresAmounts {
  // An amount that is there is listed, also if it is 0. Functions that add something list an amount once it is more than 0, so whoever
  // wants to see a 0 begins with one: TresAmounts{.cpus = 0, .nodes = 0}.
  std::optional<uint64_t> cpus, mem_mb, nodes, billing;
  std::optional<uint64_t> energy;      // joules: of usage only
  std::vector<GresAmount> gres;        // in the order of add_gres()
  std::vector<LicenseShare> licenses;  // in the order in which they were named

  // Reads "cpu=4,mem=8G,gres/gpu:h100=2", by the grammar of TresList. What in it is malformed or of no kind that is here is left out: such
  // texts come from old records.
  static TresAmounts from_text(std::string_view text);
  bool empty() const { return *this == TresAmounts(); }  // nothing is listed
  // Adds what a job or a step holds on one more node.
  void hold(const NodeShare& share);
  void hold(const StepShare& share);
  // Adds what a node has, and what is in use of it. The node itself is not counted.
  void configure(const NodeSpec& node);
  void use(const Node& node);
  // Adds devices to the entry of their name, and if they have a type to that of name and type. Entries without a type come first; each
  // kind is in the order of its names.
  void add_gres(const std::string& name, const std::string& type, uint64_t count);
  void keep_gres(const std::vector<std::string>& tres);  // drops all entries but those named, as "gres/gpu:h100"
  // Bills the CPUs, as where no partition has TRESBillingWeights.
  void bill() { billing = cpus.value_or(0); }
  uint64_t of(const TresName& tres) const;         // 0 of what is not listed
  void put(const TresName& tres, uint64_t count);  // lists this amount; of a GRES or a licence, which is not listed yet, at the end

  bool operator==(const TresAmounts&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "cpus", self.cpus);
    field(2, "mem_mb", self.mem_mb);
    field(3, "nodes", self.nodes);
    field(4, "billing", self.billing);
    field(5, "gres", self.gres);
    field(6, "licenses", self.licenses);
    field(7, "energy", self.energy);
  }
};

// What a job has; its bill is left out. Cost: O(nodes).
TresAmounts held_by(const Allocation& allocation);

// Calls visit(kind, name, count) for each amount in the order in which users see them: ("cpu", "", 4), ("gres", "gpu:h100", 2),
// ("license", "matlab", 1). Memory is counted in MiB.
template <class F>
void each_tres(const TresAmounts& a, F&& visit) {
  const auto basic = [&](std::string_view kind, const std::optional<uint64_t>& count) {
    if (count) visit(kind, std::string_view(), *count);
  };
  basic("cpu", a.cpus);
  basic("mem", a.mem_mb);
  basic("energy", a.energy);
  basic("node", a.nodes);
  basic("billing", a.billing);
  for (const GresAmount& g : a.gres) visit(std::string_view("gres"), std::string_view(gres_name(g.name, g.type)), g.count);
  for (const LicenseShare& l : a.licenses) visit(std::string_view("license"), std::string_view(l.name), l.count);
}

// "cpu=4,mem=8G,node=1,billing=4"; "" if there is nothing to list.
std::string tres_text(const TresAmounts& amounts);

}  // namespace muster
