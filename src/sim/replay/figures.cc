#include "sim/replay/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace muster::sim::replay {
namespace {

enum class Unit : uint8_t { kCount, kSpan, kRatio, kPart, kHours };

std::string text_of(double x, Unit unit) {
  switch (unit) {
    case Unit::kCount: return count_text(static_cast<uint64_t>(std::max(0.0, x)));
    case Unit::kSpan: return span_text(x);
    case Unit::kRatio: return number_text(x, 2);
    case Unit::kPart: return percent_text(x);
    case Unit::kHours: return number_text(x, 0);
  }
  return {};
}

std::string change_text(double a, double b, Unit unit) {
  if (a == b) return "=";
  if (unit == Unit::kPart) {
    char out[48];
    std::snprintf(out, sizeof out, "%+.1f points", 100 * (b - a));
    return out;
  }
  if (a <= 0) return "+" + text_of(b - a, unit);
  char out[48];
  std::snprintf(out, sizeof out, "%+.1f %%", 100 * (b - a) / a);
  return out;
}

class Builder {
 public:
  explicit Builder(const Reports& reports) : reports_(reports) {}
  void heading(std::string text) { table.rows.push_back({std::move(text), {}, true}); }
  void row(std::string label, Unit unit, const std::function<double(const Report&)>& value) {
    FigureRow r;
    r.label = std::move(label);
    for (const Report* x : reports_) r.values.push_back(text_of(value(*x), unit));
    if (reports_.size() == 2) r.values.push_back(change_text(value(*reports_[0]), value(*reports_[1]), unit));
    table.rows.push_back(std::move(r));
  }
  // Left out where it is 0 everywhere.
  void row_if(std::string label, Unit unit, const std::function<double(const Report&)>& value) {
    if (std::ranges::any_of(reports_, [&](const Report* r) { return value(*r) != 0; })) row(std::move(label), unit, value);
  }
  FigureTable table;

 private:
  const Reports& reports_;
};

void waits(Builder& builder) {
  builder.heading("Wait until the start");
  builder.row("mean", Unit::kSpan, [](const Report& r) { return r.wait.mean; });
  builder.row("median", Unit::kSpan, [](const Report& r) { return r.wait.median; });
  builder.row("p90", Unit::kSpan, [](const Report& r) { return r.wait.p90; });
  builder.row("p99", Unit::kSpan, [](const Report& r) { return r.wait.p99; });
  builder.row("longest", Unit::kSpan, [](const Report& r) { return r.wait.most; });
  builder.row_if("in the trace: median", Unit::kSpan, [](const Report& r) { return r.trace_wait.median; });
  builder.row_if("in the trace: p90", Unit::kSpan, [](const Report& r) { return r.trace_wait.p90; });
  builder.row_if("in the trace: p99", Unit::kSpan, [](const Report& r) { return r.trace_wait.p99; });
  builder.heading("Bounded slowdown");
  builder.row("mean", Unit::kRatio, [](const Report& r) { return r.slowdown.mean; });
  builder.row("median", Unit::kRatio, [](const Report& r) { return r.slowdown.median; });
  builder.row("p90", Unit::kRatio, [](const Report& r) { return r.slowdown.p90; });
  builder.row("p99", Unit::kRatio, [](const Report& r) { return r.slowdown.p99; });
}

void use(Builder& b) {
  b.heading("In use, on average");
  b.row_if("GPUs", Unit::kPart, [](const Report& r) { return r.gpu_use; });
  b.row("CPUs", Unit::kPart, [](const Report& r) { return r.cpu_use; });
  b.row("nodes", Unit::kPart, [](const Report& r) { return r.node_use; });
  b.row("GPUs (CPUs) while jobs waited", Unit::kPart, [](const Report& r) { return r.use_while_waiting; });
  b.row("jobs waiting", Unit::kRatio, [](const Report& r) { return r.mean_waiting; });
  b.heading("Fairness by account, while jobs waited");
  b.row("Jain's index of use/share", Unit::kRatio, [](const Report& r) { return r.fairness; });
}

void jobs(Builder& builder) {
  auto count = [&](const char* label, uint64_t Counts::*what, bool always) {
    auto value = [what](const Report& r) { return static_cast<double>(r.counts.*what); };
    if (always) builder.row(label, Unit::kCount, value);
    else builder.row_if(label, Unit::kCount, value);
  };
  builder.heading("Jobs");
  count("submitted", &Counts::submitted, true);
  count("refused", &Counts::refused, false);
  count("started", &Counts::started, true);
  count("completed", &Counts::completed, true);
  count("failed", &Counts::failed, false);
  count("cancelled while running", &Counts::cancelled, false);
  count("cancelled while waiting", &Counts::cancelled_waiting, false);
  count("out of time", &Counts::timed_out, false);
  count("ended otherwise", &Counts::other_end, false);
  count("still waiting at the end", &Counts::still_waiting, false);
  count("still running at the end", &Counts::still_running, false);
}

void promises(Builder& builder) {
  auto count = [&](const char* label, uint64_t PromiseReport::*what) {
    builder.row(label, Unit::kCount, [what](const Report& r) { return static_cast<double>(r.promises.*what); });
  };
  builder.heading("Promises (expected starts)");
  count("jobs with one", &PromiseReport::promised);
  count("started early", &PromiseReport::early);
  count("started within a minute", &PromiseReport::kept);
  count("started late", &PromiseReport::late);
  builder.row_if("late ones: median", Unit::kSpan, [](const Report& r) { return r.promises.lateness.median; });
  builder.row_if("late ones: p90", Unit::kSpan, [](const Report& r) { return r.promises.lateness.p90; });
  count("jobs put off at least once", &PromiseReport::moved_later);
  builder.row_if("how often", Unit::kCount, [](const Report& r) { return static_cast<double>(r.promises.moves); });
  builder.row_if("put off by, in all: median", Unit::kSpan, [](const Report& r) { return r.promises.put_off.median; });
  builder.heading("Preemption");
  builder.row("jobs preempted", Unit::kCount, [](const Report& r) { return static_cast<double>(r.preempted_jobs); });
  builder.row_if("requeued (times)", Unit::kCount, [](const Report& r) { return static_cast<double>(r.preempted.requeued); });
  builder.row_if("cancelled (times)", Unit::kCount, [](const Report& r) { return static_cast<double>(r.preempted.cancelled); });
  builder.row_if("suspended (times)", Unit::kCount, [](const Report& r) { return static_cast<double>(r.preempted.suspended); });
  builder.row_if("GPU-hours lost", Unit::kHours, [](const Report& r) { return r.preempted.lost.gpu_seconds / 3600; });
  builder.row_if("CPU-hours lost", Unit::kHours, [](const Report& r) { return r.preempted.lost.cpu_seconds / 3600; });
}

std::vector<std::string> columns(const Reports& reports, std::string first) {
  std::vector<std::string> out{std::move(first)};
  if (reports.size() == 1) out.push_back("");
  else out.insert(out.end(), {"A", "B", "change"});
  return out;
}

// "median", or "median A", "median B".
void add_columns(const Reports& reports, const std::string& what, std::vector<std::string>& to) {
  if (reports.size() == 1) return to.push_back(what);
  to.push_back(what + " A");
  to.push_back(what + " B");
}

const Group* find(const Report& r, size_t grouping, const std::string& name) {
  const auto& groups = r.groupings[grouping].groups;
  const auto at = std::ranges::find(groups, name, &Group::name);
  return at == groups.end() ? nullptr : &*at;
}

FigureTable group_table(const Reports& reports, size_t grouping) {
  FigureTable table;
  const Grouping& first = reports[0]->groupings[grouping];
  table.title = "Wait by " + first.by;
  table.columns = {first.by, "jobs"};
  const std::pair<const char*, double Quantiles::*> kShown[] = {
      {"median", &Quantiles::median}, {"p90", &Quantiles::p90}, {"p99", &Quantiles::p99}};
  for (auto [name, what] : kShown) add_columns(reports, name, table.columns);
  add_columns(reports, "slowdown p90", table.columns);
  for (const Group& group : first.groups) {
    FigureRow row;
    row.label = group.name;
    row.values.push_back(count_text(group.wait.count));
    for (auto [name, what] : kShown)
      for (const Report* r : reports) {
        const Group* of = find(*r, grouping, group.name);
        row.values.push_back(of ? span_text(of->wait.*what) : "-");
      }
    for (const Report* r : reports) {
      const Group* of = find(*r, grouping, group.name);
      row.values.push_back(of ? number_text(of->slowdown.p90, 1) : "-");
    }
    table.rows.push_back(std::move(row));
  }
  if (first.left_out) table.note = "and " + std::to_string(first.left_out) + " more with fewer jobs";
  return table;
}

}  // namespace

std::string number_text(double x, int decimals) {
  char out[64];
  std::snprintf(out, sizeof out, "%.*f", decimals, x);
  std::string text = out;
  const size_t point = std::min(text.find('.'), text.size());
  for (size_t at = point; at > 3 + (text[0] == '-');) text.insert(at -= 3, ",");
  return text;
}

std::string count_text(uint64_t n) { return number_text(static_cast<double>(n), 0); }

std::string percent_text(double part) { return number_text(100 * part, 1) + " %"; }

std::string span_text(double s) {
  const double a = std::abs(s);
  if (a < 60) return number_text(s, 0) + " s";
  if (a < 3600) return number_text(s / 60, 1) + " min";
  if (a < 86400) return number_text(s / 3600, 1) + " h";
  return number_text(s / 86400, 1) + " d";
}

FigureTable summary_table(const Reports& reports) {
  Builder b(reports);
  b.table.columns = columns(reports, "");
  waits(b);
  use(b);
  promises(b);
  jobs(b);
  return std::move(b.table);
}

std::vector<FigureTable> group_tables(const Reports& reports) {
  std::vector<FigureTable> out;
  for (size_t i = 0; i < reports[0]->groupings.size(); ++i)
    if (reports[0]->groupings[i].groups.size() > 1) out.push_back(group_table(reports, i));
  return out;
}

FigureTable account_table(const Reports& reports) {
  FigureTable table;
  table.title = "Shares against use";
  table.columns = {"account", "share"};
  const std::string hours = reports[0]->gpus ? "GPU-hours" : "CPU-hours";
  add_columns(reports, "use", table.columns);
  add_columns(reports, hours, table.columns);
  add_columns(reports, "wait p90", table.columns);
  for (const AccountShare& share : reports[0]->accounts) {
    FigureRow row;
    row.label = share.account;
    row.values.push_back(percent_text(share.share));
    std::vector<const AccountShare*> of;
    for (const Report* r : reports) {
      const auto at = std::ranges::find(r->accounts, share.account, &AccountShare::account);
      of.push_back(at == r->accounts.end() ? nullptr : &*at);
    }
    for (const AccountShare* x : of) row.values.push_back(x ? percent_text(x->use) : "-");
    for (const AccountShare* x : of) row.values.push_back(x ? number_text(x->hours, 0) : "-");
    for (const AccountShare* x : of) row.values.push_back(x ? span_text(x->wait.p90) : "-");
    table.rows.push_back(std::move(row));
  }
  table.note = "use: part of what was used while jobs waited";
  if (reports.size() == 2) table.note += "; shares are those of A, B may have others of its own";
  return table;
}

}  // namespace muster::sim::replay
