#include "cli/common/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/version.h"
#include "options/defined_options.h"

namespace muster::cli {
namespace {

void write_error(std::string_view text) { [[maybe_unused]] ssize_t n = text.empty() ? 0 : ::write(2, text.data(), text.size()); }

}  // namespace

std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = 1; i < argc; ++i) out.emplace_back(argv[i]);
  return out;
}

EnvLookup process_environment() {
  return [](const char* name) -> const char* { return getenv(name); };
}

void show(std::span<const Message> messages, std::string_view program) {
  std::string text;
  for (const Message& m : messages) text += render(m, program) + "\n";
  write_error(text);
}

std::optional<int> settled(Outcome outcome, Command command, std::span<const Message> messages, int failed, std::string_view topic,
                           std::span<const PluginOption> plugins) {
  show(messages, command_name(command));
  Out out;
  switch (outcome) {
    case Outcome::kRun: return std::nullopt;
    case Outcome::kHelp: out.put(help_text(command, plugins)); return 0;
    case Outcome::kUsage: out.put(usage_text(command)); return 0;
    case Outcome::kVersion: out.line(kVersionText); return 0;
    case Outcome::kTopicHelp: out.put(topic_help_text(topic)); return 0;
    case Outcome::kFailed: break;
  }
  bool fatal = std::ranges::any_of(messages, [](const Message& m) { return m.level == Message::Level::kFatal; });
  return fatal ? 1 : failed;
}

bool asks_version(std::span<const std::string> arguments) {
  return arguments.size() == 1 && (arguments[0] == "-V" || arguments[0] == "--version");
}

void set_verbosity(os::CliLog& log, uint32_t times) {
  constexpr uint32_t kMost = static_cast<uint32_t>(os::LogLevel::kDebug5) - static_cast<uint32_t>(os::LogLevel::kInfo);
  if (times) log.set_level(static_cast<os::LogLevel>(static_cast<uint32_t>(os::LogLevel::kInfo) + std::min(times, kMost)));
}

void say_options(const os::CliLog& log, const JobOptions& options) {
  constexpr std::string_view kRule = "-------------------- --------------------";
  if (!log.enabled(os::LogLevel::kVerbose)) return;
  log.verbose("defined options");
  log.verbose("{}", kRule);
  for (const std::string& line : defined_options(options)) log.verbose("{}", line);
  log.verbose("{}", kRule);
  log.verbose("end of defined options");
}

void say_inherited(const os::CliLog& log, const AskedRequest& request) {
  if (!log.enabled(os::LogLevel::kDebug)) return;
  for (const ResourceLimit& l : request.limits) log.debug("propagating RLIMIT_{}={}", l.name, l.soft);
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, 0);
  log.debug("propagating SLURM_PRIO_PROCESS={}", errno ? 0 : nice);
  char mask[8];
  snprintf(mask, sizeof mask, "%04o", request.umask);
  log.debug("propagating UMASK={}", std::string(mask));
}

void put_error(std::string_view lines) { write_error(std::string(lines) + "\n"); }

void report_fatal(const os::CliLog& log, const Error& e) {
  log.fatal("{}", e.message());
  if (!e.hint.empty()) log.info("{}", e.hint);
}

// Every line of a text gets the prefix, as Slurm's do.
void report(const os::CliLog& log, const Error& e, std::string_view prefix) {
  std::vector<std::string_view> lines = split(e.message(), '\n');
  for (size_t i = 0; i + 1 < lines.size(); ++i)
    log.write(os::LogLevel::kError, i == 0 ? std::string(prefix).append(lines[0]) : std::string(lines[i]));
  if (lines.size() > 1) return log.error(Error(e.code, std::string(lines.back()), e.hint));
  log.error(e, prefix);
}

void report_refusal(const os::CliLog& log, const Error& e, std::string_view prefix) {
  std::string_view usual = errc_text(e.code);
  if (e.text.empty() || e.text == usual || e.code == Errc::kError) return log.error(e, prefix);
  log.write(os::LogLevel::kError, e.text);
  log.error(Error(e.code, std::string(usual), e.hint), prefix);
}

void Out::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    ssize_t n = ::write(1, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      // Nobody reads any more, or the disk is full. The first is no fault of ours; the second must not pass for success.
      _exit(errno == EPIPE ? 0 : 1);
    }
    rest.remove_prefix(static_cast<size_t>(n));
  }
  buffer_.clear();
}

std::string short_hostname() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  std::string_view whole = name;
  return std::string(whole.substr(0, whole.find('.')));
}

std::string joined(std::string_view program, std::span<const std::string> arguments) {
  std::string out(program);
  for (const std::string& a : arguments) out.append(" ").append(a);
  return out;
}

std::string current_directory() {
  char path[4096];
  if (getcwd(path, sizeof path)) return path;
  const char* pwd = getenv("PWD");
  return pwd ? pwd : "/";
}

}  // namespace muster::cli
