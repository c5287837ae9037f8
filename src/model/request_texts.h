// Bounds on the texts that a user writes into a request, at submission and when it is changed. The texts that prologs and epilogs see are
// among them: root's programs get them as environment, and one string over 128 KiB (execve(2), E2BIG) would keep them from starting.
//
// The same for scontrol's updates of partitions and nodes, because what they set is kept, printed and sent to every reader.
#pragma once

#include <vector>

#include "base/result.h"
#include "model/job_request.h"
#include "model/rpc.h"
#include "model/step_request.h"

namespace muster {

// The error names the field, how long it is, and how long it may be.
Result<> check_texts(const JobRequest& request);
Result<> check_texts(const StepRequest& request);  // of what is kept of it
Result<> check_texts(const std::vector<rpc::KeyValue>& changes);

// A node list over kMostText is kept in its shortest spelling: read, a list takes many times its text, and it is kept as long as the
// job or the step. Each name stands there once, but for the places of an arbitrary distribution. A list that is wrong stays as it is:
// whoever uses it says what is wrong.
void shorten_lists(JobRequest& request);
void shorten_lists(StepRequest& request);

// Bounds the script and the environment of a batch job, before anything of them is stored. `most_script` is
// SchedulerParameters=max_script_size; the environment may be as large as a process can have.
Result<> check_content(size_t most_script, size_t script, size_t environment);

// "70000 bytes, at most 65536".
std::string bytes_of(size_t bytes, size_t most);

inline constexpr size_t kMostText = 4096, kMostList = 65536, kMostHosts = 1u << 20;

}  // namespace muster
