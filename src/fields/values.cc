#include "fields/values.h"

#include <cmath>
#include <cstdio>
#include <ctime>

#include "base/text.h"

namespace muster::fields {
namespace {

std::tm local_time(Time t) {
  auto clock = static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(t).time_since_epoch().count());
  std::tm local{};
  localtime_r(&clock, &local);
  return local;
}

int64_t day_number(const std::tm& t) {
  std::tm noon = t;
  noon.tm_hour = 12;
  noon.tm_min = noon.tm_sec = 0;
  return (static_cast<int64_t>(timegm(&noon))) / 86400;
}

// The pattern of SLURM_TIME_FORMAT=relative, squeue(1).
const char* relative_pattern(const std::tm& t, const std::tm& now) {
  int64_t days = day_number(t) - day_number(now);
  if (days == 0) return "%H:%M:%S";
  if (days == -1) return "Ystday %H:%M";
  if (days == 1) return "Tomorr %H:%M";
  if (days > 1 && days < 7) return "%a %H:%M";
  return t.tm_year == now.tm_year ? "%-d %b %H:%M" : "%-d %b %Y";
}

}  // namespace

void LastMinute::put(std::string& out, Time when) {
  const int64_t second = std::chrono::floor<std::chrono::seconds>(when).time_since_epoch().count();
  if (second >= 0 && second / 60 != minute_) {
    minute_ = second / 60;
    text_ = format_time(from_unix(minute_ * 60));
  }
  // Many zones had minutes of their own before 1972.
  if (second < 0 || !text_.ends_with(":00")) {
    out += format_time(when);
    return;
  }
  out += text_;
  out[out.size() - 2] = static_cast<char>('0' + second % 60 / 10);
  out.back() = static_cast<char>('0' + second % 10);
}

void put_time(std::string& out, Time when, const Environment& env, std::string_view none) {
  if (when == kTimeUnset || when == kTimeInfinite) {
    out += none;
    return;
  }
  if (env.time_format.empty() || env.time_format == "standard") {
    env.last_minute.put(out, when);
    return;
  }
  std::tm local = local_time(when);
  char text[256];
  const char* pattern = env.time_format.c_str();
  if (env.time_format == "relative") pattern = relative_pattern(local, local_time(env.now));
  out.append(text, std::strftime(text, sizeof text, pattern, &local));
}

void put_span(std::string& out, Duration span) {
  int64_t length = to_seconds(span);
  if (span < Duration::zero()) {
    out += "INVALID";
    return;
  }
  char text[40];
  char* begin = text + sizeof text;
  auto two = [&](int64_t v) {
    *--begin = static_cast<char>('0' + v % 10);
    *--begin = static_cast<char>('0' + v / 10);
  };
  auto all = [&](int64_t v) {
    do *--begin = static_cast<char>('0' + v % 10);
    while (v /= 10);
  };
  int64_t days = length / 86400, hours = length / 3600 % 24, mins = length / 60 % 60;
  two(length % 60);
  *--begin = ':';
  if (days || hours) two(mins);
  else all(mins);
  if (days) {
    *--begin = ':';
    two(hours);
    *--begin = '-';
    all(days);
  } else if (hours) {
    *--begin = ':';
    all(hours);
  }
  out.append(begin, static_cast<size_t>(text + sizeof text - begin));
}

void put_span_full(std::string& out, Duration span) { out += format_span_full(span); }

void put_minutes(std::string& out, uint32_t mins, std::string_view unlimited) {
  if (mins == kUnlimited32) out += unlimited;
  else put_span(out, minutes(mins));
}

void put_mem(std::string& out, uint64_t mb, bool noconvert) {
  if (!noconvert || mb == 0) {
    out += format_mem_mb(mb);
    return;
  }
  put_number(out, mb);
  out += 'M';
}

void put_user(std::string& out, Uid uid, std::string_view known, const Environment& env) {
  if (!known.empty()) {
    out += known;
    return;
  }
  std::string name = env.user_name ? env.user_name(uid) : std::string();
  if (name.empty()) put_number(out, uid.value);
  else out += name;
}

void put_group(std::string& out, Gid gid, const Environment& env) {
  std::string name = env.group_name ? env.group_name(gid) : std::string();
  if (name.empty()) put_number(out, gid.value);
  else out += name;
}

void put_exit_status(std::string& out, int32_t status) {
  uint32_t s = static_cast<uint32_t>(status);
  uint32_t signal = s & 0x7f;
  put_number(out, (s >> 8) & 0xff);
  out += ':';
  put_number(out, signal == 0x7f ? 0u : signal);
}

void put_fixed(std::string& out, double value, int digits) {
  char text[400];  // the largest double has 309 digits before the point
  auto [end, ec] = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  if (ec == std::errc()) out.append(text, end);
}

int64_t whole_part(double value) {
  constexpr double kLimit = 9223372036854774784.0;  // the last double below 2^63
  if (std::isnan(value)) return 0;
  return static_cast<int64_t>(value > kLimit ? kLimit : value < -kLimit ? -kLimit : value);
}

}  // namespace muster::fields
