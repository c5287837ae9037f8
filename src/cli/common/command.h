// What every command's main does alike: arguments as texts, messages of the parser, --help and --version
// before anything else is looked at, output in few writes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/common/options.h"
#include "os/cli_log.h"

namespace muster::cli {

std::vector<std::string> arguments_of(int argc, char** argv);
EnvLookup process_environment();

// The parser's lines on stderr, as Slurm's commands word them.
void show(std::span<const Message> messages, std::string_view program);

// --help, --usage, --version, a failed parse: prints and gives the exit code. nullopt: go on. `failed`: the
// exit code after a wrong option; a conflict of options that Slurm calls fatal gives 1.
std::optional<int> settled(Outcome outcome, Command command, std::span<const Message> messages, int failed, std::string_view topic = {},
                           std::span<const PluginOption> plugins = {});

// "-V" or "--version" as the only argument, for commands without an option table.
bool asks_version(std::span<const std::string> arguments);

// -v: verbose; -vv: debug; every further v one more.
void set_verbosity(os::CliLog& log, uint32_t times);

// sbatch, srun, salloc -v: the options given, one a line, between rules; from -vv on also what the job inherits from here.
void say_options(const os::CliLog& log, const JobOptions& options);
void say_inherited(const os::CliLog& log, const AskedRequest& request);

// Lines on stderr as Slurm prints them, without the program's name.
void put_error(std::string_view lines);

// What ends a command before it began, with its hint on a second line.
void report_fatal(const os::CliLog& log, const Error& e);

// "prefix: text" as error with its hint on a second line.
void report(const os::CliLog& log, const Error& e, std::string_view prefix = {});

// What the controller refused, as Slurm tells it: its own sentence first where it has one, then "prefix: text
// of the code", then the hint.
void report_refusal(const os::CliLog& log, const Error& e, std::string_view prefix);

// Standard output, collected and written in pieces of 64 KiB. A reader that went away ends the program
// quietly, as `squeue | head` expects.
class Out {
 public:
  Out() = default;
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() { flush(); }
  void put(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void line(std::string_view text) {
    buffer_.append(text);
    put("\n");
  }
  std::string& buffer() { return buffer_; }  // to append to; call put("") after
  void flush();

 private:
  static constexpr size_t kFlushAt = 64 << 10;
  std::string buffer_;
};

// The host's name up to the first dot.
std::string short_hostname();
// "a b 'c d'": a command line as --submit-line and submit_line show it: words joined by blanks, as typed.
std::string joined(std::string_view program, std::span<const std::string> arguments);
std::string current_directory();

}  // namespace muster::cli
