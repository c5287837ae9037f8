// Fields of how the job stands: state, reason, priority, exit codes, restarts.
#include <cstdio>

#include "fields/field_table.h"
#include "fields/job_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

void reason_list(V v, S o) {
  if (!shows_reason(v.row)) {
    put(o, v.row.node_list);
    return;
  }
  o += '(';
  put(o, reason_text(v.row));
  o += ')';
}

void priority_fraction(V v, S o) {
  char text[32];
  int n = std::snprintf(text, sizeof text, "%.14f", v.row.priority / 4294967295.0);
  o.append(text, static_cast<size_t>(n));
}

constexpr JobField kFields[] = {
    {'t', "StateCompact", "", "ST", 0, kWorks, "State, short", [](V v, S o) { put(o, job_state_shown_code(v.row.state, v.row.flags)); }},
    {'T', "State", "", "STATE", 0, kWorks, "State", [](V v, S o) { put(o, job_state_shown(v.row.state, v.row.flags)); }},
    {'r', "Reason", "", "REASON", 0, kWorks, "Why it waits or failed", [](V v, S o) { put(o, reason_text(v.row)); }},
    {'R', "ReasonList", "", "NODELIST(REASON)", kWideHeader, kWorks, "Its nodes, or the reason in parentheses", reason_list, nullptr,
     Split::kNever, "", kRowNodes},
    {'p', "Priority", "", "PRIORITY", 0, kWorks, "Priority between 0 and 1", priority_fraction,
     [](V v) { return int64_t{v.row.priority}; }},
    {'Q', "PriorityLong", "", "PRIORITY", 0, kWorks, "Priority", [](V v, S o) { put_number(o, v.row.priority); },
     [](V v) { return int64_t{v.row.priority}; }},
    {0, "exit_code", "", "EXIT_CODE", 0, kWorks, "Exit code and signal", [](V v, S o) { put_exit_status(o, v.row.exit_status); }},
    {0, "DerivedEC", "", "DERIVED_EC", 0, kWorks, "Highest exit code of its steps, and signal",
     [](V v, S o) { put_exit_status(o, v.row.derived_exit_status); }},
    {0, "RestartCnt", "", "RESTART_COUNT", 0, kWorks, "How often it was restarted", [](V v, S o) { put_number(o, v.row.restarts); },
     [](V v) { return int64_t{v.row.restarts}; }},
    {0, "system_comment", "", "SYSTEM_COMMENT", 0, kWorks, "What the system noted about it",
     [](V v, S o) { put_or(o, v.row.reason_detail); }},
};

}  // namespace

std::span<const JobField> job_state_fields() { return kFields; }

}  // namespace muster::fields
