#include "config/parameter_words.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

using Words = std::span<const ParameterWord>;

const ParameterWord* row_of(Words words, std::string_view name) {
  auto it = std::ranges::find_if(words, [&](const ParameterWord& w) { return iequals(w.name, name); });
  return it == words.end() ? nullptr : &*it;
}

// The key whose list has this word now; for words that stand in the list of another key, where older releases had them.
std::string_view key_of(std::string_view name) {
  for (const ParameterKey& k : parameter_keys())
    if (row_of(k.words, name)) return k.key;
  // Older releases had these in SchedulerParameters.
  return istarts_with(name, "preempt_") ? "PreemptParameters" : std::string_view();
}

std::string unknown(Words words, std::string_view name) {
  if (std::string_view key = key_of(name); !key.empty())
    return "\"" + std::string(name) + "\" is a word of " + std::string(key) + " and has no effect here";
  std::vector<std::string_view> names;
  for (const ParameterWord& w : words) names.push_back(w.name);
  const std::string_view near = did_you_mean(name, names);
  return "\"" + std::string(name) + "\" is not known and has no effect" + (near.empty() ? "" : "; did you mean " + std::string(near) + "?");
}

// What is wrong with the number; "" if nothing is.
std::string number_fault(const ParameterWord& word, std::string_view text) {
  if (parse_number<int64_t>(text, word.min, word.max)) return {};
  std::string rule = "must be a number from " + std::to_string(word.min);
  if (word.max != INT64_MAX) rule += " to " + std::to_string(word.max);
  return std::string(word.name) + "=" + std::string(text) + ": " + rule;
}

std::string choice_fault(const ParameterWord& word, std::string_view text) {
  std::string rule;
  for (std::string_view choice : split(word.choices, '|')) {
    if (iequals(choice, text)) return {};
    rule += (rule.empty() ? ": must be one of " : ", ") + std::string(choice);
  }
  return std::string(word.name) + "=" + std::string(text) + rule;
}

// What is wrong with the value; "" if nothing is.
std::string fault_of(const ParameterWord& word, std::string_view value) {
  if (word.number) return number_fault(word, value);
  return word.choices.empty() ? "" : choice_fault(word, value);
}

}  // namespace

std::string_view word_status_name(WordStatus status) {
  switch (status) {
    case WordStatus::kWorks: return "works";
    case WordStatus::kNoEffect: return "no effect";
    case WordStatus::kNotYet: return "not yet";
  }
  return "";
}

std::span<const ParameterKey> parameter_keys() {
  static const ParameterKey kKeys[] = {
      {"AuthInfo", &Config::auth_info, auth_words()},
      {"BcastParameters", &Config::bcast_parameters, bcast_words()},
      {"CommunicationParameters", &Config::communication_parameters, communication_words()},
      {"DependencyParameters", &Config::dependency_parameters, dependency_words()},
      {"LaunchParameters", &Config::launch_parameters, launch_words()},
      {"MpiParams", &Config::mpi_params, mpi_words()},
      {"PreemptParameters", &Config::preempt_parameters, preempt_words()},
      {"SchedulerParameters", &Config::scheduler_parameters, scheduler_words()},
      {"SlurmctldParameters", &Config::slurmctld_parameters, slurmctld_words()},
      {"SlurmdParameters", &Config::slurmd_parameters, slurmd_words()},
      {"SwitchParameters", &Config::switch_parameters, switch_words()},
  };
  return kKeys;
}

void check_words(std::string_view key, Words words, OptionList& given, const SourcePos& pos, Findings& findings) {
  std::vector<std::string> senseless;
  const std::string of(key);
  for (const auto& [name, value] : given.items()) {
    const ParameterWord* word = row_of(words, name);
    if (!word) {
      findings.notice(pos, of, unknown(words, name));
    } else if (word->status != WordStatus::kWorks) {
      findings.notice(pos, of,
                      std::string(word->name) + " has no effect" +
                          (word->status == WordStatus::kNotYet ? ", this is not there yet: " : ": ") + word->note);
    } else if (std::string fault = fault_of(*word, value); !fault.empty()) {
      findings.odd(pos, of, std::move(fault), "it is left out");
      senseless.push_back(name);
    } else if (!value.empty() && !word->takes_value()) {
      findings.notice(pos, of, std::string(word->name) + "=" + value + ": takes no value; the word counts, its value does not");
    }
  }
  for (const std::string& name : senseless) given.remove(name);
}

}  // namespace muster::config
