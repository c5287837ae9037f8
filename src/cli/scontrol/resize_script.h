// After a running job gave up nodes: the scripts that correct the variables of a shell inside it. Guide faq, "Can I change my
// job's size after it has started running?". The text is pure; writing it says on stdout how to use it.
#pragma once

#include <string>

#include "cli/scontrol/context.h"
#include "model/rpc.h"

namespace muster::cli {

enum class ShellKind { kSh, kCsh };
std::string resize_script(const rpc::Allocated& a, ShellKind shell);

// slurm_job_<id>_resize.sh and .csh in the current directory.
void write_resize_scripts(Context& c, const rpc::Allocated& a);

}  // namespace muster::cli
