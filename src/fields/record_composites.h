// What documents have of a record and make of several values, so that no kind (kinds.h, record_kinds.h) spells it. The rows of
// record_fields.cc name these functions; they live in json_record.cc.
#pragma once

#include <string_view>

#include "fields/json_values.h"
#include "fields/record_view.h"

namespace muster::fields {

void json_record_steps(const RecordView& view, std::string_view key, Members& members);
void json_record_hosts(const RecordView& view, std::string_view key, Members& members);
void json_record_frequency(const RecordView& view, std::string_view key, Members& members);
void json_record_use(const RecordView& view, std::string_view key, Members& members);  // resources that came into tasks, and out of them
void json_record_statistics(const RecordView& view, std::string_view key, Members& members);

}  // namespace muster::fields
