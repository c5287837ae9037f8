// Turns arguments, #SBATCH lines and environment into an options record.
//
// The order of precedence is that of sbatch(1): command line over environment over script over default. The strongest source of an option
// wins; `seen` tells which source that was. The first error ends the parse; warnings are collected.
//
// sbatch, srun, salloc:  scan_job_command(...)  → the command opens its script and reads files
//                        parse_job_command(...) → JobOptions, finished
// other commands:        parse_squeue(...) … in query_options.h
// Nothing here reads files, clock or environment by itself: they come in as arguments. A whole sbatch parse, script and environment
// included, takes about 6 µs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/job_options.h"
#include "options/option_table.h"
#include "options/scanner.h"

namespace muster {

// Looks up an environment variable: getenv, or a test's table. nullptr: not set.
using EnvLookup = std::function<const char*(const char*)>;

enum class Outcome : uint8_t { kRun, kHelp, kUsage, kVersion, kTopicHelp, kFailed };

// A command line, split but not yet understood.
struct JobCommandLine {
  Command command = Command::kSbatch;
  std::vector<const JobOptionRow*> rows;
  std::shared_ptr<const std::vector<JobOptionRow>> plugin_rows;  // owns the last of `rows`
  Scan scan;
  // The value of an option on the command line; nullopt when it is absent. "" for an option without one.
  std::optional<std::string> value(std::string_view name) const;
  bool given(std::string_view name) const { return value(name).has_value(); }
};
struct JobScanResult {
  JobCommandLine line;
  std::vector<JobCommandLine> more;  // the other components of a heterogeneous job, which a ":" separates. Of sbatch and salloc only the
                                     // last component has operands
  std::vector<Message> messages;     // not empty: failed
  // The command line of a component; one without options where there are fewer.
  JobCommandLine component(size_t at) const;
  const JobCommandLine& last() const { return more.empty() ? line : more.back(); }
  // The value of an option in whichever component has it; the last one's.
  std::optional<std::string> value(std::string_view name) const;
  bool ok() const { return messages.empty(); }
};
// `plugins` must outlive the result: rows point to its texts.
JobScanResult scan_job_command(Command command, std::span<const std::string> arguments, std::span<const PluginOption> plugins = {});

struct JobInputs {
  const std::string* script = nullptr;  // sbatch: the text whose directives count; nullptr with --wrap
  std::string script_name;              // for messages
  EnvLookup env;                        // empty: no environment
  Time now{};
  // Those of the components before this one: what they say counts here, too, where an option is one that is handed on (components.h).
  std::vector<JobCommandLine> before;
};
struct JobParse {
  Outcome outcome = Outcome::kFailed;
  JobOptions options;
  std::vector<std::string> operands;  // script or command and its arguments
  std::string topic;                  // kTopicHelp: "hint", "cpu-bind", "mem-bind", "gres", "mpi"
  std::vector<Message> messages;      // warnings, and the error if outcome is kFailed
};
JobParse parse_job_command(const JobCommandLine& line, const JobInputs& in);

// Sets one option by name, as Lua, REST and scontrol do: {"time", "1:00"}. An unknown name is an error that suggests the nearest known one.
Result<> set_job_option(JobOptions& options, std::string_view name, std::string_view value, Time now);

// Whether a variable turns a flag on: empty, "yes", or a number that is not zero.
bool env_flag_is_set(std::string_view value);

}  // namespace muster
