// What a job that named no account or QOS runs under: its user's default account on the cluster, and the QOS that is the default
// there. A controller that has heard of accounts fills them in itself; this is for jobs that came before it had. Pure. Cost: O(associations) a message.
#pragma once

#include "model/accounting.h"
#include "slurmdbd/core/directory.h"

namespace muster::slurmdbd {

// Only what is empty, and only of users with an association.
void fill_defaults(const Directory& directory, rpc::StoreRecords& records);

}  // namespace muster::slurmdbd
