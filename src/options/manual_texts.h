// What a manual page says about a command before its options: one line, and paragraphs.
#pragma once

#include <string>
#include <string_view>

#include "options/option_table.h"

namespace muster {

struct ManualText {
  Command command;
  std::string_view summary;
  std::string_view description;  // paragraphs separated by blank lines
};
const ManualText& manual_text(Command c);
std::string man_page(const ManualText& text);

}  // namespace muster
