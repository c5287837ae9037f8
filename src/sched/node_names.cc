// Node lists of requests (--nodelist, --exclude) against the cluster's names.
#include <algorithm>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "sched/request_class.h"

namespace muster::sched {
namespace {

constexpr size_t kMaxListed = 1u << 20;

std::unexpected<Error> bad(std::string_view text, std::string_view why) {
  return fail(Errc::kInvalidNodeName, {}, "\"" + std::string(text) + "\": " + std::string(why));
}

}  // namespace

Result<std::vector<uint32_t>> nodes_named(const Cluster& cluster, const std::string& text) {
  std::vector<uint32_t> out;
  for (std::string_view raw : split_outside_brackets(text)) {
    std::string_view part = trim(raw);
    uint32_t repeat = 1;
    const size_t star = part.rfind('*');
    if (star != part.npos && part.find(']', star) == part.npos) {
      auto n = parse_number<uint32_t>(part.substr(star + 1), 1, 1u << 20);
      if (!n) return bad(part, "a count must follow *");
      repeat = *n;
      part = part.substr(0, star);
    }
    if (part.empty()) continue;
    MUSTER_TRY(names, expand_hosts(part, kMaxListed));
    for (const std::string& name : names) {
      const Node* node = cluster.node(name);
      if (!node) return bad(name, "no such node");
      if (out.size() + repeat > kMaxListed) return bad(text, "too many names");
      out.insert(out.end(), repeat, node->id.value);
    }
  }
  return out;
}

std::string node_list(const Cluster& cluster, const Bitmap& nodes) {
  std::vector<std::string> names;
  nodes.for_each([&](size_t id) {
    if (const Node* n = cluster.nodes.find(static_cast<uint32_t>(id)); n && n->spec)
      names.push_back(n->spec->name);
  });
  return compress_hosts(names);
}

}  // namespace muster::sched
