// What lies in the folder of private directories (job_namespace.h). Internal to os/.
#pragma once

namespace muster::os {

inline constexpr char kHeldBy[] = ".ns";
inline constexpr char kAside[] = ".gone.";  // beginning of the name of what is to be removed

}  // namespace muster::os
