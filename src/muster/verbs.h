// The verbs of the command muster: one row each, from which come --help and the unknown-word hint.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::front {

struct Verb {
  std::string_view name;
  std::string_view synopsis;                           // what may follow, as --help shows it
  std::string_view summary;                            // one line
  int (*run)(std::span<const std::string> arguments);  // the words after the verb; the exit code
};
std::span<const Verb> verbs();

// The verb that the arguments begin with, --help or --version, or the sentence that says what is wrong.
int run_verb(std::span<const std::string> arguments);

std::string help();

// "muster: text" and its hint on standard error; exit code 1.
int complain(const Error& e);

}  // namespace muster::front
