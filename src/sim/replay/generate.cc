#include "sim/replay/generate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "sim/replay/figures.h"
#include "sim/replay/sacct.h"

namespace muster::sim::replay {
namespace {

constexpr int64_t kBegin = 1'767'571'200;  // 2026-01-05, a Monday
constexpr uint64_t kMostJobs = 5'000'000;
constexpr double kDay = 86400;

double unit(Random& r) { return (static_cast<double>(r.next() >> 11) + 0.5) * 0x1p-53; }  // within (0, 1)

double normal(Random& r) { return std::sqrt(-2 * std::log(unit(r))) * std::cos(2 * 3.14159265358979323846 * unit(r)); }

double below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }  // of a normal distribution

// Where a function that grows reaches a value.
template <class F>
double solve(double low, double high, double value, F f) {
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (f(middle) < value ? low : high) = middle;
  }
  return (low + high) / 2;
}

// Sizes 1, 2, 4 … with their parts of the jobs.
struct Sizes {
  std::vector<uint32_t> gpus;
  std::vector<double> parts;
  double mean = 0;
};

Sizes sizes_of(const Profile& profile, uint32_t most) {
  Sizes sizes;
  for (uint32_t n = 1; n <= most && n <= profile.most_gpus; n *= 2) sizes.gpus.push_back(n);
  sizes.parts.assign(sizes.gpus.size(), 0);
  auto fill = [&](double power) {  // half have one GPU; a higher power makes the others larger
    double sum = 0, mean = 0;
    for (size_t i = 1; i < sizes.gpus.size(); ++i) sum += std::pow(sizes.gpus[i], power);
    sizes.parts[0] = sizes.gpus.size() == 1 ? 1 : 0.5;
    for (size_t i = 1; i < sizes.gpus.size(); ++i) sizes.parts[i] = 0.5 * std::pow(sizes.gpus[i], power) / sum;
    for (size_t i = 0; i < sizes.gpus.size(); ++i) mean += sizes.parts[i] * sizes.gpus[i];
    return mean;
  };
  sizes.mean = fill(solve(-8, 3, profile.mean_gpus, fill));
  return sizes;
}

// A log-normal distribution of run times, cut at the longest: its mean by the width.
double mean_of(double median, double width, double longest) {
  const double z = std::log(longest / median) / width;
  return median * std::exp(width * width / 2) * below(z - width) + longest * (1 - below(z));
}

// Jobs of one size that ended alike: their part of all jobs, and how much longer they run than the rest.
struct Kind {
  double part = 0, factor = 1;
  uint32_t gpus = 1;
};

// run time = lognormal(median, width) · gpus^growth · factor of the end, cut at the longest
struct Model {
  Sizes sizes;
  double median = 1, width = 1, growth = 0;
  double completed = 1, cancelled = 1, failed = 1;  // factors: of the GPU time as against the number of jobs
};

std::vector<Kind> kinds_of(const Profile& p, const Model& m) {
  std::vector<Kind> out;
  const double all = p.completed + p.cancelled + p.failed;
  for (size_t i = 0; i < m.sizes.gpus.size(); ++i)
    for (auto [part, factor] : {std::pair(p.completed, m.completed), std::pair(p.cancelled, m.cancelled), std::pair(p.failed, m.failed)})
      out.push_back({m.sizes.parts[i] * part / all, std::pow(m.sizes.gpus[i], m.growth) * factor, m.sizes.gpus[i]});
  return out;
}

double part_below(const std::vector<Kind>& kinds, double median, double width, double run) {
  double sum = 0;
  for (const Kind& k : kinds) sum += k.part * below(std::log(run / (median * k.factor)) / width);
  return sum;
}

// The parameter with which half of the jobs are shorter than the median run. The larger it is, the fewer are.
double median_parameter(const std::vector<Kind>& kinds, double width, double median_run) {
  return std::exp(-solve(-20, 20, 0.5, [&](double x) { return part_below(kinds, std::exp(-x), width, median_run); }));
}

double mean_run(const std::vector<Kind>& kinds, double median, double width, double longest) {
  double sum = 0;
  for (const Kind& k : kinds) sum += k.part * mean_of(median * k.factor, width, longest);
  return sum;
}

Model model_of(const Profile& profile, uint32_t most_gpus) {
  Model model;
  model.sizes = sizes_of(profile, most_gpus);
  const double time = profile.completed_time + profile.cancelled_time + profile.failed_time,
               all = profile.completed + profile.cancelled + profile.failed;
  model.completed = profile.completed_time / time / (profile.completed / all);
  model.cancelled = profile.cancelled_time / time / (profile.cancelled / all);
  model.failed = profile.failed_time / time / (profile.failed / all);
  // How much more GPU time jobs have than if size and run time were independent.
  const double factor = profile.gpu_seconds_a_job() / (profile.mean_run * profile.mean_gpus);
  auto moment = [&](double power) {
    double sum = 0;
    for (size_t i = 0; i < model.sizes.gpus.size(); ++i) sum += model.sizes.parts[i] * std::pow(model.sizes.gpus[i], power);
    return sum;
  };
  model.growth = solve(0, 2, factor, [&](double g) { return moment(1 + g) / (moment(1) * moment(g)); });
  const std::vector<Kind> kinds = kinds_of(profile, model);
  model.width = solve(0.05, 6, profile.mean_run,
                      [&](double w) { return mean_run(kinds, median_parameter(kinds, w, profile.median_run), w, profile.longest_run); });
  model.median = median_parameter(kinds, model.width, profile.median_run);
  return model;
}

struct Draw {
  int64_t submit = 0;
  uint32_t gpus = 1, user = 0;
  double run = 1;
  double failure = 1e300;  // when one of its nodes would fail
  const char* state = "COMPLETED";
  double asked = 1;  // what the user thinks it runs, or would have run
  double ran() const { return std::min(run, failure); }
  bool high = false;
};

double weight_of_hour(int64_t hour) {
  constexpr std::array<double, 24> kDayShape = {0.55, 0.45, 0.38, 0.32, 0.28, 0.25, 0.28, 0.38, 0.60, 0.95, 1.40, 1.55,
                                                1.25, 1.30, 1.60, 1.70, 1.70, 1.60, 1.30, 1.15, 1.20, 1.15, 1.00, 0.75};
  const int64_t day = hour / 24 % 7;  // from Monday
  return kDayShape[static_cast<size_t>(hour % 24)] * (day >= 5 ? 0.55 : 1);
}

class Maker {
 public:
  Maker(const GenerateOptions& o, uint32_t most_gpus) : o_(o), random_(o.seed), model_(model_of(*o.profile, most_gpus)) {
    const auto hours = static_cast<int64_t>(std::ceil(o.months * 30 * 24));
    for (int64_t h = 0; h < hours; ++h) hours_.push_back((hours_.empty() ? 0 : hours_.back()) + weight_of_hour(h));
    for (uint32_t u = 0; u < o.users; ++u) users_.push_back((users_.empty() ? 0 : users_.back()) + 1.0 / (u + 1));
    for (double part : model_.sizes.parts) sizes_.push_back((sizes_.empty() ? 0 : sizes_.back()) + part);
  }

  // As many jobs as come to so many GPU-seconds, at most `count`.
  std::vector<Draw> jobs(uint64_t count, double gpu_seconds) {
    std::vector<Draw> out;
    double made = 0;
    while (out.size() < count && made < gpu_seconds) {
      Draw d;
      d.submit = moment();
      d.user = pick(users_);
      d.gpus = model_.sizes.gpus[pick(sizes_)];
      const uint64_t series = random_.chance(0.125) ? random_.uniform(2, 30) : 1;
      for (uint64_t i = 0; i < series && out.size() < count && made < gpu_seconds; ++i) {
        draw(d);
        made += d.gpus * d.ran();
        out.push_back(d);
        d.submit += static_cast<int64_t>(random_.uniform(5, 120));
      }
    }
    std::ranges::stable_sort(out, {}, &Draw::submit);
    return out;
  }
  Random& random() { return random_; }

 private:
  uint32_t pick(const std::vector<double>& sums) {
    const auto at = std::ranges::upper_bound(sums, unit(random_) * sums.back());
    return static_cast<uint32_t>(std::min<size_t>(static_cast<size_t>(at - sums.begin()), sums.size() - 1));
  }
  int64_t moment() { return kBegin + int64_t{3600} * pick(hours_) + static_cast<int64_t>(random_.uniform(0, 3599)); }

  void draw(Draw& job) {
    const Profile& profile = *o_.profile;
    const double drawn = model_.median * std::exp(model_.width * normal(random_)) * std::pow(job.gpus, model_.growth);
    const double x = unit(random_);
    double factor = model_.completed;
    job.state = "COMPLETED";
    if (x < profile.cancelled) job.state = "CANCELLED", factor = model_.cancelled;
    else if (x < profile.cancelled + profile.failed) job.state = "FAILED", factor = model_.failed;
    job.run = std::clamp(drawn * factor, 1.0, profile.longest_run);
    job.asked = job.run * (factor == model_.completed ? 1 : 1 + 3 * unit(random_));
    const double nodes = std::ceil(static_cast<double>(job.gpus) / o_.gpus_per_node);
    job.failure = -std::log(unit(random_)) / (kFailuresPerNodeDay * nodes) * kDay;
    job.high = random_.chance(0.05);
  }

  const GenerateOptions& o_;
  Random random_;
  Model model_;
  std::vector<double> hours_, users_, sizes_;  // sums of weights
};

uint32_t limit_of(double asked, Random& r) {
  const double wanted = asked * (1 + 4 * unit(r)) / 3600;
  for (uint32_t hours : {1u, 2u, 4u, 8u, 12u, 24u, 48u, 96u, 168u, 336u, 720u})
    if (wanted <= hours) return hours * 60;
  return 1440 * 60;
}

std::string user_name(uint32_t user) { return "user" + std::to_string(user + 1); }
std::string account_name(uint32_t account) { return "team" + std::to_string(account + 1); }

std::string trace_text(const GenerateOptions& options, std::vector<Draw>& jobs, Random& rng) {
  std::string out = "JobIDRaw|User|Account|Partition|QOS|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|ExitCode|ReqTRES\n";
  uint64_t number = 0;
  for (Draw& draw : jobs) {
    const uint32_t nodes = std::max(1u, draw.gpus / options.gpus_per_node);
    const uint64_t cpus = uint64_t{options.cpus_per_node} * draw.gpus / options.gpus_per_node,
                   mem = options.mem_per_node_mb * draw.gpus / options.gpus_per_node;
    if (draw.failure < draw.run) draw.state = "NODE_FAIL";
    auto run = static_cast<int64_t>(std::llround(std::max(1.0, draw.ran())));
    uint32_t limit = limit_of(draw.asked, rng);
    if (rng.chance(0.01) && run > 7200 && draw.state == std::string_view("COMPLETED")) {
      limit = static_cast<uint32_t>(run / 120);
      run = int64_t{limit} * 60;
      draw.state = "TIMEOUT";
    }
    run = std::min<int64_t>(run, int64_t{limit} * 60);
    draw.run = static_cast<double>(run);
    const std::string submit = print_moment(draw.submit);
    out += std::to_string(++number) + "|" + user_name(draw.user) + "|" + account_name(draw.user % options.accounts) + "|gpu|" +
           (draw.high ? "high" : "normal") + "|" + submit + "|" + submit + "|" + print_moment(draw.submit + run) + "|" +
           std::to_string(run) + "|" + std::to_string(limit) + "|" + draw.state + "|" + (draw.state[0] == 'F' ? "1:0" : "0:0") +
           "|cpu=" + std::to_string(std::max<uint64_t>(cpus, 1)) + ",mem=" + std::to_string(mem) + "M,node=" + std::to_string(nodes) +
           ",gres/gpu=" + std::to_string(draw.gpus) + "\n";
  }
  return out;
}

std::string node_names(const GenerateOptions& o) {
  std::string last = std::to_string(o.nodes);
  return "g[" + std::string(last.size() - 1, '0') + "1-" + last + "]";
}

std::string slurm_conf(const GenerateOptions& options) {
  const uint32_t sockets = options.cpus_per_node % 2 ? 1 : 2;
  return "# Made by muster-sim generate: a cluster for the trace beside it.\n"
         "ClusterName=generated\nSlurmctldHost=ctl\nGresTypes=gpu\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\n"
         "SchedulerType=sched/backfill\nMaxJobCount=1000000\nMinJobAge=300\n"
         "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations,limits,qos\nAccountingStorageTRES=gres/"
         "gpu\n"
         "PriorityType=priority/multifactor\nPriorityDecayHalfLife=7-0\nPriorityMaxAge=7-0\n"
         "PriorityWeightAge=1000\nPriorityWeightFairshare=10000\nPriorityWeightQOS=2000\n"
         "NodeName=" +
         node_names(options) + " Sockets=" + std::to_string(sockets) +
         " CoresPerSocket=" + std::to_string(options.cpus_per_node / sockets) +
         " ThreadsPerCore=1 RealMemory=" + std::to_string(options.mem_per_node_mb) + " Gres=gpu:" + std::to_string(options.gpus_per_node) +
         "\nPartitionName=gpu Nodes=ALL Default=YES MaxTime=UNLIMITED DefaultTime=60\n";
}

std::string accounts_text(const GenerateOptions& options) {
  constexpr uint32_t kShares[] = {4, 3, 2, 2, 1, 1, 1, 1};
  std::string out = "# Made by muster-sim generate, in the format of sacctmgr dump.\nQOS - 'normal':Priority=0\nQOS - 'high':Priority=100\n"
                    "Cluster - 'generated':QOS=normal,high\nParent - 'root'\n";
  for (uint32_t a = 0; a < options.accounts; ++a)
    out += "Account - '" + account_name(a) + "':Fairshare=" + std::to_string(kShares[a % std::size(kShares)]) + "\n";
  for (uint32_t a = 0; a < options.accounts; ++a) {
    if (a >= options.users) break;
    out += "Parent - '" + account_name(a) + "'\n";
    for (uint32_t u = a; u < options.users; u += options.accounts)
      out += "User - '" + user_name(u) + "':DefaultAccount='" + account_name(a) + "'\n";
  }
  return out;
}

double gpu_seconds(const std::vector<Draw>& jobs) {
  return std::accumulate(jobs.begin(), jobs.end(), 0.0, [](double sum, const Draw& d) { return sum + d.gpus * d.ran(); });
}

}  // namespace

ModelFigures model_figures(const Profile& p, uint32_t most_gpus) {
  const Model m = model_of(p, most_gpus);
  const std::vector<Kind> kinds = kinds_of(p, m);
  ModelFigures out;
  out.mean_gpus = m.sizes.mean;
  out.mean_run = mean_run(kinds, m.median, m.width, p.longest_run);
  out.median_run = std::exp(solve(-20, 20, 0.5, [&](double x) { return part_below(kinds, m.median, m.width, std::exp(x)); }));
  for (const Kind& k : kinds) out.gpu_seconds += k.part * k.gpus * mean_of(m.median * k.factor, m.width, p.longest_run);
  return out;
}

Result<Generated> generate(const GenerateOptions& options) {
  const uint32_t all_gpus = options.nodes * options.gpus_per_node;
  const double capacity = all_gpus * options.months * 30 * kDay;
  const double wanted = options.load * capacity;
  Maker maker(options, std::max(1u, all_gpus / 2));
  // A few very long jobs decide how much it is in all, so the number of jobs that make the load is not known before.
  const double expected = wanted / options.profile->gpu_seconds_a_job();
  if (!options.jobs && expected > static_cast<double>(kMostJobs) / 2)
    return fail(Errc::kInvalidReq,
                "that makes about " + count_text(static_cast<uint64_t>(std::min(expected, 1e18))) + " jobs, which are too many",
                "fewer nodes or months, a smaller --load, or --jobs");
  std::vector<Draw> jobs = options.jobs ? maker.jobs(options.jobs, 1e300) : maker.jobs(kMostJobs, wanted);
  Generated out;
  if (options.jobs) {  // nodes fail as often as ever, however long jobs run
    const double longest = options.profile->longest_run;
    out.stretch = solve(1e-3, 1e3, wanted, [&](double stretch) {
      return std::accumulate(jobs.begin(), jobs.end(), 0.0, [&](double sum, const Draw& d) {
        return sum + d.gpus * std::min({d.run * stretch, longest, d.failure});
      });
    });
    for (Draw& d : jobs) d.run = std::min(d.run * out.stretch, longest), d.asked *= out.stretch;
  }
  out.trace = trace_text(options, jobs, maker.random());
  out.slurm_conf = slurm_conf(options);
  out.gres_conf = "NodeName=" + node_names(options) + " Name=gpu File=/dev/nvidia" +
                  (options.gpus_per_node > 1 ? "[0-" + std::to_string(options.gpus_per_node - 1) + "]" : "0") + "\n";
  out.accounts = accounts_text(options);
  out.jobs = jobs.size();
  out.gpu_hours = gpu_seconds(jobs) / 3600;
  out.load = gpu_seconds(jobs) / capacity;
  std::vector<double> runs;
  double gpus = 0;
  for (const Draw& d : jobs) {
    runs.push_back(d.run);
    gpus += d.gpus;
  }
  const Quantiles q = quantiles(runs);
  out.mean_run = q.mean;
  out.median_run = q.median;
  out.mean_gpus = gpus / static_cast<double>(jobs.size());
  return out;
}

}  // namespace muster::sim::replay
