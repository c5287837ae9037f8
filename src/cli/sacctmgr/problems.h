// show problem: accounts and users that something is missing of. sacctmgr(1). Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fields/problem_view.h"
#include "model/accounts.h"

namespace muster::cli {

// `all` has every account, user and association that is not deleted; `is_known` says whether this host knows a user's name.
std::vector<fields::ProblemView> find_problems(const rpc::Entities& all, const std::function<bool(const std::string&)>& is_known);

}  // namespace muster::cli
