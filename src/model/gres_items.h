// GresItems: what Gres= of a NodeName line says that the node has: "gpu:a100:8(S:0-1),mps:100,bandwidth:lustre:no_consume:4G". What a
// request asks for is in model/tres_list.h. slurm.conf(5) Gres. Pure; cost O(text); at most kMaxGresItems items.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster {

inline constexpr size_t kMaxGresItems = 256;

struct GresItem {
  std::string name;  // "gpu"
  std::string type;  // "a100"; "" = none given
  uint64_t count = 1;
  bool no_consume = false;
  std::string suffix;  // what stood in parentheses, "S:0-1"
  bool operator==(const GresItem&) const = default;
};

struct GresItems {
  std::vector<GresItem> list;

  static Result<GresItems> parse(std::string_view text);
  std::string text() const;  // parse() of it gives the items again
  bool operator==(const GresItems&) const = default;
};

}  // namespace muster
