// Which part of the scheduler started a run: one bit of Job::flags and JobRecord::flags beside those of JobFlag, set when it starts and gone
// when it is put back into the queue. sacct(1), Flags and --flags.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace muster {

inline constexpr uint32_t kStartedAtSubmission = 1u << 20;  // by the first look at it
inline constexpr uint32_t kStartedByMain = 1u << 21;        // by a quick pass, after it had waited
inline constexpr uint32_t kStartedByBackfill = 1u << 22;    // by a full pass, which plans for every job
inline constexpr uint32_t kStartedBy = kStartedAtSubmission | kStartedByMain | kStartedByBackfill;

struct StartedByWord {
  uint32_t bit;
  std::string_view word;
};
inline constexpr std::array<StartedByWord, 3> kStartedByWords = {
    {{kStartedAtSubmission, "SchedSubmit"}, {kStartedByMain, "SchedMain"}, {kStartedByBackfill, "SchedBackfill"}}};

// "": nobody has started it, or its record is of a release that did not say.
constexpr std::string_view started_by_word(uint32_t flags) {
  for (const StartedByWord& w : kStartedByWords)
    if (flags & w.bit) return w.word;
  return {};
}

}  // namespace muster
