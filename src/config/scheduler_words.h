// The words of SchedulerParameters: a row for each one that slurm.conf(5) names, with what becomes of it here. What a
// word that works feeds is in slurmctld/core/settings.cc. The list in docs/compatibility.md is made from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"

namespace muster::config {

class OptionList;
struct Findings;
struct SourcePos;

enum class WordStatus : uint8_t {
  kWorks,
  kNoEffect,  // what it is for does not come up here; the log says in one line why
  kNotYet,    // the log says in one line what is missing
};
std::string_view word_status_name(WordStatus status);  // "works", "no effect", "not yet"

struct SchedulerWord {
  const char* name = "";
  WordStatus status = WordStatus::kWorks;
  const char* note = "";  // what it does; why nothing; what is missing
  bool number = false;    // written name=number, within [min, max]
  int64_t min = 0, max = INT64_MAX;
};

std::span<const SchedulerWord> scheduler_words();

// An error for a number that is none or out of bounds; a notice for each word without effect, and for those nobody
// knows. Cost: O(words given x rows).
void check_scheduler_words(const OptionList& given, const SourcePos& pos, Findings& findings);

}  // namespace muster::config
