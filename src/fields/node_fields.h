// The facts of a node (node_fields.cc) as the forms that print them: sinfo's columns are sinfo_node_fields() of field_table.h.
#pragma once

#include <span>

#include "fields/fact.h"
#include "fields/sinfo_view.h"

namespace muster::fields {

ShownRecord<NodeView> node_record();     // scontrol show node
DocumentObject<NodeView> node_object();  // its --json
// A line of sinfo --json. It has members of partitions, too: they are here, as the line's nodes are what the line is about.
DocumentObject<SinfoView> sinfo_object();

}  // namespace muster::fields
