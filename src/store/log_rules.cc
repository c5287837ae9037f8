#include "store/log_rules.h"

namespace muster::store {

Result<> check_term(Term term, Term highest) {
  if (term > kMaxTerm) return fail(Errc::kInvalidArgument, "term " + std::to_string(term) + " is over " + std::to_string(kMaxTerm));
  if (term >= highest) return {};
  return fail(Errc::kStateNotSaved, std::string(errc_text(Errc::kStateNotSaved)) + ": another controller took over (its term is " +
                                        std::to_string(highest) + ", ours " + std::to_string(term) + ")");
}

Result<> check_sizes(std::string_view what, std::span<const std::string> parts) {
  for (const std::string& p : parts)
    if (p.size() > kMaxRecordBytes)
      return fail(Errc::kInvalidArgument, "a " + std::string(what) + " of " + std::to_string(p.size()) + " bytes is over the limit of " +
                                              std::to_string(kMaxRecordBytes));
  return {};
}

Result<> check_snapshot_position(Position position, Position last, Position stored) {
  std::string what = "snapshot position " + std::to_string(position);
  if (position > last) return fail(Errc::kInvalidArgument, what + " is past the last record " + std::to_string(last));
  if (position < stored) return fail(Errc::kInvalidArgument, what + " is before the stored snapshot's " + std::to_string(stored));
  return {};
}

Result<> check_read(Position after, Position trimmed) {
  if (after >= trimmed) return {};
  return fail(Errc::kNotFound, "records " + std::to_string(after + 1) + " to " + std::to_string(trimmed) +
                                   " were dropped: load the snapshot and read after it");
}

Error no_such_blob(const BlobHash& hash) { return Error(Errc::kNotFound, "there is no blob " + hash); }

}  // namespace muster::store
