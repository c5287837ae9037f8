// --help and --usage, and the lists that "help" as a value prints, from the rows. Plain text, English, ends in a newline.
#pragma once

#include <string>
#include <string_view>

#include "options/option_table.h"

namespace muster {

std::string help_text(Command command, std::span<const PluginOption> plugins = {});
std::string usage_text(Command command);
// The lists of --hint=help, --cpu-bind=help and --mem-bind=help; empty for a topic whose list only the command knows (gres, mpi).
std::string topic_help_text(std::string_view topic);

}  // namespace muster
