// The formats of option values that are more than a number or a name: node counts, signals, GRES lists, distributions, bindings. Arrays,
// dependencies and mail types have theirs in model/. Texts come in, checked values go out; errors say what was wrong. Pure functions,
// linear in the text; nothing here knows which option the text came from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job_request.h"

namespace muster {

struct NodeCount {
  uint32_t min = 0, max = 0;
  std::string sizes;  // "1,3,5": the counts allowed, when a list or a step was given
};
// Reads "4", "2-4", "1k", "1,3,5" or "1-15:4".
Result<NodeCount> parse_node_count(std::string_view text);

// The number (1 … 64) of "USR1", "SIGUSR1" or "10", in any case of letters; nullopt otherwise.
std::optional<uint8_t> parse_signal(std::string_view text);
std::string signal_name(uint8_t signal);  // "USR1"; the number when it has no name
// Reads [{R|B}:]sig[@seconds]; `allow_batch` allows sbatch's B:.
Result<WarnSignal> parse_warn_signal(std::string_view text, bool allow_batch);

// The canonical --distribution: "block:cyclic,pack", "plane=4", "arbitrary". "plane" without a size takes it from `plane_size`.
Result<std::string> parse_distribution(std::string_view text, uint32_t plane_size);

// "gpu:a100:8,nic" → "gres/gpu:a100:8,gres/nic:1"
Result<std::string> gres_to_tres(std::string_view text);
// "8", "a100:4,h100:4" → "gres/gpu:8", "gres/gpu:a100:4,gres/gpu:h100:4"; the sum of the counts in `total`.
Result<std::string> gpus_to_tres(std::string_view text, uint64_t* total = nullptr);
struct TresPerTask {
  std::string tres;   // "gres/gpu:a100:2,license/ansys:1"
  uint32_t cpus = 0;  // cpu=N
  uint64_t gpus = 0, shards = 0;
};
Result<TresPerTask> parse_tres_per_task(std::string_view text);

// Checks "[verbose,]closest|none|map:…|mask:…|per_task:N|single:N" (map_gpu and mask_gpu too); returns it in today's spelling.
Result<std::string> parse_gpu_bind(std::string_view text);
Result<std::string> parse_tres_bind(std::string_view text);
Result<> check_gpu_freq(std::string_view text);
Result<> check_cpu_freq(std::string_view text);
Result<> check_cpu_bind(std::string_view text);
Result<> check_mem_bind(std::string_view text);
Result<> check_acctg_freq(std::string_view text);
Result<> check_profile(std::string_view text);
Result<std::vector<std::string>> parse_propagate(std::string_view text);

std::optional<bool> parse_yes_no(std::string_view text);

}  // namespace muster
