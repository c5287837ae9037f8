#include "muster/report.h"

#include "cli/accounting/no_accounting.h"
#include "cli/sreport/usage.h"
#include "muster/gpu_hours.h"
#include "muster/verbs.h"
#include "os/clock.h"

namespace muster::front {
namespace {

void print(const GpuHours& hours, ReportForm form) {
  cli::Out out;
  switch (form) {
    case ReportForm::kText: out.put(to_text(hours)); return;
    case ReportForm::kCsv: out.put(to_csv(hours)); return;
    case ReportForm::kSvg: out.put(to_svg(hours)); return;
    case ReportForm::kHtml: out.put(to_html(hours)); return;
    case ReportForm::kJson: break;
  }
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, false, out.buffer());
  to_tree(hours, *sink);
  out.line("");
}

int gpu_hours(std::span<const std::string> arguments) {
  Result<GpuHoursAsk> ask = parse_gpu_hours(arguments, os::wall_now());
  if (!ask) return complain(ask.error());
  Result<cli::Session> session = cli::Session::find(cli::Patience::kNone, cli::Whom::kDatabase);
  if (!session) return complain(session.error());
  if (!session->conf().accounting_dbd) return complain(Error(Errc::kError, std::string(cli::kStorageDisabled)));
  const std::string& cluster = session->conf().cluster_name;
  auto usage = cli::ask_usage(*session, query_of(*ask, cluster));
  if (!usage) return complain(usage.error());
  print(gpu_hours_of(*ask, cluster, usage->empty() ? Usage() : usage->front().usage), ask->form);
  return 0;
}

}  // namespace

int report_verb(std::span<const std::string> arguments) {
  if (!arguments.empty() && arguments[0] == "gpu-hours") return gpu_hours(arguments.subspan(1));
  return complain(Error(Errc::kBadOption, arguments.empty() ? "report: name a report" : "unknown report '" + arguments[0] + "'",
                        "there is one: muster report gpu-hours --by account|user|partition|qos"));
}

}  // namespace muster::front
