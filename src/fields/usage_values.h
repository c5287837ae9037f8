// What a step has used as sacct and sstat print it: amounts, times, and lists such as "cpu=00:00:02,energy=0,fs/disk=1716220,mem=12252K".
// sacct(1) and sstat(1), MaxRSS, AveCPU, TRESUsageIn…; forms as Debian's 22.05 prints them. All append to `out`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "model/step_usage.h"

namespace muster::fields {

struct UsageStyle {
  char units = 0;  // --units: one of KMGTP
  bool noconvert = false;
};

// Bytes: in the largest unit in which they are whole ("309392K", "1716220"), in the unit asked for ("302.14M"), or as they are.
void put_bytes_used(Bytes amount, UsageStyle style, std::string& out);
// CPU time: "00:00:02", "1-02:03:04".
void put_cpu_time(Duration time, std::string& out);
// CPU time with its milliseconds where it is below an hour: "00:02.345", "05:12:33"; "00:00:00" of none.
void put_cpu_time_exact(Duration time, std::string& out);

// The lists that TRESUsageIn… and TRESUsageOut… print.
enum class UsageDirection : uint8_t { kIn, kOut };
enum class UsageKind : uint8_t { kAverage, kTotal, kMax, kMaxNode, kMaxTask, kMin, kMinNode, kMinTask };
void put_tres_used(const StepUsage& usage, UsageDirection direction, UsageKind kind, UsageStyle style, std::string& out);

// The same as numbers: CPU time in milliseconds, memory and files in bytes. For kAverage, kTotal, kMax and kMin.
void each_tres_used(const StepUsage& usage, UsageDirection direction, UsageKind kind,
                    const std::function<void(std::string_view type, std::string_view name, uint64_t count)>& each);

// Joules: as they are below 1000, else in the largest unit of 1000, "12.34K".
void put_energy(uint64_t joules, UsageStyle style, std::string& out);

// kHz of the cores that tasks ran on, on average; 0 where it is not known.
uint64_t average_clock(const StepUsage* usage);
// kHz in the largest unit of 1000, "2.60M"; with noconvert in whole thousands, "2596K".
void put_clock(uint64_t khz, UsageStyle style, std::string& out);

// The name of a place's node; "" where it points nowhere.
std::string_view node_name(const StepUsage& usage, TaskPlace place);

}  // namespace muster::fields
