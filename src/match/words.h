// Splits a command line into words: blanks separate, '…' and "…" keep blanks, \ takes the next character as it is, # at the start of a word
// begins a comment. Errors: an open quote, more than 64 KiB. Cost: O(length).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::match {

Result<std::vector<std::string>> split_words(std::string_view line);

}  // namespace muster::match
