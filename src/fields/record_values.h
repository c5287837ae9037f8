// The values that the columns of sacct print: ids, times, sums of resources. sacct(1). All pure; functions with `out` append to it.
#pragma once

#include <string>
#include <string_view>

#include "fields/record_view.h"

namespace muster::fields {

void put_record_id(const RecordView& v, std::string& out);      // "12", "12_3.batch", "12_[4-15%2]"
void put_record_id_raw(const RecordView& v, std::string& out);  // "14.batch"

Time record_start(const RecordView& v);  // with --truncate within the window; unset: not started
Time record_end(const RecordView& v);
Duration record_elapsed(const RecordView& v);
Duration record_suspended(const RecordView& v);
std::optional<Duration> record_planned(const RecordView& v);  // of jobs: from eligible to started, or to now
// CPU time of a step, or of all steps of a job.
struct CpuTimes {
  Duration user{}, system{};
};
CpuTimes record_cpu_times(const RecordView& v);
// Joules. Of a job: the most of what its script's step and its other steps together took, which are measured at the same time.
uint64_t record_energy(const RecordView& v);
uint32_t record_cpus(const RecordView& v);  // allocated, else requested
uint32_t record_nodes(const RecordView& v);

// Amounts of TRES in the order of their names, with sizes in the unit asked for: "billing=2,cpu=2,gres/gpu=2,mem=4G,node=1".
void put_record_tres(const TresAmounts& tres, const RecordView& v, std::string& out);
// A size such as "4G" in the unit asked for; a text that is no size as it is.
void put_record_mem(std::string_view mem, const RecordView& v, std::string& out);
// The GRES among them, as in "gpu:a100:2,nic:1".
void put_gres_of_tres(const TresAmounts& tres, std::string& out);
// The state: "COMPLETED", or what is shown in its place, as "REQUEUED".
std::string_view record_state(const RecordView& v);
// With who ended it: "CANCELLED by 1000".
void put_record_state(const RecordView& v, std::string& out);
// A file name pattern; --expand-patterns replaces its %-letters.
enum class RecordStream : uint8_t { kIn, kOut, kErr };
void put_record_stream(const RecordView& view, RecordStream stream, std::string& out);

// One part of a step's --cpu-freq, such as "800000-1200000:ondemand".
enum class FrequencyPart : uint8_t { kMin, kMax, kGovernor };
void put_frequency(std::string_view text, FrequencyPart part, std::string& out);

}  // namespace muster::fields
