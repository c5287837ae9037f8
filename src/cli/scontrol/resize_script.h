// The scripts for a job that gave up nodes while it runs: they correct the variables of a shell inside it. Guide faq, "Can I change my
// job's size after it has started running?". The text is pure; writing the files also prints on stdout how to use them.
#pragma once

#include <string>

#include "cli/scontrol/context.h"
#include "model/rpc.h"

namespace muster::cli {

enum class ShellKind { kSh, kCsh };
std::string resize_script(const rpc::Allocated& allocated, ShellKind shell);

// Writes slurm_job_<id>_resize.sh and .csh in the current directory.
void write_resize_scripts(Context& c, const rpc::Allocated& a);

}  // namespace muster::cli
