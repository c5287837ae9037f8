// Rules of experience about batch scripts: what sbatch takes without a word and hardly anybody means. Each rule is one function; two tables
// run them. A rule is worth having only if it is nearly always right: whoever adds one also adds a script about which it must not complain.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/finding.h"
#include "options/script_check.h"

namespace muster::front {

// The surroundings in which a script is checked.
struct LintWorld {
  std::string work_dir;                                  // absolute path of the directory where sbatch would be called
  std::function<bool(const std::string&)> is_directory;  // of an absolute path
  Time now{};
  std::span<const PluginOption> plugins;  // of SPANK
};

// A script taken apart.
struct Look {
  std::string name;
  std::vector<std::string_view> lines;  // without line ends
  size_t first_command = 0;             // its line, from 1; 0: there is none
  DirectiveCheck check;
  const LintWorld* world = nullptr;

  // The last occurrence of an option; nullptr when it is not given.
  const DirectiveOption* option(std::string_view name) const;
  bool has(std::string_view name) const { return option(name) != nullptr; }
};
Look look_at(std::string_view script, const std::string& name, const LintWorld& world);

using Findings = std::vector<Finding>;
void warn(const Look& look, size_t line, std::string subject, std::string message, std::string hint, Findings& out);
void run_text_rules(const Look& look, Findings& out);    // lint_text_rules.cc: how directives are written
void run_option_rules(const Look& look, Findings& out);  // lint_option_rules.cc: what they ask for

}  // namespace muster::front
