// The text of scontrol show assoc_mgr: a record for each user, association and QOS as the controller knows it, each limit with what is used of
// it: GrpJobs=4(2), N(2) where none is set. scontrol(1). Names of users have no numbers in the controller; who prints looks them up.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/assoc_mgr.h"

namespace muster::fields {

struct AssocMgrNames {
  std::function<std::string(const std::string& user)> number_of;  // "1000"; "" of one that this host does not know
  std::function<std::string(const std::string& uid)> user_of;     // the name; "" of none
};

void show_user_record(const UserRecord& user, const AssocMgrNames& names, std::string& out);
// `tres`: the columns of the amounts.
void show_association(const AssociationUse& row, const std::vector<std::string>& tres, const AssocMgrNames& names, std::string& out);
void show_qos(const QosUse& row, const std::vector<std::string>& tres, const AssocMgrNames& names, std::string& out);

}  // namespace muster::fields
