// The prompt of scontrol and sacctmgr: reads lines from the terminal with history and editing, or plainly from standard input, and splits
// each into words. libedit is opened only here and only on a terminal.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

class LineReader {
 public:
  explicit LineReader(std::string prompt);
  std::optional<std::string> next();  // without its end; nullopt at the end of the input

 private:
  std::string prompt_;
  void* library_ = nullptr;
  char* (*readline_)(const char*) = nullptr;
  int (*add_history_)(const char*) = nullptr;
};

// Splits at blanks; ' and " keep blanks together.
std::vector<std::string> words_of(std::string_view line);

// Runs lines until the end of the input or until `run` returns false. "!!" runs the last line again, or calls `no_previous` if there is
// none. Empty lines and those that begin with '#' are skipped.
void prompt_loop(const std::string& prompt, const std::function<bool(std::span<const std::string>)>& run,
                 const std::function<void()>& no_previous);

}  // namespace muster::cli
