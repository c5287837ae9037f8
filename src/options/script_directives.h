// The #SBATCH lines of a batch script, and whether a text is a batch script at all. sbatch(1).
// Pure; linear in the script; any bytes are accepted. Options are split into words here and understood by
// parser.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "options/option_table.h"

namespace muster {

struct DirectiveLine {
  size_t line = 0;  // counted from 1
  std::vector<std::string> words;
};
struct Directives {
  std::vector<DirectiveLine> lines;
  std::vector<size_t> foreign_lines;  // #PBS and #BSUB
};
// #SBATCH lines up to the first line that is neither blank nor a comment. Words are split at blanks; ' and "
// quote; a backslash takes the next backslash, quote or # as it is; an unquoted # ends the line. The error is
// fatal: an unmatched quote, or a separator of heterogeneous jobs.
Result<Directives> read_directives(std::string_view script, std::string_view script_name);

// The words of one #SBATCH line, `text` being what follows "#SBATCH". The error's text names no place.
Result<std::vector<std::string>> directive_words(std::string_view text);

inline constexpr size_t kDefaultMaxScript = 4 * 1024 * 1024;
// Everything that makes a text no batch script, worst first: empty, only blanks, no "#!" line, DOS line ends, zero bytes, longer than `max_bytes`: Slurm's messages, and
// a hint.
struct ScriptFault {
  Error error;
  uint32_t line = 0;  // 0: the whole of it
};
std::vector<ScriptFault> script_faults(std::string_view script, size_t max_bytes);
// The first of them.
Result<> check_script(std::string_view script, size_t max_bytes = kDefaultMaxScript);

// The script that --wrap submits.
std::string wrap_script(std::string_view command);

}  // namespace muster
