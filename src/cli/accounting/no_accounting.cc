#include "cli/accounting/no_accounting.h"

#include "cli/common/client_conf.h"
#include "cli/common/version.h"

namespace muster::cli {

std::optional<int> answered_offline(std::string_view program, std::string_view usage, const std::vector<std::string>& arguments) {
  for (const std::string& a : arguments) {
    if (a == "-V" || a == "--version") {
      Out().line(kVersionText);
      return 0;
    }
    if (a == "-h" || a == "--help" || a == "--usage") {
      Out().put("Usage: " + std::string(program) + " " + std::string(usage) + "\n");
      return 0;
    }
  }
  return std::nullopt;
}

int refuse(std::string_view lines) {
  put_error(lines);
  return 1;
}

}  // namespace muster::cli
