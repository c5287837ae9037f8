// Names as slurmdbd keeps them: accounts, clusters, QOS and wckeys are in lower case, however a job or a question wrote them. User and
// partition names stay as they are. And which names may be given at all. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/accounts.h"

namespace muster::slurmdbd {

void lower(std::vector<std::string>& names);
void lower_names(rpc::StoreRecords& records);
void lower_names(rpc::JobRecordFilter& filter);
void lower_names(EntityFilter& filter);

// Errors: kBadName, with the field, the name and the rule.
Result<> check_names(std::string_view field, const std::vector<std::string>& names);
// Of a wckey that somebody gets; "*" before one says that it is the default.
Result<> check_new_wckey(std::string_view field, const std::string& key);

}  // namespace muster::slurmdbd
