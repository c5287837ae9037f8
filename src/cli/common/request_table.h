// The requests a stream of job rows refers to by number, kept as they come: one per distinct request.
#pragma once

#include <unordered_map>
#include <vector>

#include "model/rpc.h"

namespace muster::cli {

class RequestTable {
 public:
  void add(std::vector<rpc::RequestRow>&& rows) {
    for (rpc::RequestRow& r : rows) table_.insert_or_assign(r.id, std::move(r.request));
  }
  // An empty request for a number that was not sent. References stay good while the table lives.
  const JobRequest& of(const JobRow& row) const {
    auto it = table_.find(row.request);
    return it == table_.end() ? none_ : it->second;
  }

 private:
  std::unordered_map<RequestId, JobRequest> table_;  // looked up, never walked
  JobRequest none_;
};

}  // namespace muster::cli
