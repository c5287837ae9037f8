#include "muster/lint_rules.h"

#include "base/text.h"

namespace muster::front {

const DirectiveOption* Look::option(std::string_view wanted) const {
  for (auto it = check.given.rbegin(); it != check.given.rend(); ++it)
    if (it->name == wanted) return &*it;
  return nullptr;
}

Look look_at(std::string_view script, const std::string& name, const LintWorld& world) {
  Look look;
  look.name = name;
  look.world = &world;
  look.check = check_directives(script, world.now, world.plugins);
  for (std::string_view line : split(script, '\n', true)) {
    while (line.ends_with('\r')) line.remove_suffix(1);
    look.lines.push_back(line);
    const std::string_view seen = trim(line);
    if (look.first_command == 0 && !seen.empty() && seen[0] != '#') look.first_command = look.lines.size();
  }
  return look;
}

void warn(const Look& look, size_t line, std::string subject, std::string message, std::string hint, Findings& out) {
  out.push_back({Level::kWarning, look.name, static_cast<uint32_t>(line), std::move(subject), std::move(message), std::move(hint)});
}

}  // namespace muster::front
