// What is printed of a node or of a line of sinfo and made of several values, so that no kind (kinds.h, node_kinds.h) spells it. The rows of
// node_fields.cc name these functions; they live with the form that they belong to: scontrol's in show_node.cc, documents' in json_node.cc.
#pragma once

#include <string>
#include <string_view>

#include "fields/json_values.h"
#include "fields/sinfo_view.h"

namespace muster::fields {

void show_reason(const NodeView& view, std::string& out);  // bad disk [root@2026-11-21T09:20:11]

void json_no_names(const NodeView& view, std::string_view key, Members& members);
void json_empty_object(const NodeView& view, std::string_view key, Members& members);
void json_no_weight(const NodeView& view, std::string_view key, Members& members);

void json_line_state(const SinfoView& view, std::string_view key, Members& members);
void json_line_nodes(const SinfoView& view, std::string_view key, Members& members);
void json_line_cpus(const SinfoView& view, std::string_view key, Members& members);
void json_line_memory(const SinfoView& view, std::string_view key, Members& members);
void json_line_partition(const SinfoView& view, std::string_view key, Members& members);

}  // namespace muster::fields
