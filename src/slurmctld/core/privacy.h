// Privacy: what PrivateData hides from whoever asks, and what MCS labels open again. slurm.conf(5) PrivateData, guide mcs.
// root and SlurmUser see everything, everybody their own jobs. A value: made once a query, asked for each row. O(1) a row,
// O(groups) where labels are groups.
#pragma once

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

class Privacy {
 public:
  Privacy() = default;   // hides nothing
  Privacy(const Settings& settings, Caller who);

  // Kinds of things that are hidden as such: the question is refused.
  Result<> may_ask_for_nodes() const;
  Result<> may_ask_for_partitions() const;
  bool shows(const Job& job) const;
  bool shows(const Node& node) const;

 private:
  bool may_read(const std::string& label) const;

  bool jobs_ = false, nodes_ = false, partitions_ = false;
  bool by_label_ = false;
  config::McsRules::Plugin labels_{};
  Caller who_;
};

}  // namespace muster::slurmctld
