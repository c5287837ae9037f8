// Crontab: a user's file of jobs that recur, as scrontab installs it, and what slurmctld knows of the job of one of its entries.
// scrontab(1). The text is the user's, kept as it was written; the controller changes it in one way only: the lines of a job that was
// cancelled for good are commented out. Its commands parse the text (options/crontab_file.h); nothing here reads it but to number lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "model/cron_times.h"
#include "model/job_request.h"

namespace muster {

using CronText = Parsed<CronTimes>;

struct Crontab {
  static constexpr size_t kMostBytes = 64 << 10;
  static constexpr size_t kMostEntries = 256;
  Uid user{};
  std::string text;
  bool operator==(const Crontab&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "user", self.user);
    field(2, "text", self.text);
  }
};

// The job of one entry. Lines are counted from 1 and are those of the entry and of its #SCRON options.
struct CronJob {
  JobId job{};
  CronText times;
  uint32_t first_line = 0, last_line = 0;
  bool over = false;  // it does not recur any more
  bool operator==(const CronJob&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "times", self.times);
    field(3, "first_line", self.first_line);
    field(4, "last_line", self.last_line);
    field(5, "over", self.over);
  }
};

// The text with "#DISABLED: " before each of these lines that has it not yet. Cost: O(text).
std::string with_lines_disabled(std::string_view text, uint32_t first, uint32_t last);

namespace rpc {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

struct CronEntry {
  CronText times;
  uint32_t first_line = 0, last_line = 0;
  AskedRequest request;
  std::string script;
  std::string environment;  // NAME=VALUE\0…
  MUSTER_FIELDS(field(1, "times", self.times); field(2, "first_line", self.first_line); field(3, "last_line", self.last_line);
                field(4, "request", self.request); field(5, "script", self.script); field(6, "environment", self.environment);)
};
// scrontab: takes the place of the user's crontab and of its jobs. With neither text nor entries it removes both.
struct InstallCrontab {
  Uid user{};
  std::string crontab;
  std::vector<CronEntry> entries;
  MUSTER_FIELDS(field(1, "user", self.user); field(2, "crontab", self.crontab); field(3, "entries", self.entries);)
};
struct CrontabInstalled {
  std::vector<JobId> jobs;  // of the entries, in their order
  MUSTER_FIELDS(field(1, "jobs", self.jobs);)
};
struct QueryCrontab {
  Uid user{};
  MUSTER_FIELDS(field(1, "user", self.user);)
};
struct CrontabText {
  bool there = false;
  std::string crontab;
  MUSTER_FIELDS(field(1, "there", self.there); field(2, "crontab", self.crontab);)
};

#undef MUSTER_FIELDS

}  // namespace rpc
}  // namespace muster
