// Published figures of GPU clusters, from which the generator makes months of work. Each profile is one row of `data/cluster_summary.csv` in the
// repository of the Acme traces (github.com/InternLM/AcmeTrace), which its authors computed from the public traces themselves and published with
// "Characterization of Large Language Model Development in the Datacenter" (NSDI '24). The traces were first described in:
//
//   Philly   "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads" (USENIX ATC '19), Microsoft
//   Helios   "Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters" (SC '21), SenseTime
//   Seren, Kalos   the NSDI '24 paper, Shanghai AI Laboratory
//
// What is not in that table is an assumption of ours, and kAssumptions says each of them.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace muster::sim::replay {

struct Profile {
  const char* name;
  const char* source;
  uint64_t gpu_jobs;                                   // in the trace
  double mean_run, median_run, longest_run;            // seconds, of GPU jobs
  double mean_gpus, median_gpus, most_gpus;            // of a job
  double completed, cancelled, failed;                 // parts of the jobs
  double completed_time, cancelled_time, failed_time;  // GPU-seconds in all
  double gpu_seconds_a_job() const { return (completed_time + cancelled_time + failed_time) / static_cast<double>(gpu_jobs); }
};

std::span<const Profile> profiles();
const Profile* profile_named(std::string_view name);

// Failures of nodes: Meta's RSC-1, 6.50 in a thousand days of a node ("Revisiting Reliability in Large-Scale Machine Learning Research Clusters",
// HPCA '25; 16 thousand A100 GPUs, 8 a node).
inline constexpr double kFailuresPerNodeDay = 6.50 / 1000;

// The whole of it as text, for --figures: what is published, and what is assumed.
std::string figures_text();

}  // namespace muster::sim::replay
