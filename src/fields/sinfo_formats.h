// sinfo's own formats and orders. sinfo(1). The widths are those of partition_column_width and node_column_width. Where the manual page and
// Slurm's output differ by a blank or a point, these follow the output: scripts cut by column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::fields {

enum class SinfoLayout : uint8_t { kDefault, kSummary, kLong, kNode, kLongNode, kReasons, kLongReasons };

std::string sinfo_format(SinfoLayout layout, uint32_t partition_width, uint32_t node_width);

inline constexpr std::string_view kSinfoSort = "#P,-t";
inline constexpr std::string_view kSinfoNodeSort = "N";  // -N

}  // namespace muster::fields
