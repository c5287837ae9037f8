// Shell completion scripts, made from the rows. They complete option names only; values are left to the shell (files) or the user.
#pragma once

#include <span>
#include <string>

#include "options/option_table.h"

namespace muster {

std::string bash_completion(std::span<const Command> commands);
std::string zsh_completion(Command command);  // the text of the file _<command>
std::string fish_completion(Command c);

}  // namespace muster
