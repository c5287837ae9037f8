// Makes users' texts safe for terminals, for lines that scripts read, and for logs: a job may have any name, and the name must neither
// begin a new line nor be obeyed by a terminal. Control characters and bytes that are not UTF-8 become "\n", "\r", "\t" or "\x1b";
// everything else stays as it is. This is for people and line readers; --json gives the text whole.
//
// Cost: one look at each byte where there is nothing to quote.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// How many bytes of `s` from `i` on may be shown as they are; 0 if this one may not.
size_t plain_length(std::string_view s, size_t i);

std::string plain(std::string_view text);
void append_plain(std::string& out, std::string_view text);
// Does the same in place to what `out` holds from `from` on.
void make_plain(std::string& out, size_t from);

}  // namespace muster
