// Facts about a job that several printers need and that are not members of its row: ids of array tasks as text, run time, the reason as
// squeue and scontrol word it, file name patterns. Used by squeue's fields, scontrol show and --json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fields/environment.h"

namespace muster::fields {

// Appends the id: "12", "12_3", "12_[4-15%2]".
void put_job_id(std::string& out, const JobRow& row, const Environment& env);
// The tasks of an array: "4-15%2", "3" or "".
std::string array_tasks_text(const JobRow& row, uint32_t length);
// Array tasks such as "4-15,20%2", cut to `length` (SLURM_BITSTR_LEN), where %limit does not count. A text that is no list stays as it is.
std::string bounded_array_tasks(const std::string& tasks, uint32_t max_running, uint32_t length);

Duration run_time(const JobView& v);  // without the time it was suspended
Time start_time(const JobView& v);    // actual or expected; unset when nobody knows
Time end_time(const JobView& v);
bool ends_never(const JobView& v);     // it runs and has no limit
Time accrues_since(const JobView& v);  // unset while it may not start yet
// The text of the reason. Where the detail is a longer form of the reason ("ReqNodeNotAvail, UnavailableNodes:n1"), it is the detail.
std::string_view reason_text(const JobRow& row);
// What the system noted about the job, or why it was last put back into the queue.
std::string_view system_comment(const JobView& v);
// The reservation that it runs or ran in, which may be one that drew it in; else those that it asks for.
std::string_view reservation_of(const JobView& v);
bool shows_reason(const JobRow& row);  // %R: the reason in parentheses instead of the nodes

uint32_t min_cpus_per_node(const ShownRequest& r);
struct MinMemory {
  uint64_t mb = 0;
  enum Per : uint8_t { kNode, kCpu, kGpu } per = kNode;
};
MinMemory min_memory(const ShownRequest& r);
std::string_view oversubscribe_text(const JobView& v);  // YES NO OK: what the row says of the partition's, else what was asked for
std::string_view exclusive_text(const JobView& v);      // NO NODE USER MCS TOPO, likewise
// "*key" where nobody named a key and it has the user's default one. guide wckey.
std::string wckey_text(const ShownRequest& r);
std::string_view command_text(const ShownRequest& r);  // the script; its arguments stand in the submit line
// The licenses of --licenses, and license/NAME of --tres-per-task counted for all `tasks`: "ansys:2".
std::string licenses_text(const ShownRequest& r, uint32_t tasks);
std::string licenses_text(const std::vector<LicenseShare>& held);  // "app:1,db:2"
std::string tres_per_task_text(const AskedBody& r);                // "cpu=2,gres/gpu=1", CPUs of --cpus-per-task among them; ""
uint32_t most_nodes(const JobView& v);  // at most this many nodes; without a maximum a pending job may get a node per task

enum class Stream : uint8_t { kIn, kOut, kErr };
// The pattern as asked for, or the default of a batch job. "" for a job without a script, and for errors that go where the output goes.
std::string stream_pattern(const JobView& v, Stream stream);
// The path of the file. The patterns of sbatch(1) FILENAME PATTERN are expanded; one with many values (task, node) takes the first.
std::string stream_path(const JobView& v, Stream stream);
std::string expand_file_pattern(std::string_view pattern, const JobView& v);

}  // namespace muster::fields
