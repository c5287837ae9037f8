// The one error table (errc.def): each row has a name for code, a number for scontrol errnumstr and the wire, and a text for people. A
// new row is allowed only where some caller reacts to it differently or Slurm documents it.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster {

enum class Errc : int32_t {
#define MUSTER_ERRC(name, number, text) name,
#include "base/errc.def"
#undef MUSTER_ERRC
};

std::string_view errc_text(Errc code);
int errc_number(Errc code);
// The text for Slurm's number; empty for an unknown one.
std::string_view errc_text_of_number(int number);

}  // namespace muster
