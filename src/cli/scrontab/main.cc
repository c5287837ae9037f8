// scrontab: a user's crontab of jobs. scrontab(1).
#include <stdio.h>
#include <unistd.h>

#include <iostream>

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "cli/scrontab/edit.h"
#include "cli/scrontab/entries.h"
#include "options/crontab_file.h"
#include "os/clock.h"
#include "os/files.h"

namespace muster::cli {
namespace {

Result<os::User> whose(const std::string& named) {
  if (named.empty()) return os::find_user(Uid{::getuid()});
  Result<Uid> uid = os::find_uid(named);
  if (!uid) return fail(Errc::kUserIdMissing, "Invalid user: " + named);
  return os::find_user(*uid);
}

Result<std::string> read_all(const std::string& path) {
  if (path != "-") return os::read_file(path, Crontab::kMostBytes + 1);
  std::string out;
  char piece[4096];
  while (out.size() <= Crontab::kMostBytes) {
    const ssize_t n = ::read(0, piece, sizeof piece);
    if (n <= 0) break;
    out.append(piece, static_cast<size_t>(n));
  }
  return out;
}

class Scrontab {
 public:
  Scrontab(const ScrontabOptions& o, Session& session, os::User user, const os::CliLog& log)
      : options_(o), session_(session), user_(std::move(user)), log_(log) {}

  int list() {
    auto now = fetch();
    if (!now) return failed(now.error());
    if (!now->there) return none();
    Out().put(now->crontab);
    return 0;
  }
  int remove() {
    auto now = fetch();
    if (!now) return failed(now.error());
    if (!now->there) return none();
    rpc::InstallCrontab nothing;
    nothing.user = user_.uid;
    auto done = session_.call(nothing);
    return done ? 0 : failed(done.error());
  }
  int install(const std::string& path) {
    auto text = read_all(path);
    if (!text) {
      log_.error("{}: {}", path, text.error().message());
      return 1;
    }
    return install_text(*text);
  }
  int edit() {
    auto now = fetch();
    if (!now) return failed(now.error());
    const std::string before = now->there ? now->crontab : std::string(example_crontab());
    auto file = EditedFile::make(before);
    if (!file) return failed(file.error());
    for (;;) {
      if (Result<> edited = file->edit(); !edited) return failed(edited.error());
      auto text = file->text(Crontab::kMostBytes);
      if (!text) return failed(text.error());
      if (*text == before) {
        log_.info("no changes were made");
        return 0;
      }
      if (install_text(*text) == 0) return 0;
      if (!again()) {
        log_.error("the crontab stays as it was");
        return 1;
      }
    }
  }

 private:
  Result<rpc::CrontabText> fetch() {
    rpc::QueryCrontab ask;
    ask.user = user_.uid;
    return session_.call(ask);
  }
  int install_text(const std::string& text) {
    // SLURM_SUBMIT_DIR is where the jobs begin, not where their crontab was installed.
    if (::chdir(user_.home.c_str()) != 0) log_.verbose("{} cannot be entered", user_.home);
    CrontabRequest made = make_request(text, user_, session_.conf(), os::wall_now());
    for (const std::string& line : made.warnings) log_.write(os::LogLevel::kInfo, "warning: " + line);
    for (const std::string& line : made.faults) log_.error("{}", line);
    if (!made.faults.empty()) return 1;
    // A blank file is a crontab without entries, which a text of no bytes would not be.
    if (made.request.crontab.empty()) made.request.crontab = "\n";
    auto done = session_.call(made.request);
    if (!done) return failed(done.error());
    for (size_t i = 0; i < done->jobs.size() && i < made.request.entries.size(); ++i)
      log_.verbose("line {}: job {}", made.request.entries[i].last_line, done->jobs[i].value);
    return 0;
  }
  static bool again() {
    if (!::isatty(0)) return false;
    fputs("Do you want to edit it again? (y/n) ", stderr);
    std::string answer;
    return std::getline(std::cin, answer) && !answer.empty() && (answer[0] == 'y' || answer[0] == 'Y');
  }
  int none() {
    log_.error("no crontab for {}", user_.name);
    return 1;
  }
  int failed(const Error& e) {
    report(log_, e);
    return 1;
  }

  const ScrontabOptions& options_;
  Session& session_;
  os::User user_;
  const os::CliLog& log_;
};

int run(int argc, char** argv) {
  os::CliLog log("scrontab");
  QueryParse<ScrontabOptions> parse = parse_scrontab(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kScrontab, parse.messages, 1)) return *code;
  const ScrontabOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  auto conf = find_client_conf();
  if (!conf) {
    report_fatal(log, conf.error());
    return 1;
  }
  if (!conf->scrontab) {
    report_fatal(log, Error(Errc::kDisabled, "scrontab is disabled on this cluster", "ScronParameters=enable in slurm.conf allows it"));
    return 1;
  }
  auto user = whose(options.user);
  if (!user) {
    report(log, user.error());
    return 1;
  }
  Session session(std::move(*conf), Patience::kMessageTimeout);
  Scrontab command(options, session, std::move(*user), log);
  switch (options.action) {
    case ScrontabOptions::Action::kEdit: return command.edit();
    case ScrontabOptions::Action::kList: return command.list();
    case ScrontabOptions::Action::kRemove: return command.remove();
    case ScrontabOptions::Action::kInstall: break;
  }
  return command.install(parse.operands[0]);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
