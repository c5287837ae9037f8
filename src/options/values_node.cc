// Values for what happens on the node: CPU and memory binding, CPU frequency, sampling, profiling, limits.
#include <algorithm>
#include <cctype>
#include <span>

#include "base/text.h"
#include "model/cpu_frequency.h"
#include "model/profile_types.h"
#include "model/sample_intervals.h"
#include "model/task_bind.h"
#include "options/values.h"

namespace muster {
namespace {

std::string quoted(std::string_view s) { return "\"" + std::string(s) + "\""; }

}  // namespace

Result<> check_cpu_bind(std::string_view text) {
  MUSTER_TRY_VOID(CpuBind::parse(text));
  return {};
}

Result<> check_mem_bind(std::string_view text) {
  MUSTER_TRY_VOID(MemBind::parse(text));
  return {};
}

Result<> check_cpu_freq(std::string_view text) {
  if (CpuFrequencyWish::parse(text)) return {};
  return fail(Errc::kInvalidReq, "unrecognized --cpu-freq argument " + quoted(text) + "\nInvalid --cpu-freq argument");
}

Result<> check_acctg_freq(std::string_view text) {
  if (!text.empty() && SampleIntervals::parse(text)) return {};
  return fail(Errc::kInvalidReq, "Invalid --acctg-freq specification: " + std::string(text));
}

Result<> check_profile(std::string_view text) {
  if (ProfileTypes::parse(text)) return {};
  return fail(Errc::kInvalidReq, "invalid --profile=" + std::string(text) + " option",
              "known: all, none, or any of energy, task, lustre, network");
}

Result<std::vector<std::string>> parse_propagate(std::string_view text) {
  static constexpr std::string_view kLimits[] = {"ALL",   "NONE",    "AS",     "CORE",  "CPU", "DATA",
                                                 "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK"};
  std::vector<std::string> out;
  for (std::string_view part : split(text, ',', true)) {
    std::string_view name = trim(part);
    if (istarts_with(name, "RLIMIT_")) name.remove_prefix(7);
    auto it = std::find_if(std::begin(kLimits), std::end(kLimits), [&](auto l) { return iequals(l, name); });
    if (it == std::end(kLimits))
      return fail(Errc::kInvalidReq, "Bad rlimit name: " + std::string(part) + "\n--propagate=" + std::string(text) + " is not valid.");
    out.emplace_back(*it);
  }
  return out;
}

}  // namespace muster
