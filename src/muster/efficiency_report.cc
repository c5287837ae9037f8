#include "muster/efficiency_report.h"

#include <algorithm>

#include "base/plain_text.h"
#include "cli/sacct/query.h"
#include "fields/efficiency.h"
#include "fields/json_values.h"
#include "fields/record_values.h"

namespace muster::front {
namespace {

constexpr std::string_view kBy[] = {"user", "account", "job"};  // in the order of EfficiencyBy
constexpr double kGigabyte = 1 << 30;

std::string_view by_of(const EfficiencyReport& r) { return kBy[static_cast<size_t>(r.ask.by)]; }
bool of_jobs(const EfficiencyReport& r) { return r.ask.by == EfficiencyBy::kJob; }

double unused(const EfficiencyRow& row) { return row.cpu.held - row.cpu.used; }
bool comes_before(const EfficiencyRow& a, const EfficiencyRow& b) { return unused(a) > unused(b); }

void add_to(Held& sum, const Held& more) {
  sum.used += more.used;
  sum.held += more.held;
  sum.spare += more.spare;
}
void add_to(EfficiencyRow& sum, const EfficiencyRow& more) {
  sum.jobs += more.jobs;
  add_to(sum.cpu, more.cpu);
  add_to(sum.memory, more.memory);
  add_to(sum.gpu, more.gpu);
}

// What one job held for so long.
EfficiencyRow row_of(const fields::Efficiency& of_job, Duration elapsed) {
  const auto in_seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  const double time = in_seconds(elapsed);
  EfficiencyRow row;
  row.jobs = 1;
  row.cpu = {in_seconds(of_job.cpu_used), in_seconds(of_job.cpu_held), 0};
  if (auto cpus = of_job.cpus_next_time()) row.cpu.spare = (of_job.cpus - *cpus) * time;
  if (of_job.gpus_known) {
    const auto gpus = static_cast<double>(of_job.gpus_held);
    row.gpu = {std::min(of_job.gpu_percent() / 100, 1.0) * gpus * time, gpus * time, 0};
  }
  if (!of_job.mem_held) return row;  // without a limit nothing was held
  row.memory = {static_cast<double>(of_job.mem_used.value) * time, static_cast<double>(of_job.mem_held.value) * time, 0};
  if (auto each = of_job.mem_next_time()) row.memory.spare = static_cast<double>(of_job.mem_held.value - each->value * of_job.nodes) * time;
  return row;
}

std::string percent_text(const Held& h) { return h.held > 0 ? fmt::format("{:.1f}%", h.percent()) : "-"; }
std::string gigabyte_hours(double byte_seconds) { return hours(byte_seconds / kGigabyte); }

// Of a user or an account: "62% of the CPUs and 20% of the memory".
std::string next_of_group(const EfficiencyRow& row) {
  std::string out;
  auto part = [&](const Held& h, std::string_view what) {
    if (h.held <= 0 || h.spare / h.held < 0.005) return;
    out += fmt::format("{}{:.0f}% of the {}", out.empty() ? "" : " and ", std::max(1.0, 100 * (h.held - h.spare) / h.held), what);
  };
  part(row.cpu, "CPUs");
  part(row.memory, "memory");
  return out;
}
std::string next_of(const EfficiencyReport& r, const EfficiencyRow& row) { return of_jobs(r) ? row.next : next_of_group(row); }

// What stands between a row's name and its numbers.
std::vector<std::string> who_of(const EfficiencyReport& r, const EfficiencyRow& row) {
  if (of_jobs(r)) return {row.user, row.account};
  return {std::to_string(row.jobs)};
}

struct Number {
  std::string_view key;
  Held EfficiencyRow::*of;
  double Held::*amount;
  double unit;  // in seconds of it
};
constexpr Number kNumbers[] = {
    {"cpu_held_hours", &EfficiencyRow::cpu, &Held::held, 3600},
    {"cpu_used_hours", &EfficiencyRow::cpu, &Held::used, 3600},
    {"cpu_spare_hours", &EfficiencyRow::cpu, &Held::spare, 3600},
    {"memory_held_gb_hours", &EfficiencyRow::memory, &Held::held, 3600 * kGigabyte},
    {"memory_used_gb_hours", &EfficiencyRow::memory, &Held::used, 3600 * kGigabyte},
    {"memory_spare_gb_hours", &EfficiencyRow::memory, &Held::spare, 3600 * kGigabyte},
    {"gpu_held_hours", &EfficiencyRow::gpu, &Held::held, 3600},
    {"gpu_peak_hours", &EfficiencyRow::gpu, &Held::used, 3600},
};
double amount_of(const Number& n, const EfficiencyRow& row) { return row.*n.of.*n.amount / n.unit; }

std::string notes_of(const EfficiencyReport& r) {
  std::string out;
  if (r.left_out) out += fmt::format("\n{} more jobs left less unused: they are in the total only.\n", r.left_out);
  if (r.unknown)
    out += fmt::format("\n{} of the jobs are not in here: nothing was gathered of what they used (JobAcctGatherType).\n", r.unknown);
  return out;
}

}  // namespace

Result<EfficiencyAsk> parse_efficiency(std::span<const std::string> arguments, Time now) {
  constexpr ReportShape kShape{"efficiency", kBy, ReportForm::kJson, true};
  MUSTER_TRY(words, parse_report_words(kShape, arguments, now));
  return EfficiencyAsk{static_cast<EfficiencyBy>(words.by), words.from, words.until, words.form};
}

rpc::QueryRecords query_of(const EfficiencyAsk& ask, const std::string& cluster) {
  rpc::QueryRecords q;
  q.filter.clusters = {cluster};
  q.filter.from = ask.from;
  q.filter.until = ask.until;
  q.filter.states = cli::kEndedStates;
  q.filter.duplicates = true;  // each run of a job that was put back held what it held
  return q;
}

EfficiencySums::EfficiencySums(const EfficiencyAsk& ask, std::string cluster, size_t most_job_rows) : most_(most_job_rows) {
  out_.ask = ask;
  out_.cluster = std::move(cluster);
}

void EfficiencySums::add(const fields::RecordView& job) {
  const Duration elapsed = fields::record_elapsed(job);
  if (job.job.started == kTimeUnset || elapsed <= Duration::zero()) return;  // it held nothing
  const fields::Efficiency efficiency = fields::efficiency_of(job);
  if (!efficiency.known) {
    ++out_.unknown;
    return;
  }
  EfficiencyRow row = row_of(efficiency, elapsed);
  add_to(out_.total, row);
  switch (out_.ask.by) {
    case EfficiencyBy::kUser: return add_to(groups_[job.job.user], row);
    case EfficiencyBy::kAccount: return add_to(groups_[job.job.account], row);
    case EfficiencyBy::kJob: break;
  }
  row.next = fields::next_time(efficiency);
  add_job(job, std::move(row));
}

void EfficiencySums::add_job(const fields::RecordView& job, EfficiencyRow&& row) {
  fields::put_record_id(job, row.name);
  row.user = job.job.user;
  row.account = job.job.account;
  out_.rows.push_back(std::move(row));
  if (out_.rows.size() >= 2 * most_) keep_most();
}

void EfficiencySums::keep_most() {
  if (out_.rows.size() <= most_) return;
  std::ranges::nth_element(out_.rows, out_.rows.begin() + static_cast<ptrdiff_t>(most_), comes_before);
  out_.left_out += out_.rows.size() - most_;
  out_.rows.resize(most_);
}

EfficiencyReport EfficiencySums::end() {
  for (auto& [name, row] : groups_) {
    row.name = name;
    out_.rows.push_back(std::move(row));
  }
  if (of_jobs(out_)) keep_most();
  std::ranges::stable_sort(out_.rows, comes_before);
  return std::move(out_);
}

std::string to_text(const EfficiencyReport& report) {
  std::string out = fmt::format("Efficiency on cluster {} by {}, jobs that ended {} - {}\n\n", plain(report.cluster), by_of(report),
                                format_time(report.ask.from), format_time(report.ask.until));
  auto line = [&](const std::string& name, const std::vector<std::string>& who, const std::vector<std::string>& numbers,
                  const std::string& next) {
    std::string cells = padded(name, of_jobs(report) ? -12 : -20);
    for (const std::string& w : who) cells += padded(w, of_jobs(report) ? -14 : 8);
    for (const std::string& n : numbers) cells += padded(n, 11);
    if (!next.empty()) cells += "  " + next;
    cells.erase(cells.find_last_not_of(' ') + 1);
    out += cells + "\n";
  };
  const bool gpus = report.total.gpu.held > 0;
  std::vector<std::string> headings{"CPU-hours", "used", "GB-hours", "used"};
  if (gpus) headings.insert(headings.end(), {"GPU-hours", "at peak"});
  auto row_line = [&](const std::string& name, const std::vector<std::string>& who, const EfficiencyRow& r, const std::string& next) {
    std::vector<std::string> numbers{hours(r.cpu.held), percent_text(r.cpu), gigabyte_hours(r.memory.held), percent_text(r.memory)};
    if (gpus) numbers.insert(numbers.end(), {hours(r.gpu.held), percent_text(r.gpu)});
    line(name, who, numbers, next);
  };
  line(std::string(by_of(report)), of_jobs(report) ? std::vector<std::string>{"user", "account"} : std::vector<std::string>{"jobs"},
       headings, "next time ask for");
  for (const EfficiencyRow& r : report.rows) {
    std::vector<std::string> who = who_of(report, r);
    for (std::string& w : who) w = plain(w);
    row_line(r.name.empty() ? "(none)" : plain(r.name), who, r, next_of(report, r));
  }
  row_line("total", of_jobs(report) ? std::vector<std::string>{"", ""} : who_of(report, report.total), report.total, "");
  return out + notes_of(report);
}

std::string to_csv(const EfficiencyReport& report) {
  std::string out = std::string(by_of(report)) + (of_jobs(report) ? ",user,account" : ",jobs");
  for (const Number& n : kNumbers) out += fmt::format(",{}", n.key);
  out += ",next_time\n";
  for (const EfficiencyRow& r : report.rows) {
    out += csv_field(r.name);
    for (const std::string& w : who_of(report, r)) out += "," + csv_field(w);
    for (const Number& n : kNumbers) out += fmt::format(",{:.4f}", amount_of(n, r));
    out += "," + csv_field(next_of(report, r)) + "\n";
  }
  return out;
}

void to_tree(const EfficiencyReport& report, fields::TreeSink& sink) {
  fields::Members members(sink);
  auto numbers = [&](const EfficiencyRow& r) {
    members.number("jobs", static_cast<int64_t>(r.jobs));
    for (const Number& n : kNumbers) {
      sink.key(n.key);
      sink.real(amount_of(n, r));
    }
  };
  sink.begin_object();
  members.text("cluster", report.cluster)
      .text("by", by_of(report))
      .number("from", unix_seconds(report.ask.from))
      .number("until", unix_seconds(report.ask.until));
  sink.key("rows");
  sink.begin_list();
  for (const EfficiencyRow& r : report.rows) {
    sink.begin_object();
    members.text(by_of(report), r.name);
    if (of_jobs(report)) members.text("user", r.user).text("account", r.account);
    numbers(r);
    members.text("next_time", next_of(report, r));
    sink.end_object();
  }
  sink.end_list();
  members.begin("total");
  numbers(report.total);
  members.end();
  members.number("jobs_unknown", static_cast<int64_t>(report.unknown)).number("jobs_left_out", static_cast<int64_t>(report.left_out));
  sink.end_object();
}

}  // namespace muster::front
