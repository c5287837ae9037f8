#include "slurmctld/daemon/record_waits.h"

#include <algorithm>

namespace muster::slurmctld {

bool RecordWaits::add(uint64_t position, Line line, Uid user, Reply answer) {
  if (!connected_ || position <= stored_ || list_.size() >= kMaxRecordWaits || list_.of(user) >= kMaxRecordWaitsOfUser) return false;
  list_.add(position, line, user, std::move(answer));
  return true;
}

void RecordWaits::stored(uint64_t position, std::vector<Reply>& replies) {
  stored_ = std::max(stored_, position);
  list_.take_until(position, [&](Reply& answer) { replies.push_back(std::move(answer)); });
}

void RecordWaits::connected(bool is, std::vector<Reply>& replies) {
  connected_ = is;
  if (!is) list_.take_all([&](Reply& answer) { replies.push_back(std::move(answer)); });
}

}  // namespace muster::slurmctld
