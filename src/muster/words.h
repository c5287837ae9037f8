// Reads the words after a verb of muster that has no option table of its own: flags, and words that are no flags. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::front {

struct Words {
  std::vector<std::string> flags;  // as given: "--json"
  std::vector<std::string> rest;
  bool has(std::string_view flag) const;
};

// `known` are the flags of the verb; at most `max_rest` other words may follow. Errors name the word and what was probably meant.
Result<Words> read_words(std::span<const std::string> arguments, std::vector<std::string_view> known, size_t max_rest);

}  // namespace muster::front
