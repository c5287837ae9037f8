// The verbs of the command muster: one row each, from which --help and the hint for an unknown word are made.
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

// Runs the verb that the arguments begin with, or --help or --version; else says what is wrong with the arguments.
int run_verb(std::span<const std::string> arguments);

std::string help();

// Prints "muster: text" and its hint on standard error; exit code 1.
int complain(const Error& e);

}  // namespace muster::front
