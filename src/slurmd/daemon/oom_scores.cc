#include "slurmd/daemon/oom_scores.h"

#include <algorithm>
#include <cstdlib>

#include "base/text.h"
#include "os/oom_shield.h"

namespace muster::slurmd {
namespace {

// nullopt: not set, or no number, which the log says.
std::optional<int> given(const char* variable, os::Log& log) {
  const char* text = std::getenv(variable);
  if (!text) return std::nullopt;
  auto score = os::oom_score_of(trim(text));
  if (!score) log.error("{}={}: has to be a number from -1000 to 1000; it is left out", variable, text);
  return score;
}

}  // namespace

std::optional<step_rpc::StepdOomScore> take_oom_scores(os::Log& log) {
  const auto own = given("SLURMD_OOM_ADJ", log), stepds = given("SLURMSTEPD_OOM_ADJ", log);
  if (!own && !stepds) return std::nullopt;
  const int tasks = std::max(0, os::own_oom_score());
  if (own)
    if (auto ok = os::set_oom_score(*own); !ok) log.error("SLURMD_OOM_ADJ: {}", ok.error().message());
  return step_rpc::StepdOomScore{stepds.value_or(tasks), tasks};
}

}  // namespace muster::slurmd
