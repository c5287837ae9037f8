#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "os/log.h"
#include "os/process.h"

namespace muster::os {
namespace {

struct FormatName {
  std::string_view name;
  LogTimeFormat format;
};
constexpr FormatName kFormats[] = {
    {"iso8601_ms", LogTimeFormat::kIso8601Ms}, {"iso8601", LogTimeFormat::kIso8601},    {"rfc5424_ms", LogTimeFormat::kRfc5424Ms},
    {"rfc5424", LogTimeFormat::kRfc5424},      {"rfc3339", LogTimeFormat::kRfc3339},    {"clock", LogTimeFormat::kClock},
    {"short", LogTimeFormat::kShort},          {"thread_id", LogTimeFormat::kThreadId},
};

std::string strf(const char* format, const tm& t) {
  char buffer[64];
  return std::string(buffer, strftime(buffer, sizeof buffer, format, &t));
}

std::string padded(int64_t value, size_t width) {
  std::string digits = std::to_string(value);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

std::string zone(const tm& t) {
  const std::string z = strf("%z", t);  // +0100
  return z.size() == 5 ? z.substr(0, 3) + ":" + z.substr(3) : z;
}

}  // namespace

Result<LogTimeFormat> parse_log_time_format(std::string_view text) {
  std::vector<std::string_view> names;
  for (const auto& f : kFormats) {
    if (iequals(text, f.name)) return f.format;
    names.push_back(f.name);
  }
  const auto near = did_you_mean(text, names);
  return fail(Errc::kInvalidArgument, "LogTimeFormat=" + std::string(text) + " is not a time format",
              near.empty() ? "" : "did you mean " + std::string(near) + "?");
}

std::string format_log_time(LogTimeFormat format, int64_t us) {
  int64_t rest = us % 1'000'000;
  time_t seconds = us / 1'000'000;
  if (rest < 0) rest += 1'000'000, --seconds;
  tm parts{};
  if (format == LogTimeFormat::kRfc3339) {
    gmtime_r(&seconds, &parts);
    return strf("%Y-%m-%dT%H:%M:%SZ", parts);
  }
  if (format == LogTimeFormat::kClock) return std::to_string(clock());
  localtime_r(&seconds, &parts);
  const std::string iso = strf("%Y-%m-%dT%H:%M:%S", parts);
  switch (format) {
    case LogTimeFormat::kIso8601: return iso;
    case LogTimeFormat::kRfc5424Ms: return iso + "." + padded(rest / 1000, 3) + zone(parts);
    case LogTimeFormat::kRfc5424: return iso + zone(parts);
    case LogTimeFormat::kShort: return strf("%b %d %H:%M:%S", parts);
    case LogTimeFormat::kThreadId: {
      char id[32];
      snprintf(id, sizeof id, "%#lx", static_cast<unsigned long>(pthread_self()));
      std::string name = process_name();
      name.resize(std::max<size_t>(name.size(), 12), ' ');
      return strf("%b %d %H:%M:%S.", parts) + padded(rest, 6) + " " + padded(getpid(), 5) + " " + name + " " + id;
    }
    default: return iso + "." + padded(rest / 1000, 3);
  }
}

}  // namespace muster::os
