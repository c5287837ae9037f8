#include "model/explanation.h"

namespace muster {
namespace {

struct CauseText {
  std::string_view name, text;
};
constexpr CauseText kCauses[kNodeCauseCount] = {
    {"free", "could take it now"},
    {"features", "lack the features it asks for"},
    {"listed", "left out by --exclude or --nodelist"},
    {"make", "have too few sockets, cores, threads or disk"},
    {"too_few_cpus", "have too few CPUs, even when idle"},
    {"too_little_memory", "have too little memory, even when idle"},
    {"too_few_devices", "have too few of the devices (GPUs …), even when idle"},
    {"down", "down"},
    {"drained", "drained or draining"},
    {"unavailable", "not available"},
    {"other_user", "held by another user's --exclusive=user job"},
    {"not_idle", "not idle, and it wants whole nodes"},
    {"cpus_in_use", "CPUs in use"},
    {"memory_in_use", "memory in use"},
    {"devices_in_use", "devices (GPUs …) in use"},
    {"layout_in_use", "free CPUs and devices are not side by side"},
    {"promised", "free, but promised to jobs ahead of it"},
    {"other_label", "kept for jobs with another MCS label"},
    {"extra", "say in their Extra what --extra does not want, or nothing of it"},
    {"reserved", "kept by reservations, or not in the one that it asks for"},
    {"not_woken", "powered down, and no more nodes may be powered up (max_powered_nodes)"},
};

}  // namespace

std::string_view node_cause_name(NodeCause c) { return kCauses[static_cast<size_t>(c)].name; }
std::string_view node_cause_text(NodeCause c) { return kCauses[static_cast<size_t>(c)].text; }

}  // namespace muster
