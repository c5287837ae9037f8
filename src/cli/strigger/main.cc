// strigger: sets, shows and clears triggers. strigger(1).
#include <unistd.h>

#include "cli/common/command.h"
#include "cli/common/find_job.h"
#include "cli/common/job_ids.h"
#include "cli/common/print_environment.h"
#include "cli/strigger/print.h"
#include "os/users.h"

namespace muster::cli {
namespace {

class Strigger {
 public:
  Strigger(const StriggerOptions& o, Session& session, const os::CliLog& log) : options_(o), session_(session), log_(log) {}

  int run() {
    if (!options_.job.empty()) {
      auto named = parse_job_selector(options_.job);
      if (!named) return wrong("Invalid jobid " + options_.job);
      auto found = options_.set || named->sluid ? find_job(session_, *named) : Result<JobId>(named->job);
      if (!found) return refused(options_.set ? "slurm_set_trigger: " : "slurm_get_trigger: ", found.error());
      job_ = *found;
    }
    if (!options_.user.empty()) {
      auto uid = os::find_uid(options_.user);
      if (!uid) return wrong("Invalid user " + options_.user);
      user_ = uid->value;
    }
    return options_.set ? set() : options_.clear ? clear() : get();
  }

 private:
  int set() {
    const std::string path = options_.program.substr(0, options_.program.find(' '));
    if (::access(path.c_str(), F_OK) != 0) return wrong("Invalid --program value, file not found");
    rpc::SetTrigger ask;
    TriggerSpec& t = ask.trigger;
    t.on = options_.on;
    t.job = job_;
    if (options_.nodes) t.nodes = *options_.nodes;
    t.offset_seconds = options_.offset_seconds;
    t.permanent = options_.permanent;
    t.program = options_.program;
    auto done = session_.call(ask);
    if (!done) return refused("slurm_set_trigger: ", done.error());
    log_.verbose("trigger {} set", done->id);
    return 0;
  }
  int clear() {
    rpc::ClearTriggers ask;
    ask.filter = filter();
    auto done = session_.call(ask);
    if (done) {
      log_.verbose("{} triggers cleared", done->count);
      return 0;
    }
    if (options_.quiet && done.error().code == Errc::kNotFound) return 0;
    return refused("slurm_clear_trigger: ", done.error());
  }
  int get() {
    rpc::QueryTriggers ask;
    ask.filter = filter();
    std::vector<Trigger> found;
    auto on_part = [&](rpc::TriggerRows&& rows) -> Result<> {
      for (Trigger& t : rows.triggers)
        if (wanted(t)) found.push_back(std::move(t));
      return {};
    };
    if (auto done = session_.stream(ask, on_part); !done) return refused("slurm_get_trigger: ", done.error());
    Names names;
    Out out;
    if (!found.empty() && !options_.noheader) out.line(trigger_header());
    for (const Trigger& t : found) out.line(trigger_line(t, [&](Uid u) { return names.user(u); }));
    return 0;
  }
  rpc::TriggerFilter filter() const {
    rpc::TriggerFilter f;
    f.id = options_.id.value_or(0);
    f.job = job_;
    f.user = user_;
    return f;
  }
  // What --node and the kinds of events choose of those that --id, --jobid and --user chose.
  bool wanted(const Trigger& t) const {
    if (options_.on && !(options_.on & t.spec.on)) return false;
    return !options_.nodes || (!t.spec.job && trigger_subject(t.spec.on) == TriggerOf::kNode);
  }
  int wrong(const std::string& text) {
    log_.error("{}", text);
    return 1;
  }
  int refused(const char* prefix, const Error& e) {
    put_error(prefix + std::string(e.message()) + (e.hint.empty() || options_.quiet ? "" : "\n" + e.hint));
    return 1;
  }

  const StriggerOptions& options_;
  Session& session_;
  const os::CliLog& log_;
  JobId job_{};
  std::optional<uint32_t> user_;
};

int run(int argc, char** argv) {
  os::CliLog log("strigger");
  QueryParse<StriggerOptions> parse = parse_strigger(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kStrigger, parse.messages, 1)) return *code;
  const StriggerOptions& o = parse.options;
  set_verbosity(log, o.verbose);
  std::optional<Session> session = find_session(Patience::kMessageTimeout, o.clusters, log);
  if (!session) return 1;
  return Strigger(o, *session, log).run();
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
