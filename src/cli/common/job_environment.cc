#include "cli/common/job_environment.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "fields/job_values.h"
#include "options/values.h"

namespace muster::cli {
namespace {

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

bool always_exported(std::string_view variable) {
  return variable.starts_with("SLURM_") || variable.starts_with("SPANK_") || variable.starts_with("_SLURM_SPANK_");
}

std::string octal(uint32_t mask) {
  std::string out = "0000";
  for (int i = 3; i > 0; --i, mask >>= 3) out[static_cast<size_t>(i)] = static_cast<char>('0' + (mask & 7));
  return out;
}

// The GPUs of --gres in the form typed: "gres/gpu:a100:4,gres/gpu:h100:2" → "a100:4,h100:2". --gres=gpu:a100:4 sets no SLURM_GPUS_PER_NODE.
std::string gpu_part(std::string_view tres) {
  std::string out;
  for (std::string_view part : split(tres, ',')) {
    if (!part.starts_with("gres/gpu:")) continue;
    out += (out.empty() ? "" : ",") + std::string(part.substr(9));
  }
  return out;
}

void add_number(VariableList& out, std::string_view name, uint64_t value) {
  if (value) out.set(name, std::to_string(value));
}
void add_text(VariableList& out, std::string_view name, std::string_view value) {
  if (!value.empty()) out.set(name, value);
}

void add_counts(const AskedRequest& request, VariableList& out) {
  if (request.num_tasks) {
    out.set("SLURM_NTASKS", std::to_string(request.num_tasks));
    out.set("SLURM_NPROCS", std::to_string(request.num_tasks));
  }
  add_number(out, "SLURM_CPUS_PER_TASK", request.cpus_per_task);
  add_number(out, "SLURM_NTASKS_PER_NODE", request.ntasks_per_node);
  add_number(out, "SLURM_NTASKS_PER_SOCKET", request.ntasks_per_socket);
  add_number(out, "SLURM_NTASKS_PER_CORE", request.ntasks_per_core);
  add_number(out, "SLURM_NTASKS_PER_GPU", request.ntasks_per_gpu);
  add_number(out, "SLURM_NTASKS_PER_TRES", request.ntasks_per_gpu);
  add_number(out, "SLURM_THREADS_PER_CORE", request.threads_per_core);
  add_number(out, "SLURM_CPUS_PER_GPU", request.cpus_per_gpu);
  if (request.mem_per_node_mb) out.set("SLURM_MEM_PER_NODE", std::to_string(*request.mem_per_node_mb));
  if (request.mem_per_cpu_mb) out.set("SLURM_MEM_PER_CPU", std::to_string(*request.mem_per_cpu_mb));
  if (request.mem_per_gpu_mb) out.set("SLURM_MEM_PER_GPU", std::to_string(*request.mem_per_gpu_mb));
}

// --tres-per-task as typed, with what --cpus-per-task and --gpus-per-task add to it.
std::string tres_per_task(const JobOptions& options) {
  const auto typed = parse_tres_per_task(options.tres_per_task);
  if (options.tres_per_task.empty() || !typed) return fields::tres_per_task_text(options.request);
  const bool other_cpus = typed->cpus && typed->cpus != options.request.cpus_per_task;
  const bool other_gpus = typed->gpus && !options.gpus_per_task.empty();
  if (other_cpus || other_gpus) return fields::tres_per_task_text(options.request);  // those options win over it
  AskedRequest more;
  if (!typed->cpus) more.cpus_per_task = options.request.cpus_per_task;
  if (!options.gpus_per_task.empty())
    if (auto gpus = gpus_to_tres(options.gpus_per_task)) more.tres_per_task = *gpus;
  const std::string beyond = fields::tres_per_task_text(more);
  return beyond.empty() ? options.tres_per_task : beyond + "," + options.tres_per_task;
}

// Sets variables for the parts of "verbose,map_mem:0,1": PREFIX, PREFIX_VERBOSE, _TYPE, _LIST and, for memory, _PREFER.
void add_binding(std::string_view prefix, std::string_view text, bool memory, VariableList& out) {
  if (text.empty()) return;
  std::string name(prefix), verbose = "quiet", type, list, prefer;
  std::string_view rest = text;
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(','));
    size_t colon = word.find(':');
    if (word == "verbose" || word == "v") verbose = "verbose";
    else if (word == "quiet" || word == "q") verbose = "quiet";
    else if (memory && (word == "prefer" || word == "p")) prefer = "prefer";
    else if (colon != word.npos) {
      type = std::string(word.substr(0, colon + 1));
      list = std::string(rest.substr(colon + 1));
      break;
    } else if (word != "sort" && word != "nosort") {
      type = std::string(word);
    }
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  out.set(name, text);
  out.set(name + "_VERBOSE", verbose);
  out.set(name + "_TYPE", type);
  out.set(name + "_LIST", list);
  if (memory) out.set(name + "_PREFER", prefer);
}

void add_gpus(const JobOptions& o, VariableList& out) {
  add_text(out, "SLURM_GPUS", o.gpus);
  add_text(out, "SLURM_GPUS_PER_NODE", o.gpus_per_node.empty() ? gpu_part(o.gres) : o.gpus_per_node);
  add_text(out, "SLURM_GPUS_PER_SOCKET", o.gpus_per_socket);
  add_text(out, "SLURM_GPUS_PER_TASK", o.gpus_per_task);
  add_text(out, "SLURM_GPU_BIND", o.gpu_bind);
  add_text(out, "SLURM_GPU_FREQ", o.gpu_freq);
  add_text(out, "SLURM_TRES_PER_TASK", tres_per_task(o));
}

void add_behaviour(const JobOptions& options, VariableList& out) {
  const AskedRequest& request = options.request;
  if (!request.distribution.empty()) {
    const std::string& text = request.distribution.text();
    if (request.distribution->plane) {
      out.set("SLURM_DISTRIBUTION", "plane");
      out.set("SLURM_DIST_PLANESIZE", std::to_string(request.distribution->plane));
    } else {  // * is the default, which is block
      out.set("SLURM_DISTRIBUTION", text.starts_with('*') ? "block" + text.substr(1) : text);
    }
  }
  add_binding(options.command == Command::kSbatch ? "SBATCH_MEM_BIND" : "SLURM_MEM_BIND", request.mem_bind.text(), true, out);
  if (options.command == Command::kSrun) add_binding("SLURM_CPU_BIND", request.cpu_bind.text(), false, out);
  add_text(out, "SLURM_HINT", request.hint.text());
  add_text(out, "SLURM_NETWORK", request.network.text());
  if (request.resv_ports_set && options.command != Command::kSrun)
    out.set("SLURM_RESV_PORTS", request.resv_ports ? std::to_string(request.resv_ports) : std::string());
  add_text(out, "SLURM_PROFILE", request.profile.text());
  add_text(out, "SLURM_ACCTG_FREQ", request.acctg_freq.text());
  add_text(out, "SLURM_CPU_FREQ_REQ", request.cpu_freq.text());
  add_text(out, "SLURM_JOB_DEPENDENCY", request.dependency);
  add_text(out, "SLURM_CONTAINER", request.container);
  add_text(out, "SLURM_CONTAINER_ID", request.container_id);
  if (request.segment) out.set("SLURM_JOB_SEGMENT_SIZE", std::to_string(request.segment));
  if (request.overcommit) out.set("SLURM_OVERCOMMIT", "1");
  if (request.oom_kill_step_set) out.set("SLURM_OOMKILLSTEP", request.oom_kill_step ? "1" : "0");
  if (request.open_mode != OpenMode::kDefault) out.set("SLURM_OPEN_MODE", request.open_mode == OpenMode::kAppend ? "a" : "t");
}

}  // namespace

size_t VariableList::find(std::string_view name) const {
  for (size_t i = 0; i < list_.size(); ++i)
    if (list_[i].size() > name.size() && list_[i][name.size()] == '=' && list_[i].starts_with(name)) return i;
  return list_.size();
}

void VariableList::set(std::string_view name, std::string_view value) {
  std::string text = std::string(name) + "=" + std::string(value);
  size_t at = find(name);
  if (at == list_.size()) list_.push_back(std::move(text));
  else list_[at] = std::move(text);
}

void VariableList::set_default(std::string_view name, std::string_view value) {
  if (!has(name)) set(name, value);
}

std::string VariableList::blob() const {
  size_t size = 0;
  for (const std::string& v : list_) size += v.size() + 1;
  std::string out;
  out.reserve(size);
  for (const std::string& v : list_) out.append(v).push_back('\0');
  return out;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** v = environ; v && *v; ++v) out.emplace_back(*v);
  return out;
}

std::vector<std::string> exported(const JobOptions& options, std::span<const std::string> all) {
  EnvExport kind = options.request.env_export;
  if (kind == EnvExport::kAll) return {all.begin(), all.end()};
  std::vector<std::string> out;
  for (const std::string& v : all)
    if (always_exported(v) || (kind == EnvExport::kList && options.export_all)) out.push_back(v);
  if (kind != EnvExport::kList) return out;
  VariableList list(std::move(out));
  for (const std::string& wanted : options.export_list) {
    size_t equals = wanted.find('=');
    if (equals != std::string::npos) {
      // With ALL, the user's own value of the variable wins.
      std::string_view name = name_of(wanted);
      if (options.export_all) list.set_default(name, std::string_view(wanted).substr(equals + 1));
      else list.set(name, std::string_view(wanted).substr(equals + 1));
      continue;
    }
    for (const std::string& v : all)
      if (name_of(v) == wanted) list.set(wanted, std::string_view(v).substr(wanted.size() + 1));
  }
  return list.list();
}

std::vector<std::string> parse_environment_file(std::string_view text) {
  char separator = text.find('\0') != std::string_view::npos ? '\0' : '\n';
  std::vector<std::string> out;
  for (std::string_view entry : split(text, separator))
    if (entry.find('=') != std::string_view::npos && !entry.starts_with('=')) out.emplace_back(entry);
  return out;
}

void add_option_variables(const JobOptions& o, VariableList& out) {
  add_counts(o.request, out);
  add_gpus(o, out);
  add_behaviour(o, out);
  if (!o.export_given) return;
  switch (o.request.env_export) {
    case EnvExport::kAll: out.set("SLURM_EXPORT_ENV", "ALL"); break;
    case EnvExport::kNone: out.set("SLURM_EXPORT_ENV", "NONE"); break;
    case EnvExport::kNil: out.set("SLURM_EXPORT_ENV", "NIL"); break;
    case EnvExport::kList: out.set("SLURM_EXPORT_ENV", (o.export_all ? "ALL," : "") + join(o.export_list, ",")); break;
  }
}

void add_submit_variables(const JobOptions& o, const ClientConf& conf, std::string_view here, int nice, VariableList& out) {
  out.set("SLURM_SUBMIT_DIR", here);
  out.set("SLURM_SUBMIT_HOST", short_hostname());
  out.set("SLURM_JOB_NAME", o.request.name);
  if (!conf.cluster_name.empty()) out.set("SLURM_CLUSTER_NAME", conf.cluster_name);
  out.set("SLURM_PRIO_PROCESS", std::to_string(nice));
  out.set("SLURM_UMASK", octal(o.request.umask));
}

}  // namespace muster::cli
