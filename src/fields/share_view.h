// The columns of sshare: the tree of associations with shares, usage and factors. sshare(1). How tables are printed: columns.h. As data:
// json_share.h. What the numbers mean is in model/rows.h ShareRow; here they only get their form.
#pragma once

#include <string>
#include <string_view>

#include "fields/columns.h"
#include "model/accounts.h"
#include "model/rows.h"

namespace muster::fields {

struct ShareView {
  const ShareRow& row;
  bool fair_tree = true;  // else classic: accounts have factors, too, and nothing has a LevelFS
  std::string_view cluster;
  uint32_t indent = 0;  // how many accounts above it are shown
};

using ShareField = ColumnField<ShareView>;

std::span<const ShareField> share_fields();

// The columns shown without --format.
struct ShareDefaults {
  bool long_output = false, partitions = false, fair_tree = true;
};
std::string share_default_columns(const ShareDefaults& d);

// The list that --helpformat prints.
std::string share_help();

// Of what a row shows: an account's own association, not a user's.
inline bool is_account(const ShareRow& row) { return row.user.empty(); }
inline bool is_root(const ShareRow& row) { return row.depth == 0 && is_account(row); }
// A fair tree ranks users, so accounts have no factor.
inline bool has_factor(const ShareView& v) { return !v.fair_tree || !is_account(v.row); }
// Root has no siblings to be compared with, and who has its parent's shares is none among them.
inline bool has_level(const ShareView& v) { return v.fair_tree && !is_root(v.row) && v.row.shares != kSharesOfParent; }

}  // namespace muster::fields
