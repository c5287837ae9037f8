// sshare --json and --yaml: the record of the document "shares", in the shape of the description's `shares_resp_msg`.
#pragma once

#include <span>
#include <string>

#include "fields/share_view.h"
#include "fields/tree_sink.h"

namespace muster::fields {

// An association that is shown, and the name of the account above it: of a user its account, of root "".
struct ShareEntry {
  ShareRow row;
  std::string parent;
};

struct ShareDocument {
  std::string cluster;
  bool fair_tree = true;
  uint64_t total_shares = 0;  // of what stands directly below root
};

// Cost: about 900 bytes of compact JSON for an association.
void json_shares(const ShareDocument& document, std::span<const ShareEntry> entries, TreeSink& sink);

}  // namespace muster::fields
