#include "os/log_format.h"

#include <fmt/args.h>
#include <fmt/format.h>

namespace muster::os {

std::string format_log(std::string_view text, std::span<const LogArg> args) {
  if (args.empty() && text.find_first_of("{}") == std::string_view::npos) return std::string(text);
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const LogArg& a : args) std::visit([&](const auto& v) { store.push_back(v); }, a);
  try {
    return fmt::vformat(text, store);
  } catch (const std::exception& e) {
    return std::string(text) + " (cannot be formatted: " + e.what() + ")";
  }
}

}  // namespace muster::os
