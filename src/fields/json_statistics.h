// sdiag --json and --yaml: the record of the document "statistics".
#pragma once

#include <functional>
#include <string>

#include "fields/tree_sink.h"
#include "model/rpc.h"

namespace muster::fields {

// `user_name` gives the name of a uid. Cost: linear in the number of message types and users.
void json_statistics(const rpc::Statistics& s, const std::function<std::string(Uid)>& user_name, TreeSink& sink);

}  // namespace muster::fields
