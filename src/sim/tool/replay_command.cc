// muster-sim replay: a trace through one or two configurations, each in a thread of its own; progress and what was wrong on standard error, the report
// on standard output and in files. Ctrl-C ends the replay and prints what is known so far; a second one ends the program.
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "sim/replay/accounts_file.h"
#include "sim/replay/report_text.h"
#include "sim/replay/sacct.h"
#include "sim/tool/command_line.h"
#include "sim/tool/site_files.h"

namespace muster::sim::tool {
namespace {

using namespace replay;

constexpr const char* kProgram = "muster-sim replay";

struct Arguments {
  std::string trace, config, against, accounts, html, json;
  std::vector<std::string> with;
  ReadOptions reading;
  RequestRules rules;
  Pace pace;
  double warm_up_days = 0;
  bool quiet = false, no_text = false;
};

bool read_ignored(const std::string& list, RequestRules& rules) {
  for (std::string_view word : split(list, ',')) {
    if (word == "memory") rules.ignore_memory = true;
    else if (word == "gpu-type") rules.ignore_gpu_type = true;
    else if (word == "qos") rules.ignore_qos = true;
    else if (word == "partition") rules.ignore_partition = true;
    else if (word == "time-limit") rules.ignore_limit = true;
    else if (word == "preceding") rules.follow = false;
    else return false;
  }
  return !list.empty();
}

bool read_processors(const std::string& word, Processors& into) {
  if (word == "cpus") into = Processors::kCpus;
  else if (word == "gpus") into = Processors::kGpus;
  else if (word == "nodes") into = Processors::kNodes;
  else return false;
  return true;
}

bool read_days(const std::string& text, double& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size() && into >= 0 && into <= 3650;
}

std::vector<OptionRow> rows(Arguments& arguments) {
  auto text = [](std::string& into) { return [&into](const std::string& v) { return into = v, !v.empty(); }; };
  return {
      {"--trace", "FILE",
       "the jobs: a Standard Workload Format trace, or what sacct -P --format=… printed;\n- is standard input. Which columns: "
       "docs/replay.md",
       text(arguments.trace)},
      {"--config", "DIR", "the configuration: a directory with slurm.conf and what belongs to it, or a slurm.conf", text(arguments.config)},
      {"--against", "DIR", "a second configuration, beside which the first is put", text(arguments.against)},
      {"--with", "KEY=VALUE",
       "a line of slurm.conf that the second configuration has instead of its own; may be\nrepeated. Without --against it is the first one "
       "with these lines",
       [&](const std::string& v) {
         return arguments.with.push_back(v), v.find('=') != v.npos && v.find('=') > 0 && v.find('\n') == v.npos;
       }},
      {"--accounts", "FILE",
       "accounts, users, shares, QOS and limits as sacctmgr dump writes them. Otherwise the file\n`accounts` in the directory of the "
       "configuration; without it all have one share",
       text(arguments.accounts)},
      {"--processors", "WHAT", "what an SWF trace counts: cpus, gpus or nodes (default cpus)",
       [&](const std::string& v) { return read_processors(v, arguments.reading.processors); }},
      {"--partition", "FROM=TO", "jobs of this partition of the trace go to that one of slurm.conf; may be repeated",
       [&](const std::string& v) {
         const size_t eq = v.find('=');
         if (eq == v.npos || eq == 0 || eq + 1 == v.size()) return false;
         arguments.rules.partitions[v.substr(0, eq)] = v.substr(eq + 1);
         return true;
       }},
      {"--ignore", "LIST", "what of the trace does not count: memory, gpu-type, qos, partition, time-limit, preceding",
       [&](const std::string& v) { return read_ignored(v, arguments.rules); }},
      {"--warm-up", "DAYS", "jobs submitted in the first days run, but are not counted in waits and use (default 0)",
       [&](const std::string& v) { return read_days(v, arguments.warm_up_days); }},
      {"--full-every", "SECONDS",
       "let so long go by between passes that fill gaps and tell expected starts. Makes a\nreplay with a long queue faster and waits less "
       "exact (default: none goes by)",
       [&](const std::string& v) {
         auto n = parse_number<uint32_t>(v, 1, 86400);
         if (n) arguments.pace.full_every = seconds(*n);
         return n.has_value();
       }},
      {"--html", "FILE", "write the report with plots, as one file that needs nothing else", text(arguments.html)},
      {"--json", "FILE", "write all figures as JSON; - is standard output, in place of the text", text(arguments.json)},
      {"--quiet", "", "no progress and no speed on standard error", [&](const std::string&) { return arguments.quiet = true; }},
  };
}

CommandLine command_line(Arguments& a) {
  CommandLine c;
  c.usage = "usage: muster-sim replay --trace FILE --config DIR [--against DIR | --with KEY=VALUE] [options]";
  c.purpose = "Sends the jobs of a trace through the scheduler of slurmctld, with the nodes of slurm.conf, at as many times\n"
              "the speed of real time as the machine can, and reports waits, use, fairness, preemptions and kept promises.\n"
              "With a second configuration both run at once and stand side by side. Nothing of a real cluster is touched.\n";
  c.rows = rows(a);
  c.after = "\nExit status: 0; 2 for wrong use, a trace or a configuration that cannot be read; 1 when a report could not be\n"
            "written; 130 when it was stopped with Ctrl-C, after the report of what is known so far.\n";
  return c;
}

// One replay, and how far it is.
struct Job {
  std::string letter;
  SiteFiles site;
  std::optional<Report> report;
  std::mutex mutex;
  Standing standing;  // guarded
  std::atomic<bool> done{false};
  double seconds = 0;
};

double monotonic() {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

void run(Job& job, const Trace& trace, const Arguments& a, const std::atomic<bool>& stop) {
  const double began = monotonic();
  auto driver = std::make_unique<Driver>(trace, job.site.settings, job.site.accounts, a.rules, a.pace, bucket_of(trace));
  const Drive drive = driver->run([&](const Standing& s) {
    std::lock_guard lock(job.mutex);
    job.standing = s;
    return !stop;
  });
  job.report = make_report(job.site.name, trace, *driver, drive, {static_cast<int64_t>(a.warm_up_days * 86400)});
  job.seconds = monotonic() - began;
  job.done = true;
}

void tell_progress(std::vector<std::unique_ptr<Job>>& jobs) {
  std::string text = "\r";
  for (auto& job : jobs) {
    std::lock_guard lock(job->mutex);
    const Standing& s = job->standing;
    text += job->letter + " " + number_text(100 * s.part, 0) + " %, " + count_text(s.submitted) + " of " + count_text(s.jobs) +
            " submitted, " + count_text(s.running) + " run, " + count_text(s.waiting) + " wait   ";
  }
  std::fprintf(stderr, "%s\033[K", text.c_str());
}

// Runs them, each in its thread, while this thread waits for Ctrl-C. Returns whether it was pressed.
bool run_all(std::vector<std::unique_ptr<Job>>& jobs, const Trace& trace, const Arguments& arguments) {
  sigset_t keys;
  sigemptyset(&keys);
  sigaddset(&keys, SIGINT);
  sigaddset(&keys, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &keys, nullptr);  // the threads inherit that
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (auto& job : jobs) threads.emplace_back([&, j = job.get()] { run(*j, trace, arguments, stop); });
  const bool shown = !arguments.quiet && ::isatty(STDERR_FILENO);
  auto all_done = [&] { return std::ranges::all_of(jobs, [](const auto& j) { return j->done.load(); }); };
  for (int looks = 0; !all_done(); ++looks) {
    const timespec patience{0, 50'000'000};
    if (::sigtimedwait(&keys, nullptr, &patience) > 0) {
      if (stop) ::_exit(kInterrupted);
      stop = true;
      std::fprintf(stderr, "%smuster-sim: stopping; once more ends at once\n", shown ? "\r\033[K" : "");
    }
    if (shown && looks % 10 == 0) tell_progress(jobs);
  }
  for (std::thread& t : threads) t.join();
  if (shown) std::fprintf(stderr, "\r\033[K");
  ::pthread_sigmask(SIG_UNBLOCK, &keys, nullptr);
  return stop;
}

// The days in which jobs were submitted count; the tail, in which a few long jobs run, goes by at once.
void tell_speed(const Job& job, const Trace& trace) {
  const Report& r = *job.report;
  const double days = std::min(r.simulated_seconds, static_cast<double>(trace.last_submit() - trace.first_submit())) / 86400;
  std::fprintf(stderr, "%s: %s days in %s s, %s times as fast as real time; %s events, %s quick and %s full passes\n", job.letter.c_str(),
               number_text(days, 1).c_str(), number_text(job.seconds, 1).c_str(),
               number_text(days * 86400 / std::max(job.seconds, 1e-3), 0).c_str(), count_text(r.drive.events).c_str(),
               count_text(r.drive.quick_passes).c_str(), count_text(r.drive.full_passes).c_str());
}

bool write_reports(const Arguments& arguments, const Trace& trace, const std::vector<std::unique_ptr<Job>>& jobs) {
  Reports reports;
  for (const auto& job : jobs) reports.push_back(&*job->report);
  const ReportHead head{arguments.trace == "-" ? "standard input" : arguments.trace, &trace};
  std::string error;
  bool good = true;
  auto write = [&](const std::string& path, const std::string& text) {
    if (path.empty() || write_whole(path, text, error)) return;
    std::fprintf(stderr, "%s: error: %s\n", kProgram, error.c_str());
    good = false;
  };
  write(arguments.html, arguments.html.empty() ? "" : report_html(head, reports));
  write(arguments.json, arguments.json.empty() ? "" : report_json(head, reports));
  if (arguments.json != "-" && arguments.html != "-")
    write("-", report_text(head, reports));  // the last: who reads it may not read to its end
  return good;
}

std::optional<Trace> load_trace(const Arguments& arguments) {
  std::string error;
  auto text = read_whole(arguments.trace, error);
  if (!text) {
    std::fprintf(stderr, "%s: error: %s\n", kProgram, error.c_str());
    return std::nullopt;
  }
  auto trace = read_trace(*text, arguments.reading);
  if (!trace) {
    std::fprintf(stderr, "%s: error: %s: %s\n", kProgram, arguments.trace.c_str(), std::string(trace.error().message()).c_str());
    if (!trace.error().hint.empty()) std::fprintf(stderr, "  %s\n", trace.error().hint.c_str());
    return std::nullopt;
  }
  for (const std::string& line : trace_remarks(arguments.trace, *trace)) std::fprintf(stderr, "%s\n", line.c_str());
  return std::move(*trace);
}

// The replays that are asked for; empty: something is wrong, and was said.
std::vector<std::unique_ptr<Job>> make_jobs(const Arguments& arguments, const Trace& trace) {
  std::vector<std::unique_ptr<Job>> jobs;
  const bool two = !arguments.against.empty() || !arguments.with.empty();
  for (int index = 0; index < (two ? 2 : 1); ++index) {
    const std::string& config = index && !arguments.against.empty() ? arguments.against : arguments.config;
    std::string error;
    auto site = load_site(config, index ? arguments.with : std::vector<std::string>(), arguments.accounts, trace, error);
    if (!site) {
      std::fprintf(stderr, "%s: error: %s\n", kProgram, error.c_str());
      return {};
    }
    for (const std::string& line : site->remarks) std::fprintf(stderr, "%s\n", line.c_str());
    auto job = std::make_unique<Job>();
    job->letter = two ? (index ? "B" : "A") : "replay";
    job->site = std::move(*site);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace

int replay_command(int argc, char** argv) {
  Arguments arguments;
  const CommandLine line = command_line(arguments);
  if (auto status = line.read(kProgram, argc, argv)) return *status;
  for (auto [name, value] : {std::pair("--trace FILE", &arguments.trace), std::pair("--config DIR", &arguments.config)})
    if (value->empty()) return std::fprintf(stderr, "%s: error: %s is missing\n  see %s --help\n", kProgram, name, kProgram), kWrongUse;
  const auto trace = load_trace(arguments);
  if (!trace) return kWrongUse;
  auto jobs = make_jobs(arguments, *trace);
  if (jobs.empty()) return kWrongUse;
  const bool stopped = run_all(jobs, *trace, arguments);
  if (!arguments.quiet)
    for (const auto& job : jobs) tell_speed(*job, *trace);
  const bool written = write_reports(arguments, *trace, jobs);
  return !written ? 1 : stopped ? kInterrupted : 0;
}

}  // namespace muster::sim::tool
