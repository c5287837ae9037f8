// The steps that every command's main shares: arguments as texts, messages of the parser, --help and --version before anything else is
// looked at, output in few writes.
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

// Prints the parser's lines on stderr, as Slurm's commands word them.
void show(std::span<const Message> messages, std::string_view program);

// Answers --help, --usage, --version and a failed parse: prints and gives the exit code. nullopt: go on. `failed` is the exit code after a
// wrong option; a conflict of options that Slurm calls fatal gives 1.
std::optional<int> settled(Outcome outcome, Command command, std::span<const Message> messages, int failed, std::string_view topic = {},
                           std::span<const PluginOption> plugins = {});

// Whether "-V" or "--version" is the only argument, for commands without an option table.
bool asks_version(std::span<const std::string> arguments);

// Sets the log level: -v is verbose, -vv debug, and every further v is one level more.
void set_verbosity(os::CliLog& log, uint32_t times);

// For -v of sbatch, srun and salloc: prints the options given, one a line, between rules; from -vv on also what the job inherits from here.
void say_options(const os::CliLog& log, const JobOptions& options);
void say_inherited(const os::CliLog& log, const AskedRequest& request);

// Prints lines on stderr as Slurm prints them, without the program's name.
void put_error(std::string_view lines);

// Reports an error that ends a command before it began; a hint follows on a second line.
void report_fatal(const os::CliLog& log, const Error& e);

// Reports "prefix: text" as an error; a hint follows on a second line.
void report(const os::CliLog& log, const Error& e, std::string_view prefix = {});

// Reports a refusal of the controller as Slurm does: the controller's own sentence first where it has one, then "prefix: text of the code",
// then the hint.
void report_refusal(const os::CliLog& log, const Error& e, std::string_view prefix);

// Standard output, collected and written in pieces of 64 KiB. When the reader went away, the program ends quietly, as `squeue | head`
// expects.
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
// A command line as --submit-line and submit_line show it: its words joined by blanks, as typed ("a b 'c d'").
std::string joined(std::string_view program, std::span<const std::string> arguments);
std::string current_directory();

}  // namespace muster::cli
