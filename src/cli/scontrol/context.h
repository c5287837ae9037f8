// What scontrol's commands share: options, session, messages, exit code. One Context per run of the program;
// the interactive mode keeps it over its lines.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "cli/common/command.h"
#include "cli/common/session.h"

namespace muster::cli {

using Words = std::span<const std::string>;  // the words after the keyword

class Context {
 public:
  explicit Context(ScontrolOptions o) : options(std::move(o)) {}

  ScontrolOptions options;
  os::CliLog log{"scontrol"};
  int exit_code = 0;
  bool done = false;  // exit, quit

  // The session, found when first needed; nullptr after telling why not (exit code 1). Queries give up at
  // once.
  Session* query_session();
  Session* control_session();
  // A line on stderr as Slurm prints it, without the program's name; exit code 1.
  void complain(const std::string& line);
  // "prefix: text" and the hint.
  void complain(const std::string& prefix, const Error& e);
  void unavailable(const std::string& what);

 private:
  Session* find(std::optional<Session>& session, Patience patience);
  std::optional<Session> query_, control_;
};

// offline.cc: nothing here contacts a daemon
void show_hostnames(Context& c, Words words);
void show_hostlist(Context& c, Words words, bool sorted);
void print_errnumstr(Context& c, Words words);
// ping.cc
void ping(Context& c);
std::string ping_text(Context& c, bool& all_up);
// control.cc
void control_jobs(Context& c, rpc::JobAction action, Words words);
void reconfigure(Context& c);
void shutdown(Context& c, Words words);
void wait_job(Context& c, Words words);
void write_script(Context& c, Words words);
// update.cc
void update(Context& c, Words words);
void create(Context& c, Words words);
void remove(Context& c, Words words);
// show.cc
void show(Context& c, Words words);
void show_completing(Context& c);
// interactive.cc: prompts until exit; each line goes to `run`.
void interact(Context& c, const std::function<void(Words)>& run);

}  // namespace muster::cli
