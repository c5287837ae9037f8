// Memory in TRES lists, as Slurm prints it: in whole or half units, "62.50G", "1.50G", "1500M". Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

std::string format_tres_mem(uint64_t mb);
// Reads what format_tres_mem wrote; 0 for a text that is not a memory size.
uint64_t parse_tres_mem_mb(std::string_view text);

}  // namespace muster
