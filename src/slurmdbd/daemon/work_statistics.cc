#include "slurmdbd/daemon/work_statistics.h"

#include "model/messages.h"

namespace muster::slurmdbd {
std::string name_of_message(uint16_t number) {
  switch (number) {
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  case number:                                              \
    return MessageTraits<request>::kName;
#include "model/messages.def"
#undef MUSTER_MESSAGE
    default: return "unknown";
  }
}

void WorkStatistics::answered(uint16_t message, Uid uid, const std::string& name, Duration took) {
  requests_[message].add(took);
  if (callers_.size() >= kMostCallers && !callers_.contains(uid.value)) return;
  auto& [known, work] = callers_[uid.value];
  known = name;
  work.add(took);
}

void WorkStatistics::rolled_up(Time now, Duration took) {
  rolled_up_ = now;
  roll_ups_.add(took);
}

rpc::DatabaseStatistics WorkStatistics::told(Time now) const {
  rpc::DatabaseStatistics out;
  out.since = since_;
  out.now = now;
  out.rolled_up = rolled_up_;
  out.roll_ups = roll_ups_;
  for (const auto& [number, work] : requests_) out.requests.push_back({number, name_of_message(number), work});
  for (const auto& [uid, caller] : callers_) out.callers.push_back({Uid(uid), caller.first, caller.second});
  return out;
}

}  // namespace muster::slurmdbd
