// The words of PreemptParameters. slurmctld/core/settings.cc turns the words that work into settings.
#include "config/parameter_words.h"

namespace muster::config {
namespace {

constexpr const char* kMinimal = "the set of jobs that make room is minimal in any case";

constexpr ParameterWord kWords[] = {
    number_word("min_exempt_priority", 0, INT64_MAX, "jobs of this priority or more make room for nobody"),
    flag_word("reclaim_licenses", "a job that waits for licences may preempt those that hold them"),
    no_effect_word("reorder_count", kMinimal),
    flag_word("send_user_signal", "a job is sent the signal of its --signal when it is chosen to make room"),
    no_effect_word("strict_order", kMinimal),
    number_word("suspend_grace_time", 0, 65533, "seconds between SIGTSTP and SIGSTOP where a job is suspended"),
    flag_word("youngest_first",
              "jobs that started last make room first, whatever their partition or QOS; not with GANG and preempt/partition_prio"),
};

}  // namespace

std::span<const ParameterWord> preempt_words() { return kWords; }

}  // namespace muster::config
