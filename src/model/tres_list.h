// TresList: how many of which trackable resources a request names, as values. It has the one grammar of such lists behind the edges:
//
//   [kind/]name[:type][:count | =count],…      "gres/gpu:a100:8,license/matlab:2", "gpu:2", "cpu=4"
//
// options/ (values.h) turns what a person typed into this, with its own words for what is wrong; Gres= of a node, which also says what
// the node has, is in model/gres_items.h. A kind may also stand before ':'. Without a kind the entry is a GRES, except for what every
// node has (cpu, mem, node, billing, energy). A type or name "none" counts nothing. Entries with the same kind, name and type add up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace muster {

struct Tres {
  std::string kind;        // "gres", "license", "fs" …; "": what every node has
  std::string name, type;  // type "": any
  uint64_t count = 1;
  bool is_gres() const { return kind == "gres"; }
  bool is_gpu() const { return is_gres() && name == "gpu"; }
  bool operator==(const Tres&) const = default;
};

class TresList {
 public:
  static constexpr size_t kMost = 256;
  static constexpr uint64_t kMostCount = 1ull << 52;

  // Errors: kInvalidGres; the hint has the entry and says what is wrong with it. O(text).
  static Result<TresList> parse(std::string_view text);

  const std::vector<Tres>& items() const& { return items_; }
  std::vector<Tres>& items() & { return items_; }
  std::vector<Tres> items() && { return std::move(items_); }  // for a list that is destroyed before its items are looked at
  // The count of the GRES with this name, all types together.
  uint64_t gres(std::string_view name) const;
  void drop_gres(std::string_view name);
  Result<> add(Tres tres);

  std::string text() const;     // "gres/gpu:a100:8,license/matlab:2"; parse() of it gives the list again
  std::string plain() const;    // the same without "gres/", as --gres takes it
  std::string equated() const;  // "gres/gpu:a100=8,license/matlab=2", as TresPerTask= and SLURM_TRES_PER_TASK have it
  bool operator==(const TresList&) const = default;

 private:
  std::vector<Tres> items_;
};

}  // namespace muster
