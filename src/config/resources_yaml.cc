#include "config/resources_yaml.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "config/foreign_nodes.h"
#include "config/slurm_build.h"
#include "config/yaml_reader.h"
#include "hostlist/hostlist.h"

namespace muster::config {
namespace {

constexpr char kCountRule[] = "must be a number from 0 to 4294967294, or -1 for no end";

struct Amount {  // of base, or a variable
  std::string name;
  uint64_t value = 0;
};

class Reader : private YamlReader {
 public:
  Reader(const std::string& file, const Config& config, const Topologies& topologies, Findings& f)
      : YamlReader(file, f), config_(config), topologies_(topologies) {}

  Hierarchies run(const std::string& text) {
    each_entry(text, "resources", "- resource: NAME", [&](const YAML::Node& n) { resource(n); });
    foreign_.tell("nodes", f_);
    return std::move(out_);
  }

 private:
  void resource(const YAML::Node& map) {
    Hres hres;
    bool mode = false;
    SourcePos topology_at;
    each_key(map, "a resource",
             {{"resource", [&](const YAML::Node& n) { hres.name = text(n, "resource"); }},
              {"mode", [&](const YAML::Node& n) { mode = read_mode(n, hres.mode); }},
              {"topology",
               [&](const YAML::Node& n) {
                 hres.topology = text(n, "topology");
                 topology_at = pos(n);
               }},
              {"variables",
               [&](const YAML::Node& n) {
                 for (Amount& a : amounts(n, "variables", Hierarchies::kMostVariables))
                   hres.variables.push_back({std::move(a.name), a.value});
               }},
              {"layers", [&](const YAML::Node& n) { each(n, "layers", [&](const YAML::Node& l) { layer(l, hres); }); }}});
    if (!map.IsMap()) return;
    if (!mode) f_.error(pos(map), "mode", shown(hres) + " needs a mode: MODE_1, MODE_2 or MODE_3");
    if (!well_named(hres, pos(map))) return;
    order_layers(hres);
    if (hres.layers.empty())
      return f_.notice(pos(map), "layers", hres.name + " has no layer with a node of slurm.conf; nobody gets any of it");
    if (hres.mode == HresMode::kSum) {
      if (const std::string why = not_a_tree(hres); !why.empty())
        return f_.error(pos(map), "layers", "the layers of " + hres.name + " (MODE_3) must be a rooted tree of uniform depth: " + why);
    }
    unite_equal_layers(hres, pos(map));
    check_topology(hres, topology_at);
    if (out_.all.size() >= Hierarchies::kMostResources) return f_.error(pos(map), "resource", "there are more than 256");
    out_.all.push_back(std::move(hres));
    if (out_.layers() > Hierarchies::kMostLayers) f_.error(pos(map), "layers", "there are more than 4096 in the file");
  }

  static std::string shown(const Hres& h) { return h.name.empty() ? "a resource" : h.name; }

  // A request names a resource, perhaps with a count or a variable: "power:full_node".
  static bool is_word(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name.find_first_of(" \t,:=|()[]@/\"'") == name.npos;
  }

  bool well_named(const Hres& h, const SourcePos& at) {
    constexpr char kRule[] = "must be a name of at most 64 characters without blanks and , : = | ( ) [ ] @ /";
    if (!is_word(h.name)) return f_.error(at, "resource", "\"" + h.name.substr(0, 80) + "\" " + kRule), false;
    if (out_.find(h.name)) return f_.error(at, "resource", h.name + " is defined twice"), false;
    const bool licence = std::ranges::any_of(config_.licenses, [&](const auto& l) { return l.first == h.name; });
    if (licence) f_.error(at, "resource", h.name + " is also a licence (Licenses= in slurm.conf); a name may mean only one of them");
    return !licence;
  }

  bool read_mode(const YAML::Node& n, HresMode& into) {
    const std::string word = n.IsScalar() ? n.Scalar() : "";
    for (const auto& [name, mode] :
         {std::pair{"MODE_1", HresMode::kOne}, std::pair{"MODE_2", HresMode::kAll}, std::pair{"MODE_3", HresMode::kSum}})
      if (iequals(word, name)) return into = mode, true;
    f_.error(pos(n), "mode", "\"" + word.substr(0, 80) + "\" must be MODE_1, MODE_2 or MODE_3");
    return true;
  }

  std::optional<uint64_t> number(const YAML::Node& n) const {
    return n.IsScalar() ? parse_number<uint64_t>(n.Scalar(), 0, Hierarchies::kMostCount) : std::nullopt;
  }

  std::vector<Amount> amounts(const YAML::Node& list, const char* what, size_t most) {
    std::vector<Amount> out;
    each(list, what, [&](const YAML::Node& entry) {
      Amount amount;
      bool valued = false;
      each_key(entry, std::string("an entry of ") + what,
               {{"name", [&](const YAML::Node& n) { amount.name = text(n, "name"); }},
                {"value", [&](const YAML::Node& n) {
                   const auto value = number(n);
                   if (!value) f_.error(pos(n), "value", "must be a number from 0 to 4294967294");
                   amount.value = value.value_or(0);
                   valued = true;
                 }}});
      if (!entry.IsMap()) return;
      if (!is_word(amount.name)) return f_.error(pos(entry), "name", "each entry of " + std::string(what) + " needs a name");
      if (!valued) return f_.error(pos(entry), "value", amount.name + " needs a value");
      if (std::ranges::find(out, amount.name, &Amount::name) != out.end())
        return f_.error(pos(entry), "name", amount.name + " is there twice");
      if (out.size() >= most) return f_.error(pos(entry), what, "there are more than " + std::to_string(most));
      out.push_back(std::move(amount));
    });
    return out;
  }

  Bitmap nodes(const YAML::Node& list) {
    std::string joined;
    auto add = [&](const YAML::Node& n) { joined += (joined.empty() ? "" : ",") + text(n, "nodes"); };
    if (list.IsScalar()) add(list);
    else each(list, "nodes", add);
    return resolve_nodes(joined, pos(list), "nodes", config_, *config_.index, f_, &foreign_);
  }

  void layer(const YAML::Node& map, Hres& hres) {
    HresLayer out;
    bool counted = false, placed = false;
    auto count = [&](const YAML::Node& n) {
      counted = true;
      if (n.IsScalar() && n.Scalar() == "-1") out.count = HresLayer::kEndless;
      else if (const auto value = number(n)) out.count = *value;
      else f_.error(pos(n), "count", "\"" + (n.IsScalar() ? n.Scalar().substr(0, 40) : std::string("…")) + "\" " + kCountRule);
    };
    auto take = [&](const YAML::Node& n) {
      placed = true;
      out.nodes = nodes(n);
    };
    auto base = [&](const YAML::Node& n) {
      for (const Amount& a : amounts(n, "base", Hierarchies::kMostVariables)) out.base += a.value;
    };
    each_key(map, "a layer", {{"nodes", take}, {"count", count}, {"base", base}});
    if (!map.IsMap()) return;
    if (!placed) return f_.error(pos(map), "nodes", "a layer of " + shown(hres) + " needs nodes");
    if (!counted) return f_.error(pos(map), "count", "a layer of " + shown(hres) + " needs a count");
    if (out.nodes.none())
      return f_.notice(pos(map), "nodes", "no node of this layer of " + shown(hres) + " is in slurm.conf; it is left out");
    if (hres.layers.size() < Hierarchies::kMostLayers) hres.layers.push_back(std::move(out));
    else f_.error(pos(map), "layers", "there are more than 4096");
  }

  // Smaller ones first, each with its name; in MODE_3 what is used within a layer is used of it.
  void order_layers(Hres& h) const {
    std::ranges::stable_sort(h.layers, {}, [](const HresLayer& l) { return l.nodes.count(); });
    for (HresLayer& l : h.layers) {
      std::vector<std::string> names;
      l.nodes.for_each([&](size_t node) { names.push_back(config_.nodes[node].name); });
      l.name = h.name + "(" + compress_hosts(names) + ")";
    }
    if (h.mode != HresMode::kSum) return;
    for (size_t i = h.layers.size(); i-- > 0;)
      for (size_t within = 0; within < i; ++within)
        if (h.layers[i].nodes.contains(h.layers[within].nodes)) h.layers[i].base += h.layers[within].base;
  }

  // Of two that both bind a job the one that leaves less says it all; of two that a job may choose from there is the sum.
  void unite_equal_layers(Hres& hres, const SourcePos& at) {
    std::vector<HresLayer> kept;
    for (HresLayer& layer : hres.layers) {
      auto same = std::ranges::find_if(kept, [&](const HresLayer& k) { return k.nodes == layer.nodes; });
      if (same == kept.end()) {
        kept.push_back(std::move(layer));
        continue;
      }
      const bool sum = hres.mode == HresMode::kOne;
      f_.notice(at, "layers",
                "two layers have the same nodes: " + layer.name + "; " + (sum ? "their counts are added" : "the smaller count holds"));
      if (!sum) {
        if (layer.for_jobs() < same->for_jobs()) *same = std::move(layer);
      } else if (same->count != HresLayer::kEndless) {
        same->base += layer.base;
        same->count = layer.count == HresLayer::kEndless ? layer.count : std::min(same->count + layer.count, Hierarchies::kMostCount);
      }
    }
    hres.layers = std::move(kept);
  }

  void check_topology(const Hres& hres, const SourcePos& at) {
    if (hres.topology.empty()) return;
    if (hres.mode != HresMode::kSum) return f_.notice(at, "topology", "means something in MODE_3 only; " + hres.name + " goes without");
    const Topology* t = topologies_.find(hres.topology);
    if (!t || t->kind != TopologyKind::kBlock)
      return f_.notice(at, "topology", "no block topology is called \"" + hres.topology + "\"; " + hres.name + " goes without");
    const bool same = std::ranges::all_of(t->units, [&](const TopologyUnit& u) {
      Bitmap block;
      for (const uint32_t n : u.nodes) block.set(n);
      return hres.layer(block) != nullptr;
    });
    if (!same) f_.notice(at, "topology", "the blocks of " + hres.topology + " are no layers of " + hres.name + "; both hold as they are");
  }

  const Config& config_;
  const Topologies& topologies_;
  ForeignNodes foreign_;
  Hierarchies out_;
};

bool says_nothing(std::string_view text) {
  return std::ranges::all_of(split(text, '\n'), [](std::string_view line) {
    line = trim(line);
    return line.empty() || line == "---" || line[0] == '#';
  });
}

}  // namespace

Hierarchies load_resources(FileSource& source, const Config& config, const Topologies& topologies, std::vector<ConfigError>& errors,
                           std::vector<ConfigNotice>& notices) {
  const std::string path = config.directory + "/resources.yaml";
  const auto text = source.read(path);
  if (!text || says_nothing(*text)) return {};
  Findings findings{errors, notices};
  return Reader(path, config, topologies, findings).run(*text);
}

}  // namespace muster::config
