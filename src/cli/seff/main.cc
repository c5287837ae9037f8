// seff: how much of its CPUs and memory a job has used, and what to ask for next time. As Slurm's contributed command of that name.
#include <unistd.h>

#include "cli/accounting/fresh_records.h"
#include "cli/accounting/no_accounting.h"
#include "cli/common/job_ids.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/sacct/print.h"
#include "fields/efficiency.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

constexpr const char* kHelp = "JOB\n\nShows how much of its CPUs and memory a job has used, from what the accounting database recorded of "
                              "its steps, and what to ask\n"
                              "for next time. JOB is 12, or 12_3 for a task of an array.\n\n"
                              "  -h, --help     this text\n"
                              "  -V, --version  the version\n";

int mistake(const os::CliLog& log, const std::string& text) {
  log.error("{}", text);
  log.info("Try \"seff --help\" for more information");
  return 1;
}

// Shows each record that the database has of the job: one, or as many as tasks of an array have.
int report_job(Session& session, const rpc::JobSelector& named, const os::CliLog& log) {
  rpc::QueryRecords query;
  query.filter.jobs.push_back(named);
  query.filter.clusters.push_back(session.conf().cluster_name);
  if (Result<> connected = session.connect(); !connected) {
    report(log, connected.error(), "Problem talking to the database: ");
    return 1;
  }
  wait_for_records(session.conf(), query.filter);
  ClientConf conf = session.conf();
  Names names;
  fields::Environment env = print_environment(conf, SacctOptions{}, names);
  const fields::RecordStyle style;
  size_t found = 0;
  Out out;
  WholeJobs jobs([&](const rpc::JobRecords& part) {
    auto step = part.steps.begin();
    for (const JobRecord& job : part.jobs) {
      const auto first = step;
      while (step != part.steps.end() && step->job == job.key) ++step;
      if (found++) out.put("\n");
      out.put(fields::efficiency_report({job, nullptr, env, style, {first, step}}));
    }
  });
  Result<rpc::Empty> done = session.stream(query, [&](rpc::JobRecords&& part) -> Result<> {
    jobs.add(std::move(part));
    return {};
  });
  jobs.end();
  out.flush();
  if (!done) report(log, done.error(), "Problem talking to the database: ");
  else if (found == 0) log.error("Job not found.");
  return done && found ? 0 : 1;
}

int run(int argc, char** argv) {
  os::CliLog log("seff");
  const std::vector<std::string> arguments = arguments_of(argc, argv);
  if (auto code = answered_offline("seff", kHelp, arguments)) return *code;
  if (arguments.size() != 1) return mistake(log, "One job must be named");
  if (arguments[0].starts_with('-')) return mistake(log, "unrecognized option '" + arguments[0] + "'");
  Result<rpc::JobSelector> named = parse_job_selector(arguments[0]);
  if (!named || named->has_step) return mistake(log, "Invalid job id: " + arguments[0]);
  Result<ClientConf> conf = find_client_conf();
  if (!conf) {
    report_fatal(log, conf.error());
    return 1;
  }
  if (!conf->accounting_dbd) {
    put_error(kStorageDisabled);
    return 1;
  }
  Session session(std::move(*conf), Patience::kNone, Whom::kDatabase);
  return report_job(session, *named, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
