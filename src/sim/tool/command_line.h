// Options of the subcommands of muster-sim: a table of rows that makes the parser and the help.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace muster::sim::tool {

struct OptionRow {
  std::string name;                             // "--trace"
  std::string argument;                         // "FILE"; "": a flag
  std::string help;                             // lines
  std::function<bool(const std::string&)> set;  // false: the value is wrong
};

struct CommandLine {
  std::string usage, purpose, after;  // what the help says before and after the options
  std::vector<OptionRow> rows;

  std::string help() const;
  // An exit status where the program is to end: 0 after --help, 2 after wrong use, which is said on standard error.
  std::optional<int> read(const std::string& program, int argc, char** argv) const;
};

int replay_command(int argc, char** argv);    // of "muster-sim replay": argv begins behind it
int generate_command(int argc, char** argv);  // of "muster-sim generate"

inline constexpr int kWrongUse = 2, kInterrupted = 130;

// Files; errors are said with their names.
std::optional<std::string> read_whole(const std::string& path, std::string& error);
bool write_whole(const std::string& path, const std::string& text, std::string& error);

}  // namespace muster::sim::tool
