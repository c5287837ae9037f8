#include "fields/sinfo_groups.h"

#include <unordered_map>

#include "base/bitmap.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

bool in_use(const NodeRow& n) { return n.state == NodeState::kAllocated || n.state == NodeState::kMixed || (n.flags & kNodeCompleting); }

// The bits of node flags in Slurm's API, whose numbers users see.
struct FlagBit {
  uint32_t flag;
  int64_t bit;
};
constexpr FlagBit kFlagBits[] = {
    {kNodeReserved, 1 << 5},      {kNodeCloud, 1 << 7},
    {kNodeDrain, 1 << 9},         {kNodeCompleting, 1 << 10},
    {kNodeNoRespond, 1 << 11},    {kNodePoweredDown, 1 << 12},
    {kNodeFail, 1 << 13},         {kNodePoweringUp, 1 << 14},
    {kNodeMaint, 1 << 15},        {kNodeRebootRequested, 1 << 16},
    {kNodePoweringDown, 1 << 18}, {kNodeDynamicFuture, 1 << 19},
    {kNodeRebootIssued, 1 << 20}, {kNodePlanned, 1 << 21},
    {kNodeInvalid, 1 << 22},      {kNodePowerDownRequested, 1 << 23},
    {kNodeDynamicNorm, 1 << 26},  {kNodeBlocked, 1 << 27},
};

// Finds or makes the line of a key. A key is made of the texts of the fields that tell lines apart.
class Lines {
 public:
  Lines(const Format<SinfoView>& format, const GroupOptions& options, const Environment& env) : options_(options), env_(env) {
    for (const Column<SinfoView>& c : format.columns) {
      if (!c.field) continue;
      if (c.field->split == Split::kAlways || (options.exact && c.field->split == Split::kExact)) apart_.push_back(c.field);
    }
  }

  void add(const PartitionRow* partition, const NodeRow& node, uint32_t node_index) {
    SinfoLine alone;
    alone.partition = partition;
    alone.add(node);
    make_key(alone);
    if (options_.node_centric) {
      put_number(key_, node_index);
      key_ += '\x1f';
      if (partition) put(key_, partition->partition.name);
    }
    auto [at, is_new] = index_.try_emplace(key_, lines_.size());
    if (is_new) {
      lines_.push_back(std::move(alone));
      members_.emplace_back();
      members_.back().set(node_index);
      return;
    }
    Bitmap& members = members_[at->second];
    if (members.test(node_index)) return;
    members.set(node_index);
    lines_[at->second].add(node);
  }

  // Adds a partition without nodes to show. A format that does not tell partitions apart shows no such line.
  void add_empty(const PartitionRow& partition) {
    SinfoLine line;
    line.partition = &partition;
    bool shows_partition = false;
    for (const SinfoField* f : apart_) shows_partition = shows_partition || f->header == "PARTITION";
    if (!shows_partition) return;
    make_key(line);
    if (!index_.try_emplace(key_, lines_.size()).second) return;
    lines_.push_back(std::move(line));
    members_.emplace_back();
  }

  std::vector<SinfoLine> take() { return std::move(lines_); }

 private:
  void make_key(const SinfoLine& line) {
    key_.clear();
    SinfoView view{line, env_};
    for (const SinfoField* f : apart_) {
      print_field(*f, view, key_);
      key_ += '\x1f';
    }
  }

  const GroupOptions& options_;
  const Environment& env_;
  std::vector<const SinfoField*> apart_;
  std::unordered_map<std::string, size_t> index_;  // looked up, never walked
  std::vector<SinfoLine> lines_;
  std::vector<Bitmap> members_;
  std::string key_;
};

}  // namespace

void SinfoLine::add(const NodeRow& node) {
  if (!first) first = &node;
  nodes.push_back(&node);
  bool closed =
      (node.flags & kNodeDrain) || node.state == NodeState::kDown || node.state == NodeState::kError || node.state == NodeState::kFuture;
  if (in_use(node)) ++node_counts.allocated;
  else if (closed) ++node_counts.other;
  else ++node_counts.idle;
  uint32_t used = std::min(node.cpus_allocated, node.cpus);
  cpu_counts.allocated += used;
  (closed ? cpu_counts.other : cpu_counts.idle) += node.cpus - used;
  cpus.add(node.cpus);
  sockets.add(node.sockets);
  cores.add(node.cores_per_socket);
  threads.add(node.threads_per_core);
  memory_mb.add(node.real_memory_mb);
  disk_mb.add(node.tmp_disk_mb);
  weight.add(node.weight);
  load.add(node.cpu_load);
  free_mem_mb.add(node.free_mem_mb);
}

int64_t partition_order(const SinfoView& view) { return view.line.partition ? int64_t{view.line.partition->partition.index} : INT64_MAX; }

int64_t node_state_order(const NodeRow& node) {
  auto order = static_cast<int64_t>(node.state);
  for (const FlagBit& f : kFlagBits)
    if (node.flags & f.flag) order |= f.bit;
  return order;
}

std::vector<SinfoLine> group_nodes(std::span<const PartitionRow> partitions, std::span<const NodeRow> nodes,
                                   const Format<SinfoView>& format, const GroupOptions& options, const Environment& env) {
  std::unordered_map<std::string_view, size_t> partition_index;  // looked up, never walked
  for (size_t i = 0; i < partitions.size(); ++i) partition_index.emplace(partitions[i].partition.name, i);
  std::vector<std::vector<uint32_t>> members(partitions.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (options.keep && !options.keep(nodes[i])) continue;
    for (const std::string& name : nodes[i].partitions)
      if (auto at = partition_index.find(name); at != partition_index.end()) members[at->second].push_back(i);
  }
  Lines lines(format, options, env);
  for (size_t p = 0; p < partitions.size(); ++p) {
    for (uint32_t i : members[p]) lines.add(&partitions[p], nodes[i], i);
    if (members[p].empty() && options.empty_partitions && !options.node_centric) lines.add_empty(partitions[p]);
  }
  return lines.take();
}

uint32_t partition_column_width(std::span<const PartitionRow> partitions) {
  size_t width = 9;
  for (const PartitionRow& p : partitions) width = std::max(width, p.partition.name.size() + (p.partition.is_default ? 1 : 0));
  return static_cast<uint32_t>(std::min<size_t>(width, kMaxWidth));
}

uint32_t node_column_width(std::span<const NodeRow> nodes) {
  size_t width = 9;
  for (const NodeRow& n : nodes) width = std::max(width, n.name.size());
  return static_cast<uint32_t>(std::min<size_t>(width, kMaxWidth));
}

}  // namespace muster::fields
