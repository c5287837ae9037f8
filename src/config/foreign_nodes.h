// Nodes that a file names and slurm.conf does not. Clusters share their gres.conf and topology files, so nodes of other clusters are left
// out, and one notice for each file says how many there were. Inside config/ only.
#pragma once

#include <string>
#include <string_view>

#include "config/record.h"

namespace muster::config {

class ForeignNodes {
 public:
  void add(std::string_view name, const SourcePos& pos) {
    if (count_++ != 0) return;
    first_ = name.substr(0, 80);
    pos_ = pos;
  }
  size_t count() const { return count_; }
  void tell(std::string key, Findings& f) const {
    if (count_ == 0) return;
    const std::string rest = count_ == 1 ? " is" : " and " + std::to_string(count_ - 1) + " more are";
    f.notice(pos_, std::move(key), "\"" + first_ + "\"" + rest + " not in slurm.conf; what the file says of them is left out",
             "nothing to do if several clusters share the file");
  }

 private:
  size_t count_ = 0;
  std::string first_;
  SourcePos pos_;
};

}  // namespace muster::config
