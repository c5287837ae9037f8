#include "muster/words.h"

#include <algorithm>

#include "base/text.h"

namespace muster::front {

bool Words::has(std::string_view flag) const { return std::find(flags.begin(), flags.end(), flag) != flags.end(); }

Result<Words> read_words(std::span<const std::string> arguments, std::vector<std::string_view> known, size_t max_rest) {
  Words out;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("-") || argument == "-") {
      if (out.rest.size() == max_rest) return fail(Errc::kBadOption, "too many words: '" + argument + "'");
      out.rest.push_back(argument);
      continue;
    }
    if (std::find(known.begin(), known.end(), argument) == known.end()) {
      std::string_view near = did_you_mean(argument, known);
      return fail(Errc::kBadOption, "unrecognized option '" + argument + "'",
                  near.empty() ? "muster --help lists the options" : "did you mean " + std::string(near) + "?");
    }
    out.flags.push_back(argument);
  }
  return out;
}

}  // namespace muster::front
