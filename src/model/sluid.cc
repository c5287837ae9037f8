#include "model/sluid.h"

namespace muster {
namespace {

constexpr std::string_view kDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr size_t kLength = 14;  // with the 's'

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

Sluid sluid_of(JobId job, Time submitted, uint32_t restarts) {
  const uint64_t seconds = static_cast<uint32_t>(unix_seconds(submitted));
  const uint64_t number = job.value & ((1u << kSluidJobBits) - 1), run = restarts & ((1u << kSluidRestartBits) - 1);
  return Sluid(seconds << 32 | number << kSluidRestartBits | run);
}

JobId job_of(Sluid sluid) { return JobId(static_cast<uint32_t>(sluid.value >> kSluidRestartBits) & ((1u << kSluidJobBits) - 1)); }

std::string sluid_text(Sluid sluid) {
  std::string out(kLength, 's');
  uint64_t rest = sluid.value;
  for (size_t i = kLength - 1; i > 0; --i, rest >>= 5) out[i] = kDigits[rest & 31];
  return out;
}

std::optional<Sluid> parse_sluid(std::string_view text) {
  if (text.size() != kLength || upper(text[0]) != 'S') return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 1; i < kLength; ++i) {
    const size_t digit = kDigits.find(upper(text[i]));
    if (digit == kDigits.npos || (i == 1 && digit > 15)) return std::nullopt;  // 13 digits hold 65 bits
    value = value << 5 | digit;
  }
  return value ? std::optional(Sluid(value)) : std::nullopt;
}

}  // namespace muster
