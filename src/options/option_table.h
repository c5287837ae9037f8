// What an option is: one row gives its names, argument, commands, environment variables, help, status and where the value goes. Parser,
// --help, --usage, manual page, completion and environment inputs are all derived from the rows. The rows are in *_rows.cc, one file per
// subject. How rows are read from a command line: parser.h. Manual pages: sbatch(1) srun(1) salloc(1) squeue(1) sinfo(1) scancel(1)
// scontrol(1) sattach(1) sbcast(1) sacct(1) sacctmgr(1) swait(1) sshare(1) sprio(1) scrontab(1) strigger(1) sreport(1) sstat(1)
// sh5util(1).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace muster {

enum class Command : uint8_t {
  kSbatch,
  kSrun,
  kSalloc,
  kSqueue,
  kSinfo,
  kScancel,
  kScontrol,
  kSattach,
  kSbcast,
  kSacct,
  kSacctmgr,
  kSwait,
  kSshare,
  kSprio,
  kScrontab,
  kStrigger,
  kSreport,
  kSstat,
  kSh5util
};
inline constexpr Command kAllCommands[] = {Command::kSbatch,   Command::kSrun,     Command::kSalloc,  Command::kSqueue, Command::kSinfo,
                                           Command::kScancel,  Command::kScontrol, Command::kSattach, Command::kSbcast, Command::kSacct,
                                           Command::kSacctmgr, Command::kSwait,    Command::kSshare,  Command::kSprio,  Command::kScrontab,
                                           Command::kStrigger, Command::kSreport,  Command::kSstat,   Command::kSh5util};
std::string_view command_name(Command c);

struct CommandSet {
  uint32_t bits = 0;
  constexpr bool has(Command c) const { return bits >> static_cast<unsigned>(c) & 1; }
  constexpr CommandSet operator|(CommandSet o) const { return {bits | o.bits}; }
};
constexpr CommandSet only(Command c) { return {1u << static_cast<unsigned>(c)}; }
inline constexpr CommandSet kSbatchOnly = only(Command::kSbatch), kSrunOnly = only(Command::kSrun), kSallocOnly = only(Command::kSalloc),
                            kJobs = kSbatchOnly | kSrunOnly | kSallocOnly;

enum class Arg : uint8_t { kNone, kRequired, kOptional };

// The groups of --help, in the order they are printed.
enum class Section : uint8_t {
  kJob,
  kTime,
  kResources,
  kPlacement,
  kLayout,
  kGpus,
  kBinding,
  kOutput,
  kNotify,
  kAccounting,
  kBatch,
  kLaunch,
  kSharing,
  kFilter,
  kDisplay,
  kSignal,
  kTransfer,
  kSites,
  kPlugins,
  kUnavailable,
  kHelp
};
std::string_view section_title(Section section);

// What becomes of an option that a user gives. An option that must not be ignored (the job would do something else) is refused; a hint
// without which the job does the same is accepted with a warning.
enum class Status : uint8_t {
  kWorks,     // the value reaches the record and somebody acts on it
  kNoEffect,  // accepted; one warning says why nothing follows
  kRefused,   // an error says why
};

// Input environment variables for each command that takes the option. Several names for one command are separated by '|', the one that wins
// first.
struct EnvNames {
  const char* sbatch = nullptr;
  const char* srun = nullptr;
  const char* salloc = nullptr;
  const char* other = nullptr;  // squeue … sbcast; their rows serve one command each
  const char* of(Command c) const;
};

struct OptionInfo {
  const char* name = nullptr;  // without dashes; nullptr: an environment variable that is no option
  char letter = 0;
  Arg arg = Arg::kNone;
  const char* arg_name = "";
  CommandSet commands;
  EnvNames env{};
  Section section = Section::kJob;
  const char* summary = "";  // one line of --help
  const char* doc = "";      // paragraph of the manual page
  Status status = Status::kWorks;
  const char* note = nullptr;  // kNoEffect, kRefused: the reason the user is told
  // The feature that will change the status, as docs/compatibility.md names it; nullptr: the status stays. With kWorks, the option works in
  // part until then, and the note says how.
  const char* needs = nullptr;
  bool hidden = false;       // an older spelling: works, not advertised
  bool client_only = false;  // makes no sense in a batch script: ignored there with a warning
};

enum class Source : uint8_t { kDefault, kScript, kEnvironment, kCommandLine };

// One occurrence of an option, as its setter gets it.
struct Given {
  Command command = Command::kSbatch;
  Source source = Source::kDefault;
  const OptionInfo* info = nullptr;
  const char* env_name = nullptr;  // with kEnvironment
  bool has_value = false;
  std::string_view value;
  bool in_allocation = false;  // srun inside a job
  Time now{};                  // for times relative to now
};

template <class Record>
struct OptionRow {
  OptionInfo info;
  Result<> (*set)(Record&, const Given&);
};

// An option that a plugin (SPANK, cli_filter) registers while the command runs, such as Pyxis' --container-image. Built-in names win over a
// plugin's.
struct PluginOption {
  std::string name;
  Arg arg = Arg::kNone;
  std::string arg_name;
  std::string summary;
  std::string plugin;  // for messages
};
struct PluginOptionValue {
  std::string name;
  bool has_value = false;
  std::string value;
  Source source = Source::kDefault;
};

// Which source gave an option its value, for conflicts between options and for messages.
struct Seen {
  const OptionInfo* info = nullptr;
  Source source = Source::kDefault;
  const char* env_name = nullptr;
  std::string value;  // as given the last time; "" without one
};

// A line for the user's terminal. render() gives it the form Slurm's commands use.
struct Message {
  enum class Level : uint8_t { kPlain, kWarning, kError, kFatal, kHint, kBare };  // kBare: without the program's name
  Level level = Level::kError;
  std::string text;
  bool operator==(const Message&) const = default;
};
// Gives "sbatch: error: text", "sbatch: fatal: text", "sbatch: text" or "sbatch: hint: text". Each line of the text gets the prefix, except at kBare.
std::string render(const Message& message, std::string_view program);

}  // namespace muster
