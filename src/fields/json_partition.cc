// One partition of scontrol show partition --json (`partition_info` of the description), and the member of sinfo --json: the facts of
// partition_fields.cc.
#include "fields/json.h"
#include "fields/partition_fields.h"

namespace muster::fields {

void json_partition(const PartitionRow& row, const Environment& env, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  partition_object().write(PartitionView{row, env}, members);
  sink.end_object();
}

}  // namespace muster::fields
