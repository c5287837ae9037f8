// scontrol's command words, their abbreviations and how many words may follow. scontrol(1) COMMANDS. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::cli {

enum class Keyword : uint8_t {
  kAbort,
  kCancelReboot,
  kCompleting,
  kCreate,
  kDelete,
  kErrnumstr,
  kExit,
  kFsDampeningFactor,
  kGetAddrs,
  kGetent,
  kHelp,
  kHold,
  kListJobs,
  kListPids,
  kListSteps,
  kNotify,
  kPidInfo,
  kPing,
  kPower,
  kQuit,
  kReboot,
  kReconfigure,
  kRelease,
  kRequeue,
  kRequeueHold,
  kResume,
  kSchedLogLevel,
  kSetDebug,
  kSetDebugFlags,
  kShow,
  kShutdown,
  kSuspend,
  kTakeover,
  kToken,
  kTop,
  kUhold,
  kUpdate,
  kVersion,
  kWaitJob,
  kWrite,
  // switches of the interactive mode
  kAll,
  kCluster,
  kDetails,
  kHide,
  kOneliner,
  kQuiet,
  kVerbose,
};

struct KeywordRow {
  std::string_view name;
  Keyword keyword;
  uint16_t min_words, max_words;  // after the keyword
  std::string_view help;          // "hold <job_list>"; "" = an older spelling, not listed
  std::string_view summary;
};

inline constexpr uint16_t kAnyWords = 0xffff;

// The row that a word means: by its whole name or an unambiguous beginning of it, in any case of letters. nullptr: none.
const KeywordRow* find_keyword(std::string_view word);
// The list that "scontrol help" prints after the options.
void append_keyword_help(std::string& out);

enum class Entity : uint8_t {
  kAliases,
  kAssocMgr,
  kBurstBuffer,
  kBurstBufferStatus,
  kConfig,
  kDaemons,
  kFederation,
  kHostlist,
  kHostlistSorted,
  kHostnames,
  kJob,
  kLicense,
  kNode,
  kPartition,
  kReservation,
  kSlurmd,
  kStep,
  kTopoconf,
  kTopology,
};
// Finds the entity that follows "show"; abbreviations as above. False: no such entity.
bool find_entity(std::string_view word, Entity& out);

}  // namespace muster::cli
