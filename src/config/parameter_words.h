// The words of keys that are lists of options (SchedulerParameters, SlurmctldParameters, LaunchParameters …): a row for each word that
// slurm.conf(5) names says whether it works here. The code that reads such a value acts upon the words that work; for every other word the
// log says why it has no effect. docs/compatibility.md is made from these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::config {

struct Config;
struct SimpleConf;
class OptionList;
struct Findings;
struct SourcePos;

enum class WordStatus : uint8_t {
  kWorks,
  kNoEffect,  // its purpose does not arise here; the log says in one line why
  kNotYet,    // the log says in one line what is missing
};
std::string_view word_status_name(WordStatus status);  // "works", "no effect", "not yet"

struct ParameterWord {
  const char* name = "";
  WordStatus status = WordStatus::kWorks;
  const char* note = "";  // kWorks: what it does; kNoEffect: why; kNotYet: what is missing
  bool number = false;    // written name=number, within [min, max]
  int64_t min = 0, max = INT64_MAX;
  std::string_view choices = {};  // written name=word, with one of these: "min|avg|max"
  bool text = false;              // written name=text
  bool takes_value() const { return number || text || !choices.empty(); }
};

struct ParameterKey {
  const char* key = "";
  OptionList Config::*given = nullptr;
  std::span<const ParameterWord> words;
};
std::span<const ParameterKey> parameter_keys();

// The same for the keys of slurmdbd.conf.
struct SlurmdbdKey {
  const char* key = "";
  std::span<const ParameterWord> words;
};
std::span<const SlurmdbdKey> slurmdbd_keys();
inline constexpr int64_t kMostTokenSeconds = 31'536'000;  // token_duration=: a year
// Looks at the words of a slurmdbd.conf, and at keys of it that make others useless.
void check_slurmdbd(const SimpleConf& conf, Findings& findings);

// Gives a notice for each word without effect, for each unknown word, for each value of a word that takes none (the word counts, as documented),
// and for each value that is no such number or choice, which is also removed from `given`. `key` names the key in the notices; `words` are its rows. Cost: O(words given x rows).
void check_words(std::string_view key, std::span<const ParameterWord> words, OptionList& given, const SourcePos& pos, Findings& findings);

// The rows are in scheduler_words.cc, preempt_words.cc and daemon_words.cc.
std::span<const ParameterWord> scheduler_words();
std::span<const ParameterWord> preempt_words();
std::span<const ParameterWord> slurmctld_words();
std::span<const ParameterWord> slurmd_words();
std::span<const ParameterWord> launch_words();
std::span<const ParameterWord> dependency_words();
std::span<const ParameterWord> auth_words();
std::span<const ParameterWord> bcast_words();
std::span<const ParameterWord> mpi_words();
std::span<const ParameterWord> communication_words();
std::span<const ParameterWord> switch_words();

// The functions that the tables of words are written with.
constexpr ParameterWord flag_word(const char* name, const char* does) { return {name, WordStatus::kWorks, does}; }
constexpr ParameterWord number_word(const char* name, int64_t min, int64_t max, const char* does) {
  return {name, WordStatus::kWorks, does, true, min, max};
}
constexpr ParameterWord text_word(const char* name, const char* does) {
  return {.name = name, .status = WordStatus::kWorks, .note = does, .text = true};
}
constexpr ParameterWord choice_word(const char* name, std::string_view choices, const char* does) {
  return {name, WordStatus::kWorks, does, false, 0, INT64_MAX, choices};
}
constexpr ParameterWord no_effect_word(const char* name, const char* why) { return {name, WordStatus::kNoEffect, why}; }
constexpr ParameterWord not_yet_word(const char* name, const char* missing) { return {name, WordStatus::kNotYet, missing}; }

}  // namespace muster::config
