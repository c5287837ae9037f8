#include "slurmctld/daemon/upload_parts.h"

#include "wire/accounting_instances.h"

namespace muster::slurmctld {
namespace {

class Parts {
 public:
  Parts(const rpc::StoreRecords& all, size_t most_bytes) : most_bytes_(most_bytes) {
    part_.cluster = all.cluster;
    part_.position = all.position;
  }
  template <class Record>
  void add(std::vector<Record> rpc::StoreRecords::*list, const std::vector<Record>& records) {
    for (const Record& r : records) {
      scratch_.clear();
      wire::encode(r, scratch_);
      if (bytes_ > 0 && bytes_ + scratch_.size() > most_bytes_) finish();
      (part_.*list).push_back(r);
      bytes_ += scratch_.size();
    }
  }
  std::vector<std::string> take() {
    if (bytes_ > 0 || out_.empty()) finish();
    return std::move(out_);
  }

 private:
  void finish() {
    wire::encode(part_, out_.emplace_back());
    part_.jobs.clear();
    part_.steps.clear();
    part_.events.clear();
    part_.reservations.clear();
    bytes_ = 0;
  }
  const size_t most_bytes_;
  size_t bytes_ = 0;
  rpc::StoreRecords part_;
  std::string scratch_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> upload_parts(const rpc::StoreRecords& records, size_t most_bytes) {
  Parts parts(records, most_bytes);
  parts.add(&rpc::StoreRecords::jobs, records.jobs);
  parts.add(&rpc::StoreRecords::steps, records.steps);
  parts.add(&rpc::StoreRecords::events, records.events);
  parts.add(&rpc::StoreRecords::reservations, records.reservations);
  return parts.take();
}

}  // namespace muster::slurmctld
