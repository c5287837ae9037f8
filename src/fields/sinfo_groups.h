// sinfo's lines: which nodes share a line, and the counts and ranges a line prints. sinfo(1).
//
// Nodes of a partition are on one line when all fields of the format that tell lines apart have the same text (FieldRow::split); amounts
// that differ are then shown as their minimum with '+'. Formats without a field of partitions put the nodes of several partitions together,
// each node once. Not here: fetching rows, hidden partitions and --nodes (the controller leaves those rows out). Cost: O(memberships *
// fields); memory O(memberships).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fields/format.h"
#include "fields/sinfo_view.h"

namespace muster::fields {

struct GroupOptions {
  bool node_centric = false;                 // -N: a line for every node and partition
  bool exact = false;                        // -e
  bool empty_partitions = true;              // a partition without a node that is kept has a line "0 n/a"; not with -N and -R
  std::function<bool(const NodeRow&)> keep;  // -t, -d, -r, -R; empty: all
};

// The lines in the order of partitions, and within one in the order of their first nodes. Lines point into the rows given.
std::vector<SinfoLine> group_nodes(std::span<const PartitionRow> partitions, std::span<const NodeRow> nodes,
                                   const Format<SinfoView>& format, const GroupOptions& options, const Environment& env);

// The width of '#' in the default formats (sinfo_formats.h): that of the longest name that will be printed, at least 9.
uint32_t partition_column_width(std::span<const PartitionRow> partitions);
uint32_t node_column_width(std::span<const NodeRow> nodes);

}  // namespace muster::fields
