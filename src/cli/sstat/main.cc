// sstat: what running steps use at this moment. sstat(1).
#include <set>

#include "cli/common/command.h"
#include "cli/common/job_ids.h"
#include "cli/common/options.h"
#include "cli/common/print_environment.h"
#include "cli/sstat/live_steps.h"
#include "fields/live_view.h"
#include "fields/step_values.h"

namespace muster::cli {
namespace {

using LiveTable = fields::Table<fields::LiveView>;

Result<LiveTable> table_of(const SstatOptions& o) {
  using Form = fields::TableStyle::Form;
  fields::TableStyle style;
  style.form = o.form == SacctOptions::Form::kAligned    ? Form::kAligned
               : o.form == SacctOptions::Form::kParsable ? Form::kEnded
                                                         : Form::kSeparated;
  style.header = !o.noheader;
  LiveTable table(style);
  if (o.pids) MUSTER_TRY_VOID(table.add(fields::pid_fields(), "jobid,nodelist,pids"));
  else MUSTER_TRY_VOID(table.add(fields::live_fields(), o.format.empty() ? fields::kLiveDefault : std::string_view(o.format)));
  return table;
}

std::string pids_text(const std::vector<int32_t>& pids) {
  std::string out;
  for (int32_t pid : pids) out += (out.empty() ? "" : ",") + std::to_string(pid);
  return out;
}

std::string all_pids(const LiveStep& live) {
  std::string out;
  for (const NodeUse& n : live.nodes) out += (out.empty() || n.pids.empty() ? "" : ",") + pids_text(n.pids);
  return out;
}

class Printer {
 public:
  Printer(const SstatOptions& options, const LiveTable& table, const os::CliLog& log) : o_(options), table_(table), log_(log) {
    table_.header(out_.buffer());
  }
  ~Printer() { out_.flush(); }

  void job(Session& session, const rpc::JobSelector& named) {
    Result<std::vector<StepRow>> steps = steps_to_show(session, named, o_.all_steps);
    if (!steps && steps.error().code == Errc::kNotFound) return log_.error("StepId={} not found running.", selector_text(named));
    if (!steps && steps.error().code == Errc::kAlreadyDone) return log_.error("No steps running for job {}", named.job.value);
    if (!steps) return refused(named, steps.error());
    for (const StepRow& row : *steps) {
      Result<LiveStep> live = ask_nodes(session, row);
      if (live) step(row, *live);
      else if (live.error().code == Errc::kInvalidJobId) log_.info("step {} has just ended", id_of(row));
      else refused(named, live.error());
    }
  }
  bool nothing_gathered() const { return nothing_gathered_; }

 private:
  static std::string id_of(const StepRow& row) {
    std::string id;
    fields::put_step_id(id, row);
    return id;
  }
  void refused(const rpc::JobSelector& named, const Error& e) const {
    rpc::JobSelector job = named;
    job.has_step = false;
    log_.error("couldn't get steps for job {}", selector_text(job));
    log_.info("{}", e.message());
  }
  void step(const StepRow& row, const LiveStep& live) {
    for (const std::string& node : live.silent) log_.error("node {}", node);
    if (!live.usage) nothing_gathered_ = nothing_gathered_ || !live.nodes.empty();
    if (!live.usage && !o_.pids) return;
    const std::string id = id_of(row);
    const fields::UsageStyle style{0, o_.noconvert};
    if (!o_.pids) {
      const std::string pids = all_pids(live);
      table_.row({id, live.sluid, row, live.usage.get(), style, {}, pids}, out_.buffer());
    }
    for (const NodeUse& n : o_.pids ? live.nodes : std::vector<NodeUse>()) {
      const std::string pids = pids_text(n.pids);
      table_.row({id, live.sluid, row, live.usage.get(), style, n.node, pids}, out_.buffer());
    }
    out_.put("");
  }

  const SstatOptions& o_;
  const LiveTable& table_;
  const os::CliLog& log_;
  Out out_;
  bool nothing_gathered_ = false;
};

int run(int argc, char** argv) {
  os::CliLog log("sstat");
  QueryParse<SstatOptions> parse = parse_sstat(arguments_of(argc, argv), process_environment());
  if (auto code = settled(parse.outcome, Command::kSstat, parse.messages, 1)) return *code;
  const SstatOptions& options = parse.options;
  set_verbosity(log, options.verbose);
  if (options.helpformat) {
    Out().put(fields::live_help());
    return 0;
  }
  Result<LiveTable> table = table_of(options);
  if (!table) {
    log.error("Invalid field requested: \"{}\"", table.error().message());
    if (!table.error().hint.empty()) log.info("{}", table.error().hint);
    return 1;
  }
  if (options.jobs.empty()) {
    log.error("You didn't give me any jobs to stat.");
    return 1;
  }
  std::vector<rpc::JobSelector> jobs;
  std::set<std::string> named_before;  // a job that is named twice is shown once
  for (const std::string& text : options.jobs) {
    if (!named_before.insert(text).second) continue;
    Result<rpc::JobSelector> named = parse_job_selector(text);
    if (!named) {
      log.fatal("Bad job/step specified: {}", text);
      return 1;
    }
    jobs.push_back(std::move(*named));
  }
  Result<Session> session = Session::find(Patience::kNone, Whom::kStepManager);
  if (!session) {
    report(log, session.error());
    return 1;
  }
  Printer printer(options, *table, log);
  for (const rpc::JobSelector& job : jobs) printer.job(*session, job);
  if (printer.nothing_gathered()) log.info("nothing is gathered of these steps: slurm.conf has no JobAcctGatherType");
  return 0;
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
