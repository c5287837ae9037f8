#include "model/trigger.h"

namespace muster {

std::string trigger_words(uint32_t on) {
  std::string out;
  for (const TriggerInfo& t : kTriggers)
    if (on & bit_of(t.on)) (out += out.empty() ? "" : ",") += t.word;
  return out;
}

TriggerOf trigger_subject(uint32_t on) {
  for (const TriggerInfo& t : kTriggers)
    if (on & bit_of(t.on)) return t.of;
  return TriggerOf::kOther;
}

std::string_view trigger_subject_name(const TriggerSpec& spec) {
  if (spec.job) return "job";
  switch (trigger_subject(spec.on)) {
    case TriggerOf::kJob: return "job";
    case TriggerOf::kNode: return "node";
    case TriggerOf::kController: return "slurmctld";
    case TriggerOf::kSlurmdbd: return "slurmdbd";
    case TriggerOf::kDatabase: return "database";
    case TriggerOf::kOther: return "other";
  }
  return "other";
}

}  // namespace muster
