// Extra= of a node: a JSON object of strings, numbers and booleans that the site writes (scontrol update node Extra=, slurmd --extra) and
// that jobs may ask about (model/extra_constraint.h). Guide extra_constraints.
//
// The text may be anything: a site that does not ask about it keeps notes there. So a text that is no JSON object is an error here and
// nowhere else, and the node then says nothing. A key whose value is null, a list or an object is as if it were not there: such a value
// cannot be compared. Of a key that stands there twice the last value holds.
//
// Cost: O(text), at most 4096 bytes of it, however deep it is nested; value_of O(log keys).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace muster {

using ExtraValue = std::variant<bool, double, std::string>;

struct NodeExtra {
  std::vector<std::pair<std::string, ExtraValue>> values;  // ascending by key

  const ExtraValue* value_of(std::string_view key) const;  // null: the node says nothing of it

  bool operator==(const NodeExtra&) const = default;
  static Result<NodeExtra> parse(std::string_view text);
};

}  // namespace muster
