#include "cli/common/dialogue.h"

#include <algorithm>

#include "cli/common/prompt.h"

namespace muster::cli {

void Dialogue::complain(std::string_view lines) {
  exit_code = 1;
  put_error(lines);
}

void Dialogue::interact(const std::function<void(Words)>& run) {
  prompt_loop(
      program_ + ": ",
      [&](Words words) {
        run(words);
        return !done;
      },
      [&] { complain("no previous command"); });
}

std::string verb_help(std::string_view typed, std::string_view summary, size_t column) {
  std::string line = "  " + std::string(typed);
  line.resize(std::max(line.size() + 1, column), ' ');
  return line + std::string(summary) + "\n";
}

}  // namespace muster::cli
