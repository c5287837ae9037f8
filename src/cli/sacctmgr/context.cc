#include "cli/sacctmgr/context.h"

#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/accounting/no_accounting.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

// Reads a line of standard input; nullopt at its end or after `until`.
std::optional<std::string> read_line(Time until) {
  std::string line;
  for (;;) {
    const Duration left = until - os::monotonic_now();
    pollfd p{0, POLLIN, 0};
    if (left <= Duration::zero() || ::poll(&p, 1, static_cast<int>(left / milliseconds(1)) + 1) <= 0) return std::nullopt;
    char ch;
    if (::read(0, &ch, 1) != 1) return line.empty() ? std::nullopt : std::optional(line);
    if (ch == '\n') return line;
    if (line.size() < 256) line += ch;
  }
}

}  // namespace

const ClientConf* Context::conf() {
  if (session_) return &session_->conf();
  if (conf_) return &*conf_;
  Result<ClientConf> found = find_client_conf();
  if (found) return &conf_.emplace(std::move(*found));
  exit_code = 1;
  report_fatal(log, found.error());
  return nullptr;
}

Session* Context::session() {
  if (!session_) {
    const ClientConf* conf = this->conf();
    if (!conf) return nullptr;
    if (!conf->accounting_dbd) {
      complain(kNoDatabase);
      return nullptr;
    }
    session_.emplace(*conf, Patience::kNone, Whom::kDatabase);
  }
  Result<> connected = session_->connect();
  if (connected) return &*session_;
  exit_code = 1;
  log.error("Problem talking to the database: {}", connected.error().message());
  if (!connected.error().hint.empty()) log.info("{}", connected.error().hint);
  return nullptr;
}

void Context::complain(const Error& e) {
  exit_code = 1;
  if (e.text.starts_with(' ')) {  // lines that Slurm prints as they are
    put_error(e.text);
    if (!e.hint.empty()) log.info("{}", e.hint);
  } else {
    report(log, e);
  }
}

void Context::say(std::string_view text) {
  if (!options.quiet) Out().put(text);
}

fields::TableStyle table_style(const SacctmgrOptions& options) {
  using Form = fields::TableStyle::Form;
  fields::TableStyle style;
  style.form = options.form == SacctOptions::Form::kAligned    ? Form::kAligned
               : options.form == SacctOptions::Form::kParsable ? Form::kEnded
                                                               : Form::kSeparated;
  style.header = !options.noheader;
  return style;
}

bool confirmed(std::string_view question) {
  Out().put(std::string(question) + " (You have " + std::to_string(kSecondsToDecide) + " seconds to decide)\n");
  const Time until = os::monotonic_now() + seconds(kSecondsToDecide);
  for (;;) {
    Out().put("(N/y): ");
    std::optional<std::string> line = read_line(until);
    if (!isatty(0) || !line) Out().put("\n");
    std::string_view answer = line ? trim(*line) : std::string_view();
    if (iequals(answer, "y") || iequals(answer, "yes")) return true;
    if (!line || answer.empty() || iequals(answer, "n") || iequals(answer, "no")) return false;
    Out().put("Y or N please\n");
  }
}

}  // namespace muster::cli
