// Texts of users on terminals, in lines that scripts read, and in logs: a job may be called anything, and what it is called
// must neither begin a new line nor be obeyed by a terminal. Control characters and bytes that are not UTF-8 become "\n",
// "\r", "\t" or "\x1b"; everything else stays as it is. For people and line readers; --json has the text whole.
//
// Cost: one look at each byte where there is nothing to quote.
#pragma once

#include <string>
#include <string_view>

namespace muster {

// At `i`: how many bytes of `s` may be shown as they are; 0 if this one may not.
size_t plain_length(std::string_view s, size_t i);

std::string plain(std::string_view text);
void append_plain(std::string& out, std::string_view text);
// The same for what `out` has from `from` on.
void make_plain(std::string& out, size_t from);

}  // namespace muster
