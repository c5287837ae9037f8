#include <yaml-cpp/yaml.h>

#include <functional>

#include "base/text.h"
#include "config/topology_raw.h"

namespace muster::config {
namespace {

constexpr size_t kMaxBytes = 16u << 20;

class Reader {
 public:
  Reader(const std::string& file, Findings& f) : file_(std::make_shared<const std::string>(file)), f_(f) {}

  std::vector<RawTopology> run(const std::string& text) {
    std::vector<RawTopology> out;
    if (text.size() > kMaxBytes) {
      f_.error({file_, 0, 0}, "", "the file is larger than 16 MiB");
      return out;
    }
    try {
      const YAML::Node root = YAML::Load(text);
      if (!root.IsSequence()) {
        f_.error(pos(root), "", "must be a list of topologies", "each begins with \"- topology: NAME\"");
        return out;
      }
      for (const YAML::Node& n : root) out.push_back(topology(n));
    } catch (const YAML::Exception& e) {  // the library throws when the text is not YAML
      f_.error({file_, static_cast<uint32_t>(e.mark.line + 1), 0}, "", "not YAML: " + e.msg);
    }
    return out;
  }

 private:
  using Keys = std::vector<std::pair<std::string_view, std::function<void(const YAML::Node&)>>>;

  SourcePos pos(const YAML::Node& n) const { return {file_, n.Mark().line >= 0 ? static_cast<uint32_t>(n.Mark().line + 1) : 0, 0}; }
  // Reads each key of the map by its row; keys without a row are errors.
  void each_key(const YAML::Node& map, const std::string& what, const Keys& keys) {
    if (!map.IsMap()) return f_.error(pos(map), what, "must be a map of keys and values");
    for (const auto& entry : map) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      auto row = std::ranges::find(keys, std::string_view(key), &Keys::value_type::first);
      if (row != keys.end()) {
        row->second(entry.second);
        continue;
      }
      std::vector<std::string_view> known;
      for (const auto& k : keys) known.push_back(k.first);
      const std::string_view near = did_you_mean(key, known);
      f_.error(pos(entry.first), key, "is not known in " + what, near.empty() ? "" : "did you mean " + std::string(near) + "?");
    }
  }
  void each(const YAML::Node& list, const std::string& what, const std::function<void(const YAML::Node&)>& f) {
    if (!list.IsSequence()) return f_.error(pos(list), what, "must be a list");
    for (const YAML::Node& n : list) f(n);
  }
  RawText text(const YAML::Node& n, const char* key) {
    if (n.IsScalar()) return {n.Scalar(), pos(n), true};
    f_.error(pos(n), key, "must be a text");
    return {"", pos(n), true};
  }
  bool yes(const YAML::Node& n, const char* key) {
    const std::string t = n.IsScalar() ? n.Scalar() : "";
    if (iequals(t, "true") || iequals(t, "yes") || iequals(t, "on")) return true;
    if (!iequals(t, "false") && !iequals(t, "no") && !iequals(t, "off")) f_.error(pos(n), key, "must be true or false");
    return false;
  }
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

  std::shared_ptr<const std::string> file_;
  Findings& f_;
};

}  // namespace

std::vector<RawTopology> parse_topology_yaml(const std::string& text, const std::string& file, Findings& findings) {
  return Reader(file, findings).run(text);
}

}  // namespace muster::config
