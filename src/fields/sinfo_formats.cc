#include "fields/sinfo_formats.h"

namespace muster::fields {

std::string sinfo_format(SinfoLayout layout, uint32_t partition_width, uint32_t node_width) {
  std::string p = std::to_string(partition_width), n = std::to_string(node_width);
  switch (layout) {
    case SinfoLayout::kDefault: return "%" + p + "P %.5a %.10l %.6D %.6t %N";
    case SinfoLayout::kSummary: return "%" + p + "P %.5a %.10l %.16F %N";
    case SinfoLayout::kLong: return "%" + p + "P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N";
    case SinfoLayout::kNode: return "%" + n + "N %.6D %." + p + "P %6t";
    case SinfoLayout::kLongNode: return "%" + n + "N %.6D %." + p + "P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E";
    case SinfoLayout::kReasons: return "%20E %9u %19H %N";
    case SinfoLayout::kLongReasons: return "%20E %12U %19H %6t %N";
  }
  return {};
}

}  // namespace muster::fields
