// The account and QOS of a job that named none: its user's default account on the cluster, and the default QOS there. A controller that
// knows the accounts fills them in itself; this is for jobs submitted before it did. Pure. Cost: O(associations) a message.
#pragma once

#include "model/accounting.h"
#include "slurmdbd/core/directory.h"

namespace muster::slurmdbd {

// Fills in only what is empty, and only for users with an association.
void fill_defaults(const Directory& directory, rpc::StoreRecords& records);

}  // namespace muster::slurmdbd
