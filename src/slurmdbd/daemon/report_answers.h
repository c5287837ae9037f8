// Answers to what reports ask, as the parts of a stream: usage, sizes of jobs, reservations, events. Runs on the reader thread. What a caller
// may see is in the question or the selection already, except for events and reservations, which service.cc refuses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/answer_streams.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/usage_roll.h"
#include "sql/storage.h"

namespace muster::slurmdbd {

inline constexpr size_t kMostRowsOfReport = 500'000;  // of one answer; kResultTooLarge beyond

struct ReportContext {
  sql::Storage& storage;
  const Directory& directory;
  Time now{};
  std::function<bool()> still_wanted;
};

using ReportAnswer = Result<std::unique_ptr<net::PartSource>>;
ReportAnswer answer_usage(const ReportContext& context, const rpc::QueryUsage& query, const RecordAudience& audience);
ReportAnswer answer_sizes(const ReportContext& context, const rpc::QueryJobSizes& query, const RecordAudience& audience);
ReportAnswer answer_reservations(const ReportContext& context, const rpc::QueryReservationUsage& query);
ReportAnswer answer_events(const ReportContext& context, const rpc::QueryEvents& query);

}  // namespace muster::slurmdbd
