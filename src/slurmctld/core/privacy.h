// Privacy: what PrivateData hides from whoever asks, and what MCS labels open again. slurm.conf(5) PrivateData, guide mcs. Operators see
// everything; everybody else sees their own jobs and those of accounts that they coordinate. A value: made once for a query and asked for
// each row; it goes by the accounts as they were known when it was made. Cost of a row: O(1), O(groups) where labels are groups, O(log n)
// for another user's job.
#pragma once

#include <optional>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

// The error for a caller who may not manage the job: `usual`, or, where the job is hidden from the caller, the one for a job that does not
// exist.
Errc refusal(const View& v, const Job& job, Errc usual = Errc::kAccessDenied);

class Privacy {
 public:
  Privacy() = default;  // hides nothing
  Privacy(const Settings& settings, std::shared_ptr<const AccountDirectory> directory, Caller who);

  // Whether the caller may ask about things of this kind at all; where PrivateData hides the whole kind, the question is refused.
  Result<> may_ask_for_nodes() const;
  Result<> may_ask_for_partitions() const;
  bool shows(const Job& job) const;
  bool shows(const Node& node) const;
  bool shows(const Cluster& cluster, const Reservation& r) const;  // those that one may use
  bool shows_user(Uid uid) const;                                  // that it is there, and what it does
  bool shows_user_of(const AssociationRecord& association) const;  // to oneself and to coordinators of the account
  bool shows_user(const std::string& name) const;
  bool shows_account(const std::string& account) const;  // to its users and coordinators

 private:
  bool may_read(const std::string& label) const;

  bool reservations_ = false;
  bool jobs_ = false, nodes_ = false, partitions_ = false, users_ = false;
  bool by_label_ = false;
  config::McsRules::Plugin labels_{};
  std::shared_ptr<const AccountDirectory> directory_;
  Caller who_;
  std::optional<Rights> rights_;  // where jobs are hidden
};

}  // namespace muster::slurmctld
