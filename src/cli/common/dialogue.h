// Dialogue: the state that a command of many verbs (scontrol, sacctmgr) keeps while it carries out one line or many: its log, its exit
// code, its complaints, its prompt. Each command's Context is a Dialogue. There is one per run of the program; the prompt keeps it over its
// lines.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/common/command.h"

namespace muster::cli {

using Words = std::span<const std::string>;  // the words after the verb

class Dialogue {
 public:
  os::CliLog log;
  int exit_code = 0;
  bool done = false;  // after exit or quit

  // Calls put_error() and sets exit code 1.
  virtual void complain(std::string_view lines);
  // Prompts until done or the end of the input; each line goes to `run`.
  void interact(const std::function<void(Words line)>& run);

 protected:
  explicit Dialogue(std::string_view program) : log(program), program_(program) {}
  ~Dialogue() = default;

 private:
  std::string program_;
};

// A verb in the list that "help" prints: what is typed, and from `column` on what it does.
std::string verb_help(std::string_view typed, std::string_view summary, size_t column);

}  // namespace muster::cli
