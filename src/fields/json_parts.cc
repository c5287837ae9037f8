#include "fields/json_parts.h"

#include <algorithm>

#include "base/tres_mem.h"

namespace muster::fields {
namespace {

constexpr std::pair<std::string_view, int> kTresIds[] = {{"cpu", 1}, {"mem", 2}, {"energy", 3}, {"node", 4}, {"billing", 5}};

std::string_view signal_name(uint32_t number) {
  constexpr std::string_view names[] = {"NONE", "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
                                        "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
                                        "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS"};
  return number && number < std::size(names) ? names[number] : std::string_view();
}

void json_tres(Members& m, std::string_view type, std::string_view name, uint64_t count) {
  const auto* known = std::ranges::find(kTresIds, type, &std::pair<std::string_view, int>::first);
  m.sink().begin_object();
  m.text("type", type).text("name", name).number("id", known == std::end(kTresIds) ? 0 : known->second);
  m.number("count", static_cast<int64_t>(count));
  m.sink().end_object();
}

}  // namespace

void json_tres_list(Members& m, std::string_view key, const TresAmounts& tres) {
  m.sink().key(key);
  m.sink().begin_list();
  each_tres(tres, [&](std::string_view kind, std::string_view name, uint64_t count) { json_tres(m, kind, name, count); });
  m.sink().end_list();
}

void json_tres_list(Members& m, std::string_view key, std::string_view tres) {
  TreeSink& s = m.sink();
  s.key(key);
  s.begin_list();
  for (std::string_view item : split(tres, ',')) {
    size_t eq = item.find('='), slash = item.find('/');
    std::string_view type = item.substr(0, std::min(eq, slash)), value = item.substr(eq + 1);
    uint64_t count = type == "mem" ? parse_tres_mem_mb(value) : parse_count(value).value_or(0);
    json_tres(m, type, slash < eq ? item.substr(slash + 1, eq - slash - 1) : std::string_view(), count);
  }
  s.end_list();
}

void json_cpu_time(Members& m, std::string_view key) { m.begin(key).number("seconds", 0).number("microseconds", 0).end(); }

void json_exit_code(Members& members, std::string_view key, int32_t status, JobState state) {
  auto s = static_cast<uint32_t>(status);
  uint32_t signal = s & 0x7f, code = (s >> 8) & 0xff;
  members.begin(key);
  members.sink().key("status");
  members.sink().begin_list();
  if (state == JobState::kPending) members.sink().text("PENDING");
  else if (signal) members.sink().text(s & 0x80 ? "CORE_DUMPED" : "SIGNALED");
  else members.sink().text(code ? "ERROR" : "SUCCESS");
  members.sink().end_list();
  members.maybe("return_code", !signal, code);
  members.begin("signal").maybe("id", signal != 0, signal).text("name", signal_name(signal)).end();
  members.end();
}

}  // namespace muster::fields
