#include "model/message_bounds.h"

#include <algorithm>
#include <span>

#include "model/het.h"
#include "model/request_texts.h"

namespace muster {
namespace {

constexpr size_t kAnyLength = SIZE_MAX;  // a frame has its own bound; judged where it is used

struct Bound {
  std::string_view field;
  size_t most;
};
constexpr Bound kBytes[] = {
    {"script", kAnyLength},
    {"environment", kAnyLength},  // check_content
    {"payload", kAnyLength},      // of a relay: bounded as the inner message
    {"multi_prog_text", 2u << 20},
    {"argv", 2u << 20},
    {"submit_line", 2u << 20},
    {"nodes", kMostHosts},
    {"required_nodes", kMostHosts},
    {"excluded_nodes", kMostHosts},
    {"value", kMostHosts},
    {"names", kMostText},
    {"node", kMostText},
    {"name", kMostText},
    {"subject", kMostText},
    {"key", kMostText},
    {"admin_comment", kMostText},
    {"op", 2},
};
constexpr Bound kEntries[] = {
    {"jobs", 10000},  {"nodes", 20000}, {"environment", 65536}, {"argv", 65536}, {"spank_options", 4096}, {"components", kMostComponents},
    {"edits", 10000},  // a file of sacctmgr load is one request
};
constexpr size_t kUsualEntries = 1024;
constexpr int64_t kLastSecond = 253402300799;  // 9999-12-31T23:59:59

size_t bound_of(std::span<const Bound> bounds, std::string_view field, size_t usual) {
  auto at = std::ranges::find(bounds, field, &Bound::field);
  return at == bounds.end() ? usual : at->most;
}

}  // namespace

size_t most_bytes(std::string_view field) { return bound_of(kBytes, field, kMostList); }
size_t most_entries(std::string_view field) { return bound_of(kEntries, field, kUsualEntries); }

namespace bounds_detail {

std::unexpected<Error> too_long(std::string_view field, size_t bytes) {
  return fail(Errc::kPathnameTooLong, {}, std::string(field) + ": " + bytes_of(bytes, most_bytes(field)));
}

std::unexpected<Error> too_many(std::string_view field, size_t entries) {
  return fail(
      Errc::kInvalidArgument, {},
      std::string(field) + ": " + std::to_string(entries) + " entries, at most " + std::to_string(most_entries(field)) + " in one request");
}

Result<> check_time(std::string_view field, Time value) {
  const int64_t second = unix_seconds(value);
  if (second >= 0 && second <= kLastSecond) return {};
  return fail(Errc::kInvalidTime, {}, std::string(field) + ": from 1970 to the year 9999");
}

Result<> check_span(std::string_view field, Duration value) {
  const int64_t span = to_seconds(value);
  if (span >= 0 && span <= kLastSecond) return {};
  return fail(Errc::kInvalidTime, {}, std::string(field) + ": not negative, and at most " + std::to_string(kLastSecond) + " seconds");
}

std::unexpected<Error> no_such_value(std::string_view field, uint64_t value) {
  return fail(Errc::kInvalidArgument, {}, std::string(field) + ": there is no value " + std::to_string(value));
}

}  // namespace bounds_detail
}  // namespace muster
