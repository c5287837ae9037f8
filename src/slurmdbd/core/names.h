// Names in the case that slurmdbd keeps them in: accounts, clusters, QOS and wckeys are lower case, whatever a job or a question
// wrote. User and partition names stay as they are. Pure.
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
