// The checks with which every EventLog refuses input, in the same words. Internal to store/.
#pragma once

#include "store/event_log.h"

namespace muster::store {

Result<> check_term(Term term, Term highest);
Result<> check_sizes(std::string_view what, std::span<const std::string> parts);
Result<> check_snapshot_position(Position position, Position last, Position stored);
Result<> check_read(Position after, Position trimmed);
Error no_such_blob(const BlobHash& hash);

}  // namespace muster::store
