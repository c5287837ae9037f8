#include "fields/efficiency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fields/job_values.h"
#include "fields/record_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

constexpr double kToSpare = 1.2;

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

Bytes held_memory(const JobRecord& job) { return Bytes(job.tres_allocated.mem_mb.value_or(0) << 20); }

// "1.50 GB" as seff has it: units of 1024.
std::string size_text(Bytes amount) {
  constexpr const char* kUnits[] = {"MB", "GB", "TB", "PB"};
  double size = static_cast<double>(amount.value) / (1 << 20);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return fmt::format("{:.2f} {}", size, kUnits[unit]);
}

std::string time_text(Duration d) {
  std::string out;
  put_span_full(out, std::chrono::floor<std::chrono::seconds>(d));
  return out;
}

// "--mem=3G" where whole GiB are close enough, else "--mem=700M".
std::string mem_option(Bytes amount) {
  const uint64_t mb = amount.value >> 20;
  return mb >= 10240 || mb % 1024 == 0 ? fmt::format("--mem={}G", (mb + 1023) / 1024) : fmt::format("--mem={}M", mb);
}

void put_state(const RecordView& v, std::string& out) {
  out += "State: ";
  out += record_state(v);
  if (!is_finished(v.job.state)) out += '\n';
  else if (const int signal = v.job.exit_status & 0x7f) out += fmt::format(" (signal {})\n", signal);
  else out += fmt::format(" (exit code {})\n", (v.job.exit_status >> 8) & 0xff);
}

void put_ids(const RecordView& v, std::string& out) {
  const JobRecord& j = v.job;
  out += fmt::format("Job ID: {}\n", j.key.id.value);
  if (j.array_task != kNoArrayTask) out += fmt::format("Array Job ID: {}_{}\n", j.array_job_id.value, j.array_task);
  out += fmt::format("Cluster: {}\nUser/Group: {}/{}\n", j.cluster, j.user, j.group);
  put_state(v, out);
}

void put_size(const Efficiency& e, std::string& out) {
  if (e.cpus == 1) out += "Cores: 1\n";
  else out += fmt::format("Nodes: {}\nCores per node: {}\n", e.nodes, e.cpus / std::max(1u, e.nodes));
}

void put_memory(const Efficiency& e, std::string& out) {
  out += fmt::format("Memory Utilized: {}{}\n", size_text(e.mem_used), e.mem_estimated ? " (estimated maximum)" : "");
  if (!e.mem_held) {
    out += "Memory Efficiency: no memory limit was set\n";
    return;
  }
  const Bytes each(e.mem_held.value / std::max(1u, e.nodes));
  out += fmt::format("Memory Efficiency: {:.2f}% of {} ({}/node)\n", e.mem_percent(), size_text(e.mem_held), size_text(each));
}

void put_gpus(const Efficiency& e, std::string& out) {
  if (!e.gpus_known || !e.gpus_held) return;
  out += fmt::format("GPU Utilization: at its peak {:.2f}% of {} {}\n", e.gpu_percent(), e.gpus_held, e.gpus_held == 1 ? "GPU" : "GPUs");
  out += fmt::format("GPU Memory Utilized: {}\n", size_text(e.gpu_memory));
}

void put_advice(const Efficiency& e, std::string& out) {
  const std::string ask = next_time(e);
  if (!ask.empty()) out += "Next time, ask for " + ask + ": that is what was used, with a fifth to spare.\n";
}

}  // namespace

double Efficiency::cpu_percent() const { return percent(static_cast<double>(cpu_used.count()), static_cast<double>(cpu_held.count())); }
double Efficiency::mem_percent() const { return percent(static_cast<double>(mem_used.value), static_cast<double>(mem_held.value)); }

double Efficiency::gpu_percent() const { return gpus_held ? static_cast<double>(gpu_util) / static_cast<double>(gpus_held) : 0; }

std::optional<uint32_t> Efficiency::cpus_next_time() const {
  if (!known || cpus <= 1 || cpu_held <= Duration::zero()) return std::nullopt;
  const double busy = static_cast<double>(cpu_used.count()) / static_cast<double>(cpu_held.count()) * cpus;
  const auto enough = static_cast<uint32_t>(std::max(1.0, std::ceil(busy * kToSpare)));
  return enough < cpus ? std::optional(enough) : std::nullopt;
}

std::optional<Bytes> Efficiency::mem_next_time() const {
  if (!known || !mem_held || !mem_used) return std::nullopt;
  const double each = static_cast<double>(mem_used.value) / std::max(1u, nodes) * kToSpare;
  const Bytes enough(static_cast<uint64_t>(std::ceil(each / (1 << 20))) << 20);
  return enough.value * std::max(1u, nodes) < mem_held.value ? std::optional(enough) : std::nullopt;
}

Efficiency efficiency_of(const RecordView& view) {
  Efficiency out;
  out.nodes = std::max(1u, view.job.nodes);
  out.cpus = record_cpus(view);
  const CpuTimes used = record_cpu_times(view);
  out.cpu_used = used.user + used.system;
  out.cpu_held = record_elapsed(view) * out.cpus;
  out.mem_held = held_memory(view.job);
  for (const GresAmount& g : view.job.tres_allocated.gres)
    if (g.name == "gpu" && g.type.empty()) out.gpus_held = g.count;
  for (const StepRecord& s : view.steps) {
    if (!s.usage) continue;
    out.known = true;
    out.gpus_known |= s.usage->gpu_util.parts > 0;
    if (s.usage->gpu_util.parts) out.gpu_util = std::max(out.gpu_util, s.usage->gpu_util.total);
    if (s.usage->gpu_memory.parts) out.gpu_memory = std::max(out.gpu_memory, s.usage->gpu_memory.total);
    if (s.usage->rss.total <= out.mem_used) continue;
    out.mem_used = s.usage->rss.total;
    out.mem_estimated = s.usage->tasks > 1;
  }
  return out;
}

std::string next_time(const Efficiency& efficiency) {
  std::string ask;
  if (auto cpus = efficiency.cpus_next_time()) ask = fmt::format("{} {} in all", *cpus, *cpus == 1 ? "CPU" : "CPUs");
  if (auto mem = efficiency.mem_next_time()) ask += (ask.empty() ? "" : " and ") + mem_option(*mem);
  return ask;
}

std::string efficiency_report(const RecordView& view) {
  std::string out;
  put_ids(view, out);
  if (view.job.started == kTimeUnset) {
    out += fmt::format("Efficiency not available for jobs in the {} state.\n", job_state_name(view.job.state));
    return out;
  }
  const Efficiency efficiency = efficiency_of(view);
  put_size(efficiency, out);
  if (!efficiency.known && view.job.over()) {
    if (view.job.first_submitted == kTimeUnset)
      out += "Nothing was gathered of this job: JobAcctGatherType was not set, or its steps never ran.\n";
    else
      out += fmt::format("Nothing was gathered of this part of the job, which had given up nodes; \"seff {}\" shows each part.\n",
                         sluid_text(view.job.original_sluid()));
    return out;
  }
  out += fmt::format("CPU Utilized: {}\nCPU Efficiency: {:.2f}% of {} core-walltime\nJob Wall-clock time: {}\n",
                     time_text(efficiency.cpu_used), efficiency.cpu_percent(), time_text(efficiency.cpu_held),
                     time_text(record_elapsed(view)));
  put_memory(efficiency, out);
  put_gpus(efficiency, out);
  if (view.job.over()) put_advice(efficiency, out);
  else out += fmt::format("WARNING: Efficiency statistics can be misleading for {} jobs.\n", job_state_name(view.job.state));
  return out;
}

}  // namespace muster::fields
