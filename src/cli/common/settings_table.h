// The table that squeue, sinfo, scontrol and sbcast print with -v: their settings and the time. It goes to standard error, so that their
// output stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "cli/common/session.h"
#include "os/cli_log.h"

namespace muster::cli {

class SettingsTable {
 public:
  void add(std::string_view name, std::string_view value) { rows_.emplace_back(name, value.empty() ? "(null)" : value); }
  void add(std::string_view name, const char* value) { add(name, std::string_view(value)); }
  void add(std::string_view name, bool value) { add(name, std::string_view(value ? "true" : "false")); }
  void add(std::string_view name, const std::vector<std::string>& values);
  void add_number(std::string_view name, uint64_t value) { add(name, std::string_view(std::to_string(value))); }
  // Prints "name        = value" lines between two rules, each after `prefix`.
  void say(std::string_view prefix = {}) const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

// What squeue and sinfo print with -v before each listing: their settings, the time, and the controller they ask.
void say_listing(const os::CliLog& log, const SettingsTable& settings, const ClientConf& conf);
// The last of these lines alone.
void say_asking(const os::CliLog& log, const ClientConf& conf);

// A time such as "Sun Nov 22 20:41:08 2026", in local time.
std::string calendar_text(Time t);

}  // namespace muster::cli
