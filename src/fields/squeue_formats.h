// squeue's own formats and orders. squeue(1).
#pragma once

#include <string_view>

namespace muster::fields {

inline constexpr std::string_view kSqueueFormat = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
inline constexpr std::string_view kSqueueLongFormat = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";   // -l
inline constexpr std::string_view kSqueueStepFormat = "%.15i %.8j %.9P %.8u %.9M %N";                   // -s
inline constexpr std::string_view kSqueueStartFormat = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";  // --start
inline constexpr std::string_view kSqueueSort = "P,t,-p";
inline constexpr std::string_view kSqueueStepSort = "P,i";
inline constexpr std::string_view kSqueueStartSort = "S";

}  // namespace muster::fields
