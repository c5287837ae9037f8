#include "sim/replay/profiles.h"

#include <cstdio>

#include "base/text.h"
#include "sim/replay/figures.h"

namespace muster::sim::replay {
namespace {

constexpr Profile kProfiles[] = {
    {"philly", "Microsoft Philly, ATC '19", 112956, 18006.055, 874, 4240676, 1.928, 1, 128, 0.604, 0.090, 0.305, 2210176414.0, 2025326056.0,
     2659215061.0},
    {"helios", "SenseTime Helios, SC '21", 1580464, 6651.681, 206, 4320009, 3.716, 1, 2048, 0.624, 0.221, 0.155, 39994296320.0,
     30715109125.0, 7288334702.0},
    {"seren", "Shanghai AI Laboratory, Seren, NSDI '24", 663813, 1414.335, 122, 1209604, 5.68, 1, 1024, 0.497, 0.075, 0.429, 4560592618.0,
     14274584510.0, 2675447459.0},
    {"kalos", "Shanghai AI Laboratory, Kalos, NSDI '24", 19907, 1259.689, 124, 625740, 26.77, 1, 1024, 0.541, 0.062, 0.397, 1667685146.0,
     3239202064.0, 426292851.0},
};

constexpr const char* kPublished[] = {
    "mean, median and longest run time of GPU jobs; mean, median and largest number of GPUs",
    "parts of the jobs that completed, were cancelled and failed, and the GPU time of each: from these also how much longer large jobs run",
    "node failures: 6.50 in a thousand node-days (Meta RSC-1, HPCA '25); a job of n nodes ends by one at that rate, times n",
};

constexpr const char* kAssumptions[] = {
    "run times are log-normal for each size and end, cut at the longest; the two parameters give the published mean and median of all",
    "numbers of GPUs are 1, 2, 4, 8 …; half of the jobs have 1 (the median), the others fall off as a power that gives the published mean",
    "a job of more GPUs runs longer by a power of their number, which gives the published GPU time of all jobs",
    "no job is larger than half of the cluster; where that cuts the published sizes, the mean is as near as it can be",
    "jobs are submitted by the hour of the day (least at 5, most from 10 to 18) and the day of the week (Saturday and Sunday 55 % of a "
    "weekday)",
    "one submission in eight is a series of 2 to 30 jobs of the same size, a minute or so apart",
    "users are as active as 1/rank; each is in one account; accounts have shares of 4, 3, 2, 2, 1, 1, 1, 1 …",
    "time limits are the next of 1, 2, 4, 8, 12, 24, 48, 96, 168 … hours above 1 to 5 times the run time; cancelled and failed jobs ask as "
    "if they had "
    "run on; 1 % of the jobs ask for less than they need and end in a timeout",
    "a job has as large a part of its node's CPUs and memory as of its GPUs; 5 % of the jobs have the QOS `high`",
    "jobs without GPUs, jobs cancelled while they wait, and arrays are not made",
};

}  // namespace

std::span<const Profile> profiles() { return kProfiles; }

const Profile* profile_named(std::string_view name) {
  for (const Profile& p : kProfiles)
    if (iequals(p.name, name)) return &p;
  return nullptr;
}

std::string figures_text() {
  std::string out = "Published figures (data/cluster_summary.csv of github.com/InternLM/AcmeTrace, with the NSDI '24 paper\n"
                    "\"Characterization of Large Language Model Development in the Datacenter\"):\n\n"
                    "  profile  GPU jobs   run time: mean  median   longest    GPUs: mean  median   most   completed  cancelled   failed   "
                    "GPU time a job\n";
  for (const Profile& p : kProfiles) {
    char line[256];
    std::snprintf(line, sizeof line, "  %-8s %9s   %14s %7s %9s    %10.2f %7.0f %6.0f   %9s  %9s  %7s   %14s\n", p.name,
                  count_text(p.gpu_jobs).c_str(), span_text(p.mean_run).c_str(), span_text(p.median_run).c_str(),
                  span_text(p.longest_run).c_str(), p.mean_gpus, p.median_gpus, p.most_gpus, percent_text(p.completed).c_str(),
                  percent_text(p.cancelled).c_str(), percent_text(p.failed).c_str(), span_text(p.gpu_seconds_a_job()).c_str());
    out += line;
  }
  out += "\n";
  for (const Profile& p : kProfiles) out += std::string("  ") + p.name + ": " + p.source + "\n";
  out += "\nTaken from what is published:\n";
  for (const char* text : kPublished) out += std::string("  - ") + text + "\n";
  out += "\nAssumed (not in these publications, or not read there by us):\n";
  for (const char* text : kAssumptions) out += std::string("  - ") + text + "\n";
  return out;
}

}  // namespace muster::sim::replay
