#include "muster/report.h"

#include <algorithm>

#include "cli/accounting/no_accounting.h"
#include "cli/sacct/print.h"
#include "cli/sreport/usage.h"
#include "muster/efficiency_report.h"
#include "muster/gpu_hours.h"
#include "muster/verbs.h"
#include "os/clock.h"

namespace muster::front {
namespace {

template <class Report>
void print_json(const Report& report, cli::Out& out) {
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, false, out.buffer());
  to_tree(report, *sink);
  out.line("");
}

void print(const GpuHours& hours, ReportForm form) {
  cli::Out out;
  switch (form) {
    case ReportForm::kText: out.put(to_text(hours)); return;
    case ReportForm::kCsv: out.put(to_csv(hours)); return;
    case ReportForm::kSvg: out.put(to_svg(hours)); return;
    case ReportForm::kHtml: out.put(to_html(hours)); return;
    case ReportForm::kJson: print_json(hours, out); return;
  }
}

void print(const EfficiencyReport& report) {
  cli::Out out;
  if (report.ask.form == ReportForm::kJson) print_json(report, out);
  else out.put(report.ask.form == ReportForm::kCsv ? to_csv(report) : to_text(report));
}

// To slurmdbd, where there is one.
Result<cli::Session> find_accounting() {
  MUSTER_TRY(session, cli::Session::find(cli::Patience::kNone, cli::Whom::kDatabase));
  if (!session.conf().accounting_dbd) return fail(Errc::kError, std::string(cli::kStorageDisabled));
  return session;
}

Result<> gpu_hours(std::span<const std::string> arguments) {
  MUSTER_TRY(ask, parse_gpu_hours(arguments, os::wall_now()));
  MUSTER_TRY(session, find_accounting());
  const std::string& cluster = session.conf().cluster_name;
  MUSTER_TRY(usage, cli::ask_usage(session, query_of(ask, cluster)));
  print(gpu_hours_of(ask, cluster, usage.empty() ? Usage() : usage.front().usage), ask.form);
  return {};
}

Result<> efficiency(std::span<const std::string> arguments) {
  MUSTER_TRY(ask, parse_efficiency(arguments, os::wall_now()));
  MUSTER_TRY(session, find_accounting());
  const std::string& cluster = session.conf().cluster_name;
  EfficiencySums sums(ask, cluster);
  fields::Environment env;
  const fields::RecordStyle style;
  cli::WholeJobs jobs([&](const rpc::JobRecords& part) {
    auto step = part.steps.begin();
    for (const JobRecord& job : part.jobs) {
      const auto first = step;
      while (step != part.steps.end() && step->job == job.key) ++step;
      sums.add({job, nullptr, env, style, {first, step}});
    }
  });
  MUSTER_TRY_VOID(session.stream(query_of(ask, cluster), [&](rpc::JobRecords&& part) -> Result<> {
    jobs.add(std::move(part));
    return {};
  }));
  jobs.end();
  print(sums.end());
  return {};
}

struct Report {
  std::string_view name;
  Result<> (*run)(std::span<const std::string> arguments);
};
constexpr Report kReports[] = {{"gpu-hours", gpu_hours}, {"efficiency", efficiency}};

}  // namespace

int report_verb(std::span<const std::string> arguments) {
  const auto* report = arguments.empty() ? std::end(kReports) : std::ranges::find(kReports, std::string_view(arguments[0]), &Report::name);
  if (report == std::end(kReports))
    return complain(Error(Errc::kBadOption, arguments.empty() ? "report: name a report" : "unknown report '" + arguments[0] + "'",
                          "there are: muster report gpu-hours --by account|user|partition|qos, "
                          "muster report efficiency --by user|account|job"));
  const Result<> done = report->run(arguments.subspan(1));
  return done ? 0 : complain(done.error());
}

}  // namespace muster::front
