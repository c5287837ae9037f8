#include "model/channels.h"

#include <algorithm>

namespace muster {
namespace {

void add(const std::vector<NodeShare>& nodes, std::vector<uint32_t>& out) {
  for (const NodeShare& share : nodes)
    if (share.channel && (out.empty() || out.back() != *share.channel)) out.push_back(*share.channel);
}

std::vector<uint32_t> each_once(std::vector<uint32_t> channels) {
  std::ranges::sort(channels);
  const auto repeated = std::ranges::unique(channels);
  channels.erase(repeated.begin(), repeated.end());
  return channels;
}

}  // namespace

std::vector<uint32_t> channels_of(const Allocation& allocation) {
  std::vector<uint32_t> out;
  add(allocation.nodes, out);
  return each_once(std::move(out));
}

std::vector<uint32_t> channels_held(const Job& job) {
  std::vector<uint32_t> out;
  if (job.holds_nodes()) add(job.allocation->nodes, out);
  add(job.run->leaving, out);
  return each_once(std::move(out));
}

}  // namespace muster
