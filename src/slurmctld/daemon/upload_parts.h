// The records of one upload as the messages that carry them. The core numbers records by the event that made them, and one event
// may concern every job (accounting is switched on), so an upload of one position can be longer than a frame. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/accounting.h"

namespace muster::slurmctld {

inline constexpr size_t kUploadPartBytes = size_t{4} << 20;  // of records in one message; a record of its own may be longer

// Encoded StoreRecords that hold all of `records`, each once, in their order; at least one message. Each says the position of the whole
// upload, which is stored only when the last message is. Cost: twice the time of encoding the records.
std::vector<std::string> upload_parts(const rpc::StoreRecords& records, size_t most_bytes = kUploadPartBytes);

}  // namespace muster::slurmctld
