// Widths and headers are those of Slurm's own listings; a name that is too long is marked, a number never cut.
#include <cmath>

#include "fields/share_view.h"
#include "fields/values.h"
#include "model/accounts.h"

namespace muster::fields {
namespace {

using V = const ShareView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
constexpr int kDigits = 6;

// An account stands one blank deeper than the account above it that is shown, and users as deep as accounts beside them would.
void account(V v, S o) {
  o.append(v.indent, ' ');
  put(o, v.row.account);
}
void raw_shares(V v, S o) {
  if (is_root(v.row)) return;  // it is the whole machine, whatever its shares
  if (v.row.shares == kSharesOfParent) put(o, "parent");
  else put_number(o, v.row.shares);
}
void factor(V v, S o) {
  if (has_factor(v)) put_fixed(o, v.row.factor, kDigits);
}
void level(V v, S o) {
  if (!has_level(v)) return;
  if (std::isinf(v.row.level_fs)) put(o, "inf");
  else put_fixed(o, v.row.level_fs, kDigits);
}
// Its share of the whole is not a share among siblings; Slurm shows none.
void norm_shares(V v, S o) { put_fixed(o, is_root(v.row) ? 0 : v.row.norm_shares, kDigits); }

// Plain numbers, as limits are set: memory in MB-minutes would read as a size with a unit. Of every TRES: also those that nothing counts
// here, where their numbers put them.
void put_minutes_of(S out, const TresAmounts& amounts, bool of_every_tres = false) {
  bool first = true;
  auto put_one = [&](std::string_view kind, std::string_view name, uint64_t count) {
    if (!first) out += ',';
    first = false;
    put(out, kind);
    if (!name.empty()) (out += '/') += name;
    out += '=';
    put_number(out, count);
  };
  each_tres(amounts, [&](std::string_view kind, std::string_view name, uint64_t count) {
    put_one(kind, name, count);
    if (of_every_tres && kind == "mem") put_one("energy", "", 0);
    if (of_every_tres && kind == "billing")
      for (std::string_view uncounted : {"fs/disk", "vmem", "pages"}) put_one(uncounted, "", 0);
  });
}

constexpr ShareField kFields[] = {
    {"Account", "Account", -20, Fit::kMarked, kWorks, "The account, as deep as it stands in the tree that is shown", account},
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { put(o, v.cluster); }},
    {"EffectvUsage", "EffectvUsage", 13, Fit::kWhole, kWorks, "Usage as it counts for the factor",
     [](V v, S o) { put_fixed(o, v.row.effective_usage, kDigits); }},
    {"FairShare", "FairShare", 10, Fit::kWhole, kWorks, "The factor of priorities", factor},
    {"GrpTRESMins", "GrpTRESMins", 30, Fit::kMarked, kWorks, "The limit on TRES-minutes",
     [](V v, S o) { put_minutes_of(o, v.row.limit_minutes); }},
    {"GrpTRESRaw", "GrpTRESRaw", 30, Fit::kMarked, kWorks, "TRES-minutes used",
     [](V v, S o) { put_minutes_of(o, v.row.used_minutes, true); }},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "The number of the association", [](V v, S o) { put_number(o, v.row.association); }},
    {"LevelFS", "LevelFS", 10, Fit::kWhole, kWorks, "NormShares by EffectvUsage: how it compares with its siblings", level},
    {"NormShares", "NormShares", 11, Fit::kWhole, kWorks, "Shares as part of all there are", norm_shares},
    {"NormUsage", "NormUsage", 11, Fit::kWhole, kWorks, "Usage as part of all there was",
     [](V v, S o) { put_fixed(o, v.row.norm_usage, kDigits); }},
    {"Partition", "Partition", 12, Fit::kMarked, kWorks, "The partition it is for, if it is for one",
     [](V v, S o) { put(o, v.row.partition); }},
    {"RawShares", "RawShares", 10, Fit::kWhole, kWorks, "Shares as they were set", raw_shares},
    {"RawUsage", "RawUsage", 11, Fit::kWhole, kWorks, "TRES-seconds used", [](V v, S o) { put_number(o, whole_part(v.row.raw_usage)); }},
    {"TRESRunMins", "TRESRunMins", 30, Fit::kMarked, kWorks, "TRES-minutes that running jobs may still use",
     [](V v, S o) { put_minutes_of(o, v.row.run_minutes, true); }},
    {"User", "User", 10, Fit::kMarked, kWorks, "The user; nobody on an account's own line", [](V v, S o) { put(o, v.row.user); }},
};

}  // namespace

std::span<const ShareField> share_fields() { return kFields; }

std::string share_default_columns(const ShareDefaults& d) {
  std::string out = "Account,User";
  if (d.partitions) out += ",Partition";
  out += ",RawShares,NormShares,RawUsage";
  if (d.long_output) out += ",NormUsage";
  out += ",EffectvUsage,FairShare";
  if (d.long_output && d.fair_tree) out += ",LevelFS";
  if (d.long_output) out += ",GrpTRESMins,TRESRunMins";
  return out;
}

std::string share_help() {
  std::vector<std::string_view> names;
  for (const ShareField& f : kFields) names.push_back(f.name);
  return column_help(names, 17);
}

}  // namespace muster::fields
