#include "fields/json_parts.h"

#include <algorithm>

namespace muster::fields {
namespace {

constexpr std::pair<std::string_view, int> kTresIds[] = {{"cpu", 1},     {"mem", 2}, {"energy", 3}, {"node", 4},
                                                         {"billing", 5}, {"fs", 6},  {"vmem", 7},   {"pages", 8}};

std::string_view signal_name(uint32_t number) {
  constexpr std::string_view names[] = {"NONE", "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
                                        "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
                                        "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS"};
  return number && number < std::size(names) ? names[number] : std::string_view();
}

}  // namespace

void json_tres(Members& m, std::string_view type, std::string_view name, uint64_t count, std::optional<uint32_t> id) {
  const auto* known = std::ranges::find(kTresIds, type, &std::pair<std::string_view, int>::first);
  const int64_t fixed = known == std::end(kTresIds) ? 0 : known->second;
  m.sink().begin_object();
  m.text("type", type).text("name", name).number("id", id ? int64_t{*id} : fixed);
  m.number("count", static_cast<int64_t>(count));
  m.sink().end_object();
}

void json_tres_list(Members& m, std::string_view key, const TresAmounts& tres) {
  m.sink().key(key);
  m.sink().begin_list();
  each_tres(tres, [&](std::string_view kind, std::string_view name, uint64_t count) { json_tres(m, kind, name, count); });
  m.sink().end_list();
}

void json_cpu_time(Members& m, std::string_view key, Duration time) {
  m.begin(key).number("seconds", time.count() / 1'000'000).number("microseconds", time.count() % 1'000'000).end();
}

void json_exit_code(Members& members, std::string_view key, int32_t status, JobState state) {
  auto bits = static_cast<uint32_t>(status);
  uint32_t signal = bits & 0x7f, code = (bits >> 8) & 0xff;
  members.begin(key);
  members.sink().key("status");
  members.sink().begin_list();
  if (state == JobState::kPending) members.sink().text("PENDING");
  else if (signal) members.sink().text(bits & 0x80 ? "CORE_DUMPED" : "SIGNALED");
  else members.sink().text(code ? "ERROR" : "SUCCESS");
  members.sink().end_list();
  members.maybe("return_code", !signal, code);
  members.begin("signal").maybe("id", signal != 0, signal).text("name", signal_name(signal)).end();
  members.end();
}

}  // namespace muster::fields
