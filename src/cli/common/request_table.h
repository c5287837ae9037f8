// The requests that a stream of job rows refers to by number, kept as they come: one per distinct request, for as long as the controller
// refers to it. A row that outlives its part keeps its request with share().
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "model/rpc.h"

namespace muster::cli {

class RequestTable {
 public:
  // Takes the requests of a part that has just come.
  void add(rpc::JobRows& part) {
    if (part.afresh) table_.clear();
    add(std::move(part.requests));
  }
  void add(std::vector<rpc::RequestRow>&& rows) {
    for (rpc::RequestRow& r : rows) table_.insert_or_assign(r.id, r.request ? r.request.whole() : none_);
  }
  // Gives an empty request for a number that was not sent. The reference is good until the next part.
  const ShownRequest& of(const JobRow& row) const { return *share(row); }
  const std::shared_ptr<const ShownRequest>& share(const JobRow& row) const {
    auto it = table_.find(row.request);
    return it == table_.end() ? none_ : it->second;
  }

 private:
  std::unordered_map<RequestId, std::shared_ptr<const ShownRequest>> table_;  // looked up, never walked
  std::shared_ptr<const ShownRequest> none_ = std::make_shared<const ShownRequest>();
};

}  // namespace muster::cli
