// --mail-type: the events a user wants mail about, as bits of JobRequest::mail_type. sbatch(1) --mail-type.
// The bits are in the event log: append only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

enum MailType : uint16_t {
  kMailBegin = 1u << 0,
  kMailEnd = 1u << 1,
  kMailFail = 1u << 2,
  kMailRequeue = 1u << 3,
  kMailInvalidDepend = 1u << 4,
  kMailStageOut = 1u << 5,
  kMailTimeLimit = 1u << 6,
  kMailTimeLimit90 = 1u << 7,
  kMailTimeLimit80 = 1u << 8,
  kMailTimeLimit50 = 1u << 9,
  kMailArrayTasks = 1u << 10,
};
inline constexpr uint16_t kMailAll = kMailBegin | kMailEnd | kMailFail | kMailInvalidDepend | kMailRequeue | kMailStageOut;

// Reads a comma-separated list, in any letter case. NONE anywhere gives 0. Errors: Errc::kInvalidArgument, with the value in the hint.
Result<uint16_t> parse_mail_type(std::string_view text);
// Writes "BEGIN,END" in scontrol's order; "NONE" for 0.
std::string format_mail_type(uint16_t bits);

}  // namespace muster
