// The facts of a partition (partition_fields.cc) as the forms that print them: sinfo's columns are sinfo_partition_fields() of field_table.h.
#pragma once

#include <span>

#include "fields/fact.h"

namespace muster::fields {

ShownRecord<PartitionView> partition_record();     // scontrol show partition
DocumentObject<PartitionView> partition_object();  // its --json, and a member of sinfo --json

}  // namespace muster::fields
