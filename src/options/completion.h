// Shell completion scripts from the rows. Option names only; values are the shell's (files) or the user's.
#pragma once

#include <span>
#include <string>

#include "options/option_table.h"

namespace muster {

std::string bash_completion(std::span<const Command> commands);
std::string zsh_completion(Command c);  // the file _<command>
std::string fish_completion(Command c);

}  // namespace muster
