// What lies in the folder of private directories (job_namespace.h). For os/, and for pam/, which has no library.
#pragma once

namespace muster::os {

// BASE/JOB/.ns holds the namespace of mounts; beside it, with these endings, the others.
inline constexpr char kHeldBy[] = ".ns";
inline constexpr char kPidEnd[] = ".pid", kUserEnd[] = ".user";
inline constexpr char kFirstProcessEnd[] = ".first";  // the number of the first process of the namespace of processes
inline constexpr char kAside[] = ".gone.";            // beginning of the name of what is to be removed

}  // namespace muster::os
