// Checks the options of a whole batch script. Where sbatch stops at the first mistake, this goes on and reports each with its line. The
// rules and the sentences are those of the parser; muster lint has the rules of taste. Pure. Cost: a parse, times the number of conflicts
// (at most kMaxConflicts).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/job_options.h"
#include "options/script_directives.h"

namespace muster {

struct DirectiveOption {
  size_t line = 0;
  std::string name;  // long name without dashes
  std::string value;
};
struct DirectiveFinding {
  size_t line = 0;
  bool error = true;   // else a warning
  std::string option;  // "--mem"; "" where it is about the line
  std::string text, hint;
};
struct DirectiveCheck {
  std::vector<DirectiveFinding> findings;
  std::vector<DirectiveOption> given;                            // those understood, in order
  JobOptions options;                                            // what they make together; conflicting ones left out
  std::shared_ptr<const std::vector<JobOptionRow>> plugin_rows;  // `options` refers to them
};

// Checks the directives up to the first command. `now` is for times such as --begin=tomorrow. `plugins` must outlive the result.
DirectiveCheck check_directives(std::string_view script, Time now, std::span<const PluginOption> plugins = {});

}  // namespace muster
