// Story: what a log of events amounts to, as text: each job as it was when it was forgotten (or at the end), then the nodes. Logs of
// earlier releases are kept with their stories (test/releases), so that a later release still reads the same in them.
//
// A log as a file: for each record its length (4 bytes, the least first) and its bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::sim {

void add_record(std::string& log, std::string_view record);
// Errors: kFrameMalformed, with the number of the record that is cut off or that this release cannot read; an error, too, if what
// is derived from the state is not what a rebuild gives.
Result<std::string> story_of(std::string_view log);

}  // namespace muster::sim
