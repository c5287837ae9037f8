#include "model/mail.h"

#include "base/text.h"

namespace muster {
namespace {

struct Row {
  uint16_t bit;
  std::string_view name;
};
// The order in which scontrol prints them.
constexpr Row kRows[] = {
    {kMailInvalidDepend, "INVALID_DEPEND"},
    {kMailArrayTasks, "ARRAY_TASKS"},
    {kMailBegin, "BEGIN"},
    {kMailEnd, "END"},
    {kMailFail, "FAIL"},
    {kMailRequeue, "REQUEUE"},
    {kMailStageOut, "STAGE_OUT"},
    {kMailTimeLimit50, "TIME_LIMIT_50"},
    {kMailTimeLimit80, "TIME_LIMIT_80"},
    {kMailTimeLimit90, "TIME_LIMIT_90"},
    {kMailTimeLimit, "TIME_LIMIT"},
};

uint16_t bits_of(std::string_view name) {
  if (iequals(name, "ALL")) return kMailAll;
  for (const Row& r : kRows)
    if (iequals(name, r.name)) return r.bit;
  return 0;
}

}  // namespace

Result<uint16_t> parse_mail_type(std::string_view text) {
  uint16_t bits = 0;
  bool none = false;
  for (std::string_view word : split(text, ',', true)) {
    word = trim(word);
    if (iequals(word, "NONE")) {
      none = true;
      continue;
    }
    const uint16_t bit = bits_of(word);
    if (!bit)
      return fail(Errc::kInvalidArgument, "Invalid --mail-type specification",
                  "\"" + std::string(word.substr(0, 60)) +
                      "\" is none of NONE, ALL, BEGIN, END, FAIL, REQUEUE, INVALID_DEPEND, STAGE_OUT, TIME_LIMIT, "
                      "TIME_LIMIT_90, TIME_LIMIT_80, TIME_LIMIT_50, ARRAY_TASKS");
    bits |= bit;
  }
  return none ? 0 : bits;
}

std::string format_mail_type(uint16_t bits) {
  std::string out;
  for (const Row& r : kRows) {
    if (!(bits & r.bit)) continue;
    if (!out.empty()) out += ',';
    out += r.name;
  }
  return out.empty() ? "NONE" : out;
}

}  // namespace muster
