// Report: what a replay came to, in figures; report_text.h, report_json.h and report_html.h print it. Pure.
//
//   wait               from the moment a job could start (its submission, its begin time, or the end of what it depended on) to its first start
//   bounded slowdown   (end - that moment) / run time of its last run, at least 1, where a run counts as at least 10 seconds (Feitelson)
//   size               GPUs of the job; of a cluster without GPUs CPUs
//   promise            the expected start that a full pass gives a job that waits
//
// Quantiles are those of the jobs in question themselves (nearest rank): the p90 is the smallest wait that 90 % of the jobs do not exceed.
// Cost: O(n log n) for n jobs.
#pragma once

#include <string>
#include <vector>

#include "sim/replay/driver.h"

namespace muster::sim::replay {

struct Quantiles {
  uint64_t count = 0;
  double mean = 0, median = 0, p90 = 0, p99 = 0, most = 0;
};
Quantiles quantiles(std::vector<double>& values);  // sorts them

struct Group {  // of jobs
  std::string name;
  Quantiles wait, slowdown;             // seconds; ratio
  double gpu_hours = 0, cpu_hours = 0;  // of their last runs
};
struct Grouping {
  std::string by;  // "size", "account", "partition", "QOS"
  std::vector<Group> groups;
  uint64_t left_out = 0;  // groups that are too many to be told
};

struct AccountShare {
  std::string account;
  // Parts of 1, among the accounts that used something. `use`: of what was used while jobs waited, since when nobody waits all get what they ask for.
  double share = 0, use = 0;
  double hours = 0;  // GPU-hours, of a cluster without GPUs CPU-hours, in all
  Quantiles wait;
};

struct PromiseReport {
  uint64_t promised = 0;                   // jobs that waited, got an expected start and started
  uint64_t early = 0, kept = 0, late = 0;  // started more than a minute before, within a minute of, after the first promise
  uint64_t moved_later = 0, moves = 0;     // jobs of which a promise was put off; how often that was
  Quantiles lateness, put_off;             // seconds after the first promise, of the late; seconds in all, of those put off
  std::vector<double> errors;              // start - first promise, sorted
};

struct Counts {
  uint64_t read = 0, submitted = 0, refused = 0, started = 0, ended = 0, cancelled_waiting = 0, still_waiting = 0, still_running = 0;
  uint64_t completed = 0, failed = 0, cancelled = 0, timed_out = 0, other_end = 0;
};

struct Report {
  std::string name;  // of the configuration
  Counts counts;
  std::vector<std::pair<std::string, uint64_t>> refusals;  // why, how many jobs
  std::vector<std::pair<std::string, uint64_t>> waiting;   // reasons of those that still wait, how many jobs
  std::vector<std::string> notes;
  Capacity capacity;
  bool gpus = false;  // sizes are told in GPUs
  // The part of the trace that is counted: what was submitted from `from` to `to`, in the trace's time.
  int64_t from = 0, to = 0;
  Quantiles wait, slowdown, trace_wait;  // trace_wait: what the trace says of the same jobs; count 0: nothing
  std::vector<double> waits;             // sorted
  std::vector<Grouping> groupings;
  // Parts of the capacity in use on average from `from` to `to`; and the use of GPUs (CPUs) while more was asked for than was there.
  double cpu_use = 0, gpu_use = 0, node_use = 0, use_while_waiting = 0, mean_waiting = 0;
  std::vector<Amounts> line;
  int64_t line_begin = 0, line_width = 0;  // seconds
  std::vector<AccountShare> accounts;      // by use
  double fairness = 0;                     // Jain's index of use/share: 1 is perfect, 1/n is all for one
  Preempted preempted;
  uint64_t preempted_jobs = 0;
  PromiseReport promises;
  Drive drive;
  double simulated_seconds = 0;
  uint64_t hash = 0;
};

struct Window {
  int64_t warm_up = 0;  // seconds after the first submission that are not counted
};

Report make_report(std::string name, const Trace& trace, const Driver& driver, const Drive& drive, const Window& window);

// How wide the spans of the lines over time are: at most 240 of them over the trace, of whole minutes.
Duration bucket_of(const Trace& trace);

}  // namespace muster::sim::replay
