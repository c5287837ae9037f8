// The manual page of a command in troff (man(7)), from the rows: synopsis, options, input environment variables.
#pragma once

#include <string>
#include <string_view>

#include "options/option_table.h"

namespace muster {

// `summary` is the line of NAME, `description` plain text of one or more paragraphs separated by blank lines.
std::string man_page(Command command, std::string_view summary, std::string_view description);

}  // namespace muster
