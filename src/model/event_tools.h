// Events of crontabs, triggers and allocations with a command.
// Part of model/event.h, which says what holds for all events.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "model/crontab.h"
#include "model/trigger.h"

namespace muster::event {

struct CrontabInstalled {  // a user's crontab is another one; without text there is none any more
  static constexpr uint32_t kNumber = 520;
  static constexpr const char* kName = "CrontabInstalled";
  Uid user{};
  std::string text;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "user", self.user);
    field(2, "text", self.text);
  }
};

struct CronJobMade {  // a job that was just submitted is that of an entry of its user's crontab
  static constexpr uint32_t kNumber = 521;
  static constexpr const char* kName = "CronJobMade";
  CronJob entry;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "entry", self.entry);
  }
};

struct CronJobOver {  // it does not recur any more
  static constexpr uint32_t kNumber = 522;
  static constexpr const char* kName = "CronJobOver";
  JobId job{};
  bool disable = false;  // its lines in the crontab are commented out
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
    field(2, "disable", self.disable);
  }
};

struct TriggerSet {
  static constexpr uint32_t kNumber = 523;
  static constexpr const char* kName = "TriggerSet";
  Trigger trigger;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "trigger", self.trigger);
  }
};

struct TriggersCleared {  // by their user, or because what they wait for cannot come any more
  static constexpr uint32_t kNumber = 524;
  static constexpr const char* kName = "TriggersCleared";
  std::vector<uint32_t> triggers;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "triggers", self.triggers);
  }
};

struct TriggerPulled {  // what it waits for has happened: its program is to run at `due`
  static constexpr uint32_t kNumber = 525;
  static constexpr const char* kName = "TriggerPulled";
  uint32_t trigger = 0;
  Time due{};
  std::string argument;  // in place of what it had
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "trigger", self.trigger);
    field(2, "due", self.due);
    field(3, "argument", self.argument);
  }
};

struct TriggerStarted {  // its program runs, or cannot be started: it is gone, or waits again if it is permanent
  static constexpr uint32_t kNumber = 526;
  static constexpr const char* kName = "TriggerStarted";
  uint32_t trigger = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "trigger", self.trigger);
  }
};

struct AllocationAttended {  // the command that asks for an allocation, or asked for it, is there for it
  static constexpr uint32_t kNumber = 527;
  static constexpr const char* kName = "AllocationAttended";
  JobId job{};
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "job", self.job);
  }
};

}  // namespace muster::event
