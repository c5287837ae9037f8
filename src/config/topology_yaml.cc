#include <algorithm>

#include "base/text.h"
#include "config/topology_raw.h"
#include "config/yaml_reader.h"

namespace muster::config {
namespace {

class Reader : private YamlReader {
 public:
  using YamlReader::YamlReader;

  std::vector<RawTopology> run(const std::string& text) {
    std::vector<RawTopology> out;
    each_entry(text, "topologies", "- topology: NAME", [&](const YAML::Node& n) { out.push_back(topology(n)); });
    return out;
  }

 private:
  RawText text(const YAML::Node& n, const char* key) { return {YamlReader::text(n, key), pos(n), true}; }
  Cell3d cell(const YAML::Node& map, const char* what) {
    Cell3d out;
    auto number = [&](uint32_t& into, const char* key) {
      return [&, key](const YAML::Node& n) {
        const auto v = n.IsScalar() ? parse_number<uint32_t>(n.Scalar(), 0, 1u << 20) : std::nullopt;
        if (!v) return f_.error(pos(n), key, "must be a number up to 1048576");
        into = *v;
      };
    };
    each_key(map, what, {{"x", number(out.x, "x")}, {"y", number(out.y, "y")}, {"z", number(out.z, "z")}});
    return out;
  }

  RawTopology topology(const YAML::Node& map) {
    RawTopology out;
    out.pos = pos(map);
    out.name.clear();
    int kinds = 0;
    auto of_kind = [&](TopologyKind kind, auto read) {
      return [&, kind, read](const YAML::Node& n) {
        out.kind = kind;
        ++kinds;
        (this->*read)(n, out);
      };
    };
    each_key(map, "a topology",
             {{"topology", [&](const YAML::Node& n) { out.name = text(n, "topology").text; }},
              {"cluster_default", [&](const YAML::Node& n) { out.cluster_default = yes(n, "cluster_default"); }},
              {"flat", of_kind(TopologyKind::kFlat, &Reader::flat)},
              {"tree", of_kind(TopologyKind::kTree, &Reader::tree)},
              {"block", of_kind(TopologyKind::kBlock, &Reader::block)},
              {"ring", of_kind(TopologyKind::kRing, &Reader::ring)},
              {"torus3d", of_kind(TopologyKind::kTorus3d, &Reader::torus)}});
    if (out.name.empty()) f_.error(out.pos, "topology", "each topology needs a name");
    if (map.IsMap() && kinds != 1)
      f_.error(out.pos, "topology", out.name + " must have exactly one of flat, tree, block, ring and torus3d");
    return out;
  }

  void flat(const YAML::Node& n, RawTopology& out) {
    if (n.IsScalar()) {
      if (!yes(n, "flat")) f_.error(pos(n), "flat", "false is no topology", "leave the key out");
      return;
    }
    each_key(n, "flat", {{"alpha_step_rank", [&](const YAML::Node& v) { out.alpha_step_rank = yes(v, "alpha_step_rank"); }}});
  }

  void tree(const YAML::Node& n, RawTopology& out) {
    auto unit = [&](const YAML::Node& u) {
      RawUnit raw = fresh(u);
      each_key(u, "a switch",
               {{"switch", [&](const YAML::Node& v) { raw.name = text(v, "switch"); }},
                {"children", [&](const YAML::Node& v) { raw.children = text(v, "children"); }},
                {"nodes", [&](const YAML::Node& v) { raw.nodes = text(v, "nodes"); }}});
      out.units.push_back(std::move(raw));
    };
    each_key(n, "tree", {{"switches", [&](const YAML::Node& v) { each(v, "switches", unit); }}});
  }

  void block(const YAML::Node& n, RawTopology& out) {
    auto unit = [&](const YAML::Node& u) { out.units.push_back(named_nodes(u, "block")); };
    auto sizes = [&](const YAML::Node& v) {
      out.block_sizes.pos = pos(v);
      out.block_sizes.given = true;
      each(v, "block_sizes",
           [&](const YAML::Node& s) { out.block_sizes.text += (out.block_sizes.text.empty() ? "" : ",") + text(s, "block_sizes").text; });
    };
    each_key(n, "block", {{"block_sizes", sizes}, {"blocks", [&](const YAML::Node& v) { each(v, "blocks", unit); }}});
  }

  void ring(const YAML::Node& n, RawTopology& out) {
    auto unit = [&](const YAML::Node& u) { out.units.push_back(named_nodes(u, "ring")); };
    each_key(n, "ring", {{"rings", [&](const YAML::Node& v) { each(v, "rings", unit); }}});
  }

  void torus(const YAML::Node& node, RawTopology& out) {
    auto unit = [&](const YAML::Node& u) {
      RawUnit raw = fresh(u);
      each_key(
          u, "a torus",
          {{"name", [&](const YAML::Node& v) { raw.name = text(v, "name"); }},
           {"dims", [&](const YAML::Node& v) { raw.dims = cell(v, "dims"); }},
           {"nodes", [&](const YAML::Node& v) { raw.nodes = text(v, "nodes"); }},
           {"regions", [&](const YAML::Node& v) { each(v, "regions", [&](const YAML::Node& r) { raw.regions.push_back(region(r)); }); }},
           {"placements",
            [&](const YAML::Node& v) { each(v, "placements", [&](const YAML::Node& p) { raw.placements.push_back(placement(p)); }); }}});
      out.units.push_back(std::move(raw));
    };
    each_key(node, "torus3d", {{"toruses", [&](const YAML::Node& v) { each(v, "toruses", unit); }}});
  }

  RawUnit fresh(const YAML::Node& n) const {
    RawUnit raw;
    raw.pos = raw.name.pos = raw.nodes.pos = raw.children.pos = pos(n);
    return raw;
  }
  RawUnit named_nodes(const YAML::Node& u, const char* name) {
    RawUnit raw = fresh(u);
    each_key(u, std::string("a ") + name,
             {{name, [&](const YAML::Node& v) { raw.name = text(v, name); }},
              {"nodes", [&](const YAML::Node& v) { raw.nodes = text(v, "nodes"); }}});
    return raw;
  }
  RawRegion region(const YAML::Node& r) {
    RawRegion out;
    out.pos = out.nodes.pos = pos(r);
    each_key(r, "a region",
             {{"anchor", [&](const YAML::Node& v) { out.anchor = cell(v, "anchor"); }},
              {"dims", [&](const YAML::Node& v) { out.dims = cell(v, "dims"); }},
              {"nodes", [&](const YAML::Node& v) { out.nodes = text(v, "nodes"); }}});
    return out;
  }
  RawPlacement placement(const YAML::Node& p) {
    RawPlacement out;
    out.pos = pos(p);
    each_key(p, "a placement",
             {{"dims", [&](const YAML::Node& v) { out.dims = cell(v, "dims"); }},
              {"anchor_seed", [&](const YAML::Node& v) { out.anchor_seed = cell(v, "anchor_seed"); }},
              {"anchor_spacing", [&](const YAML::Node& v) { out.anchor_spacing = cell(v, "anchor_spacing"); }}});
    return out;
  }
};

}  // namespace

std::vector<RawTopology> parse_topology_yaml(const std::string& text, const std::string& file, Findings& findings) {
  return Reader(file, findings).run(text);
}

}  // namespace muster::config
