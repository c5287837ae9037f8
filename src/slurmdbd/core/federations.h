// Federations: which there are, and which clusters are in them. They are recorded and shown; jobs are not scheduled across their clusters.
// sacctmgr(1) federation. Pure. Refusals have a message that names field, value and rule.
#pragma once

#include "slurmdbd/core/edit.h"

namespace muster::slurmdbd {

// Changes the federations of a Directory as one edit says, noting what it touched and what is told of it.
class FederationEdit {
 public:
  FederationEdit(Directory& directory, Touched& touched, const EntityEdit& edit, Time now, rpc::Entities& changed)
      : d_(directory), touched_(touched), edit_(edit), now_(now), changed_(changed) {}
  Result<> run();

 private:
  Result<> add();
  Result<> modify();
  Result<> remove();
  bool meets(const FederationRecord& f) const;
  std::vector<std::string> members(const std::string& federation) const;
  Result<bool> change_members(const std::string& federation);
  void note_member(const std::string& name);

  Directory& d_;
  Touched& touched_;
  const EntityEdit& edit_;
  Time now_;
  rpc::Entities& changed_;
};

// Federation= and FedState= of a cluster of that Directory. Whether anything changed.
Result<bool> change_membership(const Directory& directory, ClusterRecord& cluster, const EntityChange& set);
void leave_federation(ClusterRecord& cluster);

}  // namespace muster::slurmdbd
