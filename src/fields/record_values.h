// What the columns of sacct are made from: ids, times, sums of resources. sacct(1). All pure; those that append end in `out`.
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
std::optional<Duration> record_planned(const RecordView& v);  // from eligible to its start, or now; of jobs
uint32_t record_cpus(const RecordView& v);                    // allocated, else requested
uint32_t record_nodes(const RecordView& v);

// "billing=2,cpu=2,gres/gpu=2,mem=4G,node=1": sorted, sizes in the unit asked for.
void put_record_tres(std::string_view tres, const RecordView& v, std::string& out);
// "4G" in the unit asked for; what is no size as it is.
void put_record_mem(std::string_view mem, const RecordView& v, std::string& out);
// "gpu:a100:2,nic:1" of the gres/… of a TRES list.
void put_gres_of_tres(std::string_view tres, std::string& out);
// "COMPLETED", "CANCELLED by 1000".
void put_record_state(const RecordView& v, std::string& out);
// A file name pattern, its %-letters replaced with --expand-patterns.
enum class RecordStream : uint8_t { kIn, kOut, kErr };
void put_record_stream(const RecordView& v, RecordStream stream, std::string& out);

// Part of "800000-1200000:ondemand", a --cpu-freq of a step.
enum class FrequencyPart : uint8_t { kMin, kMax, kGovernor };
void put_frequency(std::string_view text, FrequencyPart part, std::string& out);

}  // namespace muster::fields
