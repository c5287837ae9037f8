// Names in the letter case in which slurmdbd keeps them: accounts, clusters, QOS and wckeys are in lower case, however a job or a
// question wrote them. User and partition names stay as they are. Pure.
#pragma once

#include <string>
#include <vector>

#include "model/accounts.h"

namespace muster::slurmdbd {

void lower(std::vector<std::string>& names);
void lower_names(rpc::StoreRecords& records);
void lower_names(rpc::JobRecordFilter& filter);
void lower_names(EntityFilter& filter);

}  // namespace muster::slurmdbd
