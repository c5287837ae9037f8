// Reads the #SBATCH lines of a batch script, and says whether a text is a batch script at all. sbatch(1). Pure; linear in the script; any
// bytes are accepted. Options are split into words here; parser.h gives them their meaning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "options/option_table.h"

namespace muster {

struct DirectiveLine {
  size_t line = 0;       // counted from 1
  size_t component = 0;  // of a heterogeneous job
  std::vector<std::string> words;
};
struct Directives {
  std::vector<DirectiveLine> lines;
  std::vector<size_t> foreign_lines;  // #PBS and #BSUB
  size_t components = 1;              // "#SBATCH hetjob" begins the next one
};
// Reads #SBATCH lines up to the first line that is neither blank nor a comment. Words are split at blanks; ' and " quote; a backslash takes
// the next backslash, quote or # as it is; an unquoted # ends the line. The error is fatal: an unmatched quote, or a ":" between options.
Result<Directives> read_directives(std::string_view script, std::string_view script_name);

// The words of one #SBATCH line; `text` is the part after "#SBATCH". The error's text names no place.
bool begins_component(const std::vector<std::string>& words);  // "hetjob", or "packjob" as it was called once
Result<std::vector<std::string>> directive_words(std::string_view text);

inline constexpr size_t kDefaultMaxScript = 4 * 1024 * 1024;
// Every fault that makes a text no batch script, with Slurm's message and perhaps a hint. sbatch reports the first, in this order: empty,
// longer than `max_bytes`, only blanks, no "#!" line, zero bytes, DOS line ends.
struct ScriptFault {
  Error error;
  uint32_t line = 0;  // 0: the whole script
};
std::vector<ScriptFault> script_faults(std::string_view script, size_t max_bytes);
// Fails with the first of the script's faults.
Result<> check_script(std::string_view script, size_t max_bytes = kDefaultMaxScript);

// The script that --wrap submits.
std::string wrap_script(std::string_view command);

}  // namespace muster
