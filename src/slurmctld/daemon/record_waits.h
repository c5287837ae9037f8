// RecordWaits: commands that ask for accounting records (sacct, seff) and first wait until slurmdbd has what happened before. This is a place
// in line and no more: a command that finds none, or no slurmdbd, is answered at once and reads what there is. Commands are also answered
// at once when the connection to slurmdbd breaks, and each decides by itself how long it waits. Lives on the core thread. Cost: that of the
// commands that are answered; forget() looks at all.
#pragma once

#include <vector>

#include "slurmctld/daemon/waiting_list.h"

namespace muster::slurmctld {

inline constexpr size_t kMaxRecordWaits = 4096, kMaxRecordWaitsOfUser = 256;

class RecordWaits {
 public:
  // slurmdbd is connected, or not; commands that wait when it is not are answered.
  void connected(bool is, std::vector<Reply>& replies);
  // `answer` is run when all records up to `position` are stored. False: it will not be run, since there is nothing to wait for or no
  // place.
  bool add(uint64_t position, Line line, Uid user, Reply answer);
  void stored(uint64_t position, std::vector<Reply>& replies);
  void forget(Line line) { list_.forget(line); }
  void forget_all(const void* connection) { list_.forget_all(connection); }
  void begin_turn() { list_.begin_turn(); }
  void forget_turn() { list_.forget_turn(); }
  size_t size() const { return list_.size(); }

 private:
  bool connected_ = false;
  uint64_t stored_ = 0;
  WaitingList<uint64_t, Reply> list_;  // by position
};

}  // namespace muster::slurmctld
