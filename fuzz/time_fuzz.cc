// Any text as a time limit, a point in time, a memory size, a count and an index list: refused, or a value that
// printing and reading keeps.
#include <cstdint>
#include <cstdlib>

#include "base/bitmap.h"
#include "base/text.h"
#include "base/time.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void limit(std::string_view text) {
  auto limit = muster::parse_time_limit(text);
  if (!limit || !limit->minutes) return;
  auto again = muster::parse_time_limit(muster::format_span_full(muster::minutes(*limit->minutes)));
  require(again && *again == *limit);
}

void point(std::string_view text, muster::ClockRule rule) {
  const muster::Time now = muster::from_unix(1795250940);
  auto t = muster::parse_time_point(text, now, rule);
  if (!t) return;
  require(muster::unix_seconds(*t) > 0);
  // In UTC (set below): where clocks are put back, one hour a year is printed the same twice.
  auto again = muster::parse_time_point(muster::format_time(*t), now);
  require(again && *again == *t);
}

void sizes(std::string_view text) {
  // From 1 P on the printed unit is one that --mem does not take.
  if (auto mb = muster::parse_mem_mb(text); mb && *mb < (1ull << 30))
    require(muster::parse_mem_mb(muster::format_mem_mb(*mb)).value_or(~0ull) == *mb);
  if (auto n = muster::parse_count(text)) require(muster::parse_count(std::to_string(*n)) == n);
}

void indices(std::string_view text) {
  muster::Bitmap set, again;
  if (!muster::Bitmap::parse_ranges(text, set, 1u << 16)) return;
  require(muster::Bitmap::parse_ranges(set.to_ranges(), again) && again == set);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) { return setenv("TZ", "UTC", 1); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  limit(text);
  point(text, muster::ClockRule::kNextOccurrence);
  point(text, muster::ClockRule::kThisDayOrYear);
  sizes(text);
  indices(text);
  return 0;
}
