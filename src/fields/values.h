// How values look wherever they are printed: numbers, sizes, spans, points in time, names of users. All functions append.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "fields/environment.h"

namespace muster::fields {

inline void put(std::string& out, std::string_view text) { out += text; }
template <std::integral T>
void put_number(std::string& out, T value) {
  char text[24];
  auto [end, ec] = std::to_chars(text, text + sizeof text, value);
  out.append(text, end);
}
// Appends `none` where the text is empty.
inline void put_or(std::string& out, std::string_view text, std::string_view none = "(null)") { out += text.empty() ? none : text; }
template <std::integral T>
void put_number_or(std::string& out, T value, std::string_view none) {
  if (value) put_number(out, value);
  else out += none;
}

// Appends a point in time as SLURM_TIME_FORMAT asks for it (environment.h), or `none` where it is not set.
void put_time(std::string& out, Time when, const Environment& env, std::string_view none = "N/A");
void put_span(std::string& out, Duration span);                                    // squeue: "1-02:03:04", "5:00"
void put_span_full(std::string& out, Duration span);                               // scontrol: "1-02:03:04", "00:05:00"
void put_minutes(std::string& out, uint32_t minutes, std::string_view unlimited);  // squeue's form of a limit
// Appends MiB with a unit: 2G, 1500M, 0; always M with noconvert.
void put_mem(std::string& out, uint64_t mb, bool noconvert);
void put_user(std::string& out, Uid uid, std::string_view known, const Environment& env);
void put_group(std::string& out, Gid gid, const Environment& env);
// Appends an exit status of wait(2) as "code:signal".
void put_exit_status(std::string& out, int32_t status);
// Appends a number with so many digits after the point: 0.500000.
void put_fixed(std::string& out, double value, int digits);
// A number's whole part; what fits into no int64_t becomes the nearest that does, and NaN 0.
int64_t whole_part(double value);

}  // namespace muster::fields
