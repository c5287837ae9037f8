// Trigger: a program that slurmctld runs once when something happens to a job, to nodes or to a daemon. strigger(1).
//
// A trigger waits until what it is about has happened. Then it is *pulled*: it is due at a moment (at once, or --offset later) with an
// argument (the job, or the names of the nodes). When its program has been started it is gone, or waits again with --flags=PERM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"
#include "base/parsed.h"
#include "base/time.h"
#include "model/node_names.h"

namespace muster {

// What a trigger may be about. A trigger may name several of one kind of thing. In the event log: append only.
enum class TriggerOn : uint8_t {
#define MUSTER_TRIGGER(on, of, word, possible) on,
#include "model/trigger.def"
#undef MUSTER_TRIGGER
};
enum class TriggerOf : uint8_t { kJob, kNode, kController, kSlurmdbd, kDatabase, kOther };

struct TriggerInfo {
  TriggerOn on;
  TriggerOf of;
  const char* word;     // TYPE of strigger --get, and the option's name
  const char* refusal;  // why it cannot be set here; null: it can
};
inline constexpr TriggerInfo kTriggers[] = {
#define MUSTER_TRIGGER(on, of, word, refusal) {TriggerOn::on, TriggerOf::of, word, refusal},
#include "model/trigger.def"
#undef MUSTER_TRIGGER
};
constexpr uint32_t bit_of(TriggerOn on) { return 1u << static_cast<unsigned>(on); }

// What is asked for.
struct TriggerSpec {
  static constexpr int32_t kMostOffset = 32000;  // seconds, before or after
  uint32_t on = 0;                               // bits of TriggerOn
  JobId job{};                                   // 0: about nodes or daemons
  Parsed<NodeNames> nodes;                       // none: all; or those of the job
  int32_t offset_seconds = 0;
  bool permanent = false;
  std::string program;  // an absolute path, perhaps with arguments
  bool operator==(const TriggerSpec&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "on", self.on);
    field(2, "job", self.job);
    field(3, "nodes", self.nodes);
    field(4, "offset_seconds", self.offset_seconds);
    field(5, "permanent", self.permanent);
    field(6, "program", self.program);
  }
};

struct Trigger {
  static constexpr size_t kMostOfUser = 200;
  uint32_t id = 0;
  TriggerSpec spec;
  Uid user{};
  Time set{};
  Time due{};            // pulled: when the program runs; unset: it waits
  std::string argument;  // pulled: what the program is told
  bool operator==(const Trigger&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "spec", self.spec);
    field(3, "user", self.user);
    field(4, "set", self.set);
    field(5, "due", self.due);
    field(6, "argument", self.argument);
  }
};

std::string trigger_words(uint32_t on);                          // "down,drained"
TriggerOf trigger_subject(uint32_t on);                          // of the first; all of one trigger have the same, or are kJob and kNode
std::string_view trigger_subject_name(const TriggerSpec& spec);  // "job", "node", "slurmctld" …

namespace rpc {

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

struct SetTrigger {
  TriggerSpec trigger;
  MUSTER_FIELDS(field(1, "trigger", self.trigger);)
};
struct TriggerSet {
  uint32_t id = 0;
  MUSTER_FIELDS(field(1, "id", self.id);)
};
// Whichever is given must match; `user` is that of the trigger.
struct TriggerFilter {
  uint32_t id = 0;
  JobId job{};
  std::optional<uint32_t> user;
  MUSTER_FIELDS(field(1, "id", self.id); field(2, "job", self.job); field(3, "user", self.user);)
};
struct ClearTriggers {
  TriggerFilter filter;
  MUSTER_FIELDS(field(1, "filter", self.filter);)
};
struct TriggersCleared {
  uint32_t count = 0;
  MUSTER_FIELDS(field(1, "count", self.count);)
};
struct QueryTriggers {
  TriggerFilter filter;
  MUSTER_FIELDS(field(1, "filter", self.filter);)
};
struct TriggerRows {
  std::vector<Trigger> triggers;
  MUSTER_FIELDS(field(1, "triggers", self.triggers);)
};

#undef MUSTER_FIELDS

}  // namespace rpc
}  // namespace muster
