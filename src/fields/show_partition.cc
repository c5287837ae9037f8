#include "fields/show_partition.h"

#include "fields/partition_fields.h"

namespace muster::fields {

void show_partition(const PartitionRow& row, const Environment& env, const ShowOptions& options, std::string& out) {
  Record record(out, options.oneliner);
  partition_record().print(PartitionView{row, env}, options.details, record);
  record.end();
}

}  // namespace muster::fields
