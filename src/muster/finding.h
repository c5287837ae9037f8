// Finding: one thing that check-config or lint has to say about a line of a file, and how a list of them is shown. Pure. The text has one
// finding a line with its hint below, in the form of compilers, so that editors can jump there:
//
//   slurm.conf:9: warning: MaxCPUsPerUser: is a key of a QOS …
//       for both: sacctmgr add qos …
//   1 warning in slurm.conf, gres.conf
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fields/tree_sink.h"

namespace muster::front {

enum class Level : uint8_t { kError, kWarning, kNote };  // a note is neither wrong nor odd

struct Finding {
  Level level = Level::kError;
  std::string file;
  uint32_t line = 0;    // from 1; 0: the file as a whole
  std::string subject;  // the key or option; "" where there is none
  std::string message;
  std::string hint;  // what was probably meant or what to do; may be empty
  bool operator==(const Finding&) const = default;
};

// Sorts by file, in the order in which files first occur, then by line.
void in_order(std::vector<Finding>& findings);
bool any_error(std::span<const Finding> findings);
std::string to_text(std::span<const Finding> findings);
// A line such as "2 errors, 1 warning in a, b" or "a, b: no findings".
std::string summary(std::span<const Finding> findings, std::span<const std::string> files);
// Writes {"files": [], "findings": [{"level", "file", "line", "subject", "message", "hint"}], "errors": N, "warnings": N}.
void to_tree(std::span<const Finding> findings, std::span<const std::string> files, fields::TreeSink& sink);
// Prints text or JSON on standard output. Gives the exit code: 1 with an error, else 0.
int show(std::vector<Finding> findings, std::span<const std::string> files, bool json);

}  // namespace muster::front
