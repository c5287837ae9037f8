#include "sim/replay/report.h"

#include <algorithm>
#include <cmath>

#include "acct/shares.h"
#include "base/text.h"
#include "sim/replay/accounts_file.h"

namespace muster::sim::replay {
namespace {

constexpr size_t kMostGroups = 30;
constexpr double kLeastRun = 10, kMinute = 60;

double seconds_in(Duration d) { return static_cast<double>(d.count()) / 1e6; }

// What is told of one job.
struct Told {
  uint32_t index = 0;
  double wait = 0, slowdown = -1;  // -1: it has not ended
};

std::vector<Told> told_jobs(const Trace& trace, const Collector& collector, int64_t from) {
  std::vector<Told> out;
  for (uint32_t i = 0; i < trace.jobs.size(); ++i) {
    const JobResult& r = collector.jobs()[i];
    if (trace.jobs[i].submit < from || r.starts == 0) continue;
    Told t{i, seconds_in(r.first_start - r.eligible), -1};
    if (r.end != Time{}) {
      const double run = std::max(seconds_in(r.end - r.start), kLeastRun);
      t.slowdown = std::max(1.0, seconds_in(r.end - r.eligible) / run);
    }
    out.push_back(t);
  }
  return out;
}

Group group_of(std::string name, const std::vector<const Told*>& jobs, const Collector& collector) {
  Group group;
  group.name = std::move(name);
  std::vector<double> waits, slowdowns;
  for (const Told* t : jobs) {
    const JobResult& r = collector.jobs()[t->index];
    waits.push_back(t->wait);
    if (t->slowdown >= 0) slowdowns.push_back(t->slowdown);
    if (r.end == Time{}) continue;
    group.gpu_hours += r.gpus * seconds_in(r.end - r.start) / 3600;
    group.cpu_hours += r.cpus * seconds_in(r.end - r.start) / 3600;
  }
  group.wait = quantiles(waits);
  group.slowdown = quantiles(slowdowns);
  return group;
}

// Sizes in powers of two: "0", "1", "2", "3-4", "5-8", …
std::pair<uint64_t, std::string> size_class(uint64_t n) {
  if (n <= 2) return {n, std::to_string(n)};
  uint64_t top = 4;
  while (top < n) top *= 2;
  return {top, std::to_string(top / 2 + 1) + "-" + std::to_string(top)};
}

template <class Key>
Grouping grouping(std::string by, const std::vector<Told>& jobs, const Collector& collector, bool by_count, Key key) {
  std::map<std::pair<uint64_t, std::string>, std::vector<const Told*>> sorted;
  for (const Told& t : jobs) sorted[key(t.index)].push_back(&t);
  Grouping g;
  g.by = std::move(by);
  for (const auto& [name, of] : sorted) g.groups.push_back(group_of(name.second, of, collector));
  if (by_count) std::ranges::stable_sort(g.groups, std::greater(), [](const Group& x) { return x.wait.count; });
  if (g.groups.size() > kMostGroups) {
    g.left_out = g.groups.size() - kMostGroups;
    g.groups.resize(kMostGroups);
  }
  return g;
}

void count_jobs(const Trace& trace, const Collector& collector, Counts& counts) {
  counts.read = trace.jobs.size();
  for (const JobResult& result : collector.jobs()) {
    if (!result.known) continue;
    ++counts.submitted;
    counts.refused += result.refused;
    if (result.refused) continue;
    counts.started += result.starts > 0;
    counts.still_waiting += result.state == JobState::kPending;
    counts.still_running += result.state == JobState::kRunning;
    if (result.end == Time{}) continue;
    ++counts.ended;
    if (result.starts == 0) ++counts.cancelled_waiting;
    else if (result.state == JobState::kCompleted) ++counts.completed;
    else if (result.state == JobState::kFailed) ++counts.failed;
    else if (result.state == JobState::kCancelled) ++counts.cancelled;
    else if (result.state == JobState::kTimeout) ++counts.timed_out;
    else ++counts.other_end;
  }
}

void tell_refusals(const Collector& collector, Report& report) {
  std::vector<uint64_t> counts(collector.refusals().size());
  for (const JobResult& r : collector.jobs())
    if (r.refused) ++counts[r.refusal];
  for (uint32_t i = 0; i < counts.size(); ++i)
    if (counts[i]) report.refusals.emplace_back(collector.refusals().of(i), counts[i]);
  std::ranges::stable_sort(report.refusals, std::greater(), &std::pair<std::string, uint64_t>::second);
  if (report.refusals.size() > kMostGroups) report.refusals.resize(kMostGroups);
}

void tell_waiting(const Cluster& cluster, Report& report) {
  std::map<std::string, uint64_t> reasons;
  cluster.jobs.for_each([&](uint32_t id, const Job& j) {
    if (!j.pending()) return;
    const Verdict* v = cluster.moment.verdicts.find(id);
    ++reasons[std::string(reason_name(v ? v->reason : j.reason))];
  });
  report.waiting.assign(reasons.begin(), reasons.end());
}

void tell_use(const Driver& driver, Report& report) {
  const Collector& collector = driver.collector();
  const UsageLine& line = collector.line();
  const int64_t shift = Driver::shift_of(driver.trace());
  const Time from = from_unix(report.from + shift), to = from_unix(report.to + shift);
  auto part = [](double amount, uint64_t of) { return of ? amount / static_cast<double>(of) : 0.0; };
  const Amounts mean = line.average(from, to);
  auto amount = [](const Amounts& a, Amount what) { return a[static_cast<size_t>(what)]; };
  report.cpu_use = part(amount(mean, Amount::kCpus), report.capacity.cpus);
  report.gpu_use = part(amount(mean, Amount::kGpus), report.capacity.gpus);
  report.node_use = part(amount(mean, Amount::kNodes), report.capacity.nodes);
  report.mean_waiting = amount(mean, Amount::kWaiting);
  report.line = line.averages();
  report.line_begin = unix_seconds(line.begin()) - shift;
  report.line_width = to_seconds(line.width());
  double sum = 0, spans = 0;
  for (size_t i = 0; i < report.line.size(); ++i) {
    const int64_t at = report.line_begin + static_cast<int64_t>(i) * report.line_width;
    if (at < report.from || at >= report.to || amount(report.line[i], Amount::kWaiting) < 1) continue;
    sum += report.gpus ? part(amount(report.line[i], Amount::kGpus), report.capacity.gpus)
                       : part(amount(report.line[i], Amount::kCpus), report.capacity.cpus);
    ++spans;
  }
  report.use_while_waiting = spans > 0 ? sum / spans : 0;
}

// Each account's part of all shares: of the accounts beside it at each level, times that of the account above it. Fairshare=parent has none of its own.
std::map<std::string, double> shares_by_account(const Cluster& cluster) {
  std::map<std::string, double> out;
  if (!cluster.directory) return out;
  std::map<uint32_t, uint64_t> sum;  // of the shares below an association, users and accounts
  auto shares = [](const AssociationRecord& a) {
    const uint64_t n = find_limit(a.limits, LimitKind::kShares).value_or(1);
    return n == kSharesOfParent ? 0 : n;
  };
  std::map<uint32_t, const AssociationRecord*> accounts;
  cluster.directory->associations.for_each([&](uint32_t, const AssociationRecord& a) {
    if (a.user.empty()) accounts[a.id] = &a;
  });
  for (const auto& [id, a] : accounts) sum[a->parent_id] += shares(*a);
  for (const auto& [id, a] : accounts) {
    double part = 1;
    size_t depth = 0;
    for (const AssociationRecord* up = a; up->parent_id && depth++ < 64; up = accounts.at(up->parent_id)) {
      part *= sum[up->parent_id] ? static_cast<double>(shares(*up)) / static_cast<double>(sum[up->parent_id]) : 0;
      if (!accounts.contains(up->parent_id)) break;
    }
    out[a->account] = part;
  }
  return out;
}

void tell_accounts(const Trace& trace, const Driver& driver, const std::vector<Told>& told, Report& report) {
  const Collector& collector = driver.collector();
  std::map<std::string, AccountShare> by_name;
  std::map<std::string, std::vector<double>> waits;
  auto name_of = [&](uint32_t account) { return account ? to_lower(trace.accounts.of(account)) : std::string(kNoAccount); };
  auto hours = [&](const Used& u) { return (report.gpus ? u.gpu_seconds : u.cpu_seconds) / 3600; };
  double all = 0;
  for (uint32_t i = 0; i < collector.used_by_account().size(); ++i) {
    if (hours(collector.used_by_account()[i]) <= 0) continue;
    AccountShare& a = by_name[name_of(i)];
    a.hours += hours(collector.used_by_account()[i]);
    a.use += hours(collector.used_while_waiting()[i]);
    all += hours(collector.used_while_waiting()[i]);
  }
  for (const Told& t : told) waits[name_of(trace.jobs[t.index].account)].push_back(t.wait);
  const auto shares = shares_by_account(driver.site().cluster());
  double known = 0;
  for (auto& [name, a] : by_name)
    if (auto at = shares.find(name); at != shares.end()) known += at->second;
  double sum = 0, squares = 0, n = 0;
  for (auto& [name, a] : by_name) {
    a.account = name;
    a.use = all > 0 ? a.use / all : 0;
    if (auto at = shares.find(name); at != shares.end() && known > 0) a.share = at->second / known;
    a.wait = quantiles(waits[name]);
    report.accounts.push_back(a);
    if (a.share <= 0) continue;
    sum += a.use / a.share;
    squares += a.use / a.share * (a.use / a.share);
    ++n;
  }
  report.fairness = squares > 0 ? sum * sum / (n * squares) : 0;
  std::ranges::stable_sort(report.accounts, std::greater(), &AccountShare::use);
}

void tell_promises(const Collector& collector, const std::vector<Told>& told, PromiseReport& promises) {
  std::vector<double> late, put_off;
  for (const Told& job : told) {
    const JobResult& r = collector.jobs()[job.index];
    if (r.first_promise == Time{}) continue;
    ++promises.promised;
    const double error = seconds_in(r.first_start - r.first_promise);
    promises.errors.push_back(error);
    ++(error < -kMinute ? promises.early : error > kMinute ? promises.late : promises.kept);
    if (error > kMinute) late.push_back(error);
    if (!r.delays) continue;
    ++promises.moved_later;
    promises.moves += r.delays;
    put_off.push_back(seconds_in(r.delayed));
  }
  std::ranges::sort(promises.errors);
  promises.lateness = quantiles(late);
  promises.put_off = quantiles(put_off);
}

}  // namespace

Quantiles quantiles(std::vector<double>& values) {
  Quantiles quantiles;
  quantiles.count = values.size();
  if (values.empty()) return quantiles;
  std::ranges::sort(values);
  double sum = 0;
  for (double v : values) sum += v;
  auto at = [&](double part) {
    const auto rank = static_cast<size_t>(std::ceil(part * static_cast<double>(values.size())));
    return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
  };
  quantiles.mean = sum / static_cast<double>(values.size());
  quantiles.median = at(0.5);
  quantiles.p90 = at(0.9);
  quantiles.p99 = at(0.99);
  quantiles.most = values.back();
  return quantiles;
}

Duration bucket_of(const Trace& trace) {
  const int64_t span = std::max<int64_t>(trace.last_submit() - trace.first_submit(), 3600);
  return minutes(std::max<int64_t>(1, (span / 240 + 59) / 60));
}

Report make_report(std::string name, const Trace& trace, const Driver& driver, const Drive& drive, const Window& window) {
  const Collector& collector = driver.collector();
  Report report;
  report.name = std::move(name);
  report.drive = drive;
  report.hash = collector.hash();
  report.simulated_seconds = seconds_in(drive.end - drive.begin);
  report.capacity = driver.site().capacity();
  report.gpus = report.capacity.gpus > 0;
  report.from = trace.first_submit() + std::min(window.warm_up, trace.last_submit() - trace.first_submit());
  report.to = std::max(report.from + 1, std::min(trace.last_submit(), unix_seconds(drive.end) - Driver::shift_of(trace)));
  count_jobs(trace, collector, report.counts);
  tell_refusals(collector, report);
  tell_waiting(driver.site().cluster(), report);
  for (const auto& [partition, jobs] : driver.adapted().other_partition)
    report.notes.push_back(std::to_string(jobs) + " jobs asked for the partition " + partition +
                           ", which slurm.conf does not have: they went to the default partition");
  for (const auto& [license, jobs] : driver.adapted().no_license)
    report.notes.push_back(std::to_string(jobs) + " jobs asked for the license " + license +
                           ", which slurm.conf does not have: they ran without it");
  const std::vector<Told> told = told_jobs(trace, collector, report.from);
  std::vector<double> slowdowns, before;
  for (const Told& t : told) {
    const TraceJob& j = trace.jobs[t.index];
    report.waits.push_back(t.wait);
    if (t.slowdown >= 0) slowdowns.push_back(t.slowdown);
    if (j.started()) before.push_back(static_cast<double>(std::max<int64_t>(0, j.start - j.eligible)));
  }
  report.wait = quantiles(report.waits);
  report.slowdown = quantiles(slowdowns);
  report.trace_wait = quantiles(before);
  if (report.trace_wait.most <= 0) report.trace_wait = {};
  auto size = [&](uint32_t i) { return size_class(report.gpus ? collector.jobs()[i].gpus : collector.jobs()[i].cpus); };
  auto named = [&](const Names& names, uint32_t number) {
    return std::pair(uint64_t{0}, number ? names.of(number) : std::string("(none)"));
  };
  report.groupings.push_back(grouping(report.gpus ? "GPUs" : "CPUs", told, collector, false, size));
  report.groupings.push_back(
      grouping("account", told, collector, true, [&](uint32_t i) { return named(trace.accounts, trace.jobs[i].account); }));
  report.groupings.push_back(
      grouping("partition", told, collector, true, [&](uint32_t i) { return named(trace.partitions, trace.jobs[i].partition); }));
  report.groupings.push_back(grouping("QOS", told, collector, true, [&](uint32_t i) { return named(trace.qos, trace.jobs[i].qos); }));
  tell_use(driver, report);
  tell_accounts(trace, driver, told, report);
  report.preempted = collector.preempted();
  for (const JobResult& j : collector.jobs()) report.preempted_jobs += j.preempted > 0 || j.suspended > 0;
  tell_promises(collector, told, report.promises);
  return report;
}

}  // namespace muster::sim::replay
