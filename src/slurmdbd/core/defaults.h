// The account, QOS and wckey of a job that named none: its user's default account on the cluster, and the default QOS there. A controller that
// knows the accounts fills them in itself; this is for jobs submitted before it did. Pure. Cost: O(associations) a message.
#pragma once

#include "model/accounting.h"
#include "slurmdbd/core/directory.h"

namespace muster::slurmdbd {

// Fills in only what is empty: accounts and QOS for users with an association; with `wckeys` (TrackWCKey) also default wckeys.
void fill_defaults(const Directory& directory, bool wckeys, rpc::StoreRecords& records);

}  // namespace muster::slurmdbd
