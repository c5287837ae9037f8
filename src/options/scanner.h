// Splits an argument list into options and operands by the rules of getopt_long(3): unique prefixes of long names, --name=value and --name
// value, bundled letters, -n4, "--" ends options. Messages are getopt's, which scripts and users know. Pure; cost: arguments times rows.
// Why not getopt_long itself: it keeps its state in globals and prints.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <vector>

#include "options/option_table.h"

namespace muster {

struct ScannedOption {
  size_t row = 0;  // index into the table
  bool has_value = false;
  std::string value;
};
struct Scan {
  std::vector<ScannedOption> options;
  std::vector<std::string> operands;
};
enum class Operands : uint8_t {
  kEndOptions,  // sbatch, srun, salloc: what follows the script or command is its own
  kAnywhere,    // the query commands: options may follow
};

// The error is getopt's text without the program's name: "unrecognized option '--foo'".
std::expected<Scan, std::string> scan_arguments(std::span<const OptionInfo* const> table, std::span<const std::string> arguments,
                                                Operands operands);

// Whether `name` spells this option as an older release did, or as no manual page does but scripts do: --tasks-per-node for
// --ntasks-per-node.
bool is_other_spelling(const OptionInfo& option, std::string_view name);

}  // namespace muster
