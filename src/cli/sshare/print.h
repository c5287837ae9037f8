// sshare's lines: which associations are shown, in which columns, and the same for --json. Lines are printed as they come, because the
// controller sends them in the order of the tree; for --json what is shown is kept until all is there, some 300 bytes an association.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cli/common/options.h"
#include "fields/json_share.h"
#include "fields/share_view.h"
#include "model/rpc.h"

namespace muster::cli {

// -A, -a, -u and -U. `own_user` is the one whose lines are shown when no users are asked for.
class ShareFilter {
 public:
  ShareFilter(const SshareOptions& options, std::string own_user);
  bool shows(const ShareRow& row);
  // "account x", "user y": what was named with -A and -u and is nowhere in the rows seen.
  std::vector<std::string> unknown() const;

 private:
  struct Named {
    std::string name;
    bool seen = false;
  };
  std::vector<Named> accounts_, users_;
  bool all_users_, only_users_;
  std::string own_user_;
};

// How many of the accounts above a row are shown. Is told every row, in the order of the tree.
class ShownAbove {
 public:
  uint32_t of(const ShareRow& row, bool shown);

 private:
  std::vector<uint32_t> depths_;  // of the shown rows from the root down to the one before
};

// kInvalidReq for a column that nobody knows; the error's text is its name, the hint the one probably meant.
Result<fields::Table<fields::ShareView>> share_table(const SshareOptions& options, bool fair_tree);

class ShareLines {
 public:
  ShareLines(const SshareOptions& options, ShareFilter& filter, std::string cluster)
      : options_(options), filter_(filter), cluster_(std::move(cluster)) {}
  // Appends the header before the first part's lines.
  Result<> add(const rpc::ShareRows& part, std::string& out);
  // To be called after the last part.
  Result<> end(std::string& out) { return table_ ? Result<>() : add({}, out); }

 private:
  const SshareOptions& options_;
  ShareFilter& filter_;
  std::string cluster_;
  ShownAbove above_;
  std::optional<fields::Table<fields::ShareView>> table_;  // which columns there are is known with the first part
};

// What --json and --yaml show.
class ShareTree {
 public:
  ShareTree(ShareFilter& filter, std::string cluster) : filter_(filter) { document_.cluster = std::move(cluster); }
  void add(rpc::ShareRows&& part);
  void write(fields::TreeSink& sink) const { fields::json_shares(document_, entries_, sink); }

 private:
  ShareFilter& filter_;
  fields::ShareDocument document_;
  std::vector<fields::ShareEntry> entries_;
  std::unordered_map<uint32_t, std::string> account_names_;  // by association, to name the parent of an account
};

}  // namespace muster::cli
