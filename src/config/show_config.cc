#include "config/show_config.h"

#include <algorithm>

#include "base/text.h"
#include "config/runtime.h"
#include "config/step_profiles.h"

namespace muster::config {

namespace {

constexpr size_t kKeyWidth = 23;

std::string span_text(std::string_view text) {
  std::optional<int64_t> s = parse_span_seconds(text);
  if (!s) return std::string(text);
  return *s < 0 ? "UNLIMITED" : format_span_full(seconds(*s));
}

std::string with_unit(const KeyRow& row, std::string_view text, const char* unit) {
  std::optional<int64_t> v = parse_integer(text);
  if (!v) return std::string(text);
  if (*v < 0) return row.type == KeyType::kMinutes ? "UNLIMITED" : "INFINITE";
  return std::to_string(*v) + " " + unit;
}

// Prints flag words in the order and spelling of the table.
std::string flag_words(const KeyRow& row, std::string_view text) {
  std::string out;
  std::vector<std::string_view> given = split(text, ',');
  for (std::string_view choice : choice_list(row)) {
    bool has = std::any_of(given.begin(), given.end(), [&](std::string_view g) { return iequals(trim(g), choice); });
    if (has) out += (out.empty() ? "" : ",") + std::string(choice);
  }
  return out;
}

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

std::string memory_text(std::string_view text) {
  Result<uint64_t> mb = parse_mem_mb(text);
  if (!mb || *mb == 0) return "UNLIMITED";
  return std::to_string(*mb);
}

// The units of keys whose type does not tell the unit.
const char* unit_of(std::string_view key) {
  if (key == "SuspendRate" || key == "ResumeRate") return "nodes/min";
  if (key == "VSizeFactor") return "percent";
  return nullptr;
}

class Printer {
 public:
  Printer(const LoadedConfig& loaded, const ShowFacts& facts) : l_(loaded), c_(loaded.config), f_(facts) {}
  std::string print();

 private:
  void line(std::string_view key, std::string_view value) { out_ += config_line(key, value); }
  void facts_before(std::string_view key);
  bool special(const ConfigValue& value);
  bool memory(std::string_view key);
  void controllers();
  void job_defaults();
  void cgroup();
  void mpi();
  void acct_gather();

  const LoadedConfig& l_;
  const Config& c_;
  const ShowFacts& f_;
  std::string out_;
};

// Prints the controller's facts that stand before `key` in alphabetical order.
void Printer::facts_before(std::string_view key) {
  if (key == "BurstBufferType") line("BOOT_TIME", format_time(f_.boot));
  if (key == "HealthCheckInterval") line("HASH_VAL", f_.hash_matches ? "Match" : "Different Ours!=Slurmctld");
  if (key == "JobFileAppend") job_defaults();
  if (key == "NamespaceType") {
    line("MULTIPLE_SLURMD", f_.multiple_slurmd ? "Yes" : "No");
    line("NEXT_JOB_ID", std::to_string(f_.next_job_id));
  }
  if (key == "SrunEpilog") {
    line("SLURM_CONF", c_.path);
    line("SLURM_VERSION", f_.version);
  }
}

void Printer::job_defaults() {
  std::string text;
  if (c_.def_cpu_per_gpu) text = "DefCpuPerGPU=" + std::to_string(*c_.def_cpu_per_gpu);
  if (c_.def_mem_per_gpu_mb) text += (text.empty() ? "" : ",") + ("DefMemPerGPU=" + std::to_string(*c_.def_mem_per_gpu_mb));
  line("JobDefaults", text.empty() ? "(null)" : text);
}

// Prints the per-CPU and per-node keys that are set; where neither is, the per-node key says UNLIMITED.
bool Printer::memory(std::string_view key) {
  bool def = key.starts_with("DefMemPer");
  if (key == "DefMemPerGPU" || key == "DefCpuPerGPU") return true;  // in JobDefaults
  const auto& cpu = def ? c_.def_mem_per_cpu_mb : c_.max_mem_per_cpu_mb;
  const auto& node = def ? c_.def_mem_per_node_mb : c_.max_mem_per_node_mb;
  bool per_cpu = key.ends_with("CPU");
  if (per_cpu && cpu) line(key, std::to_string(*cpu));
  if (!per_cpu && (node || !cpu)) line(key, node ? std::to_string(*node) : "UNLIMITED");
  return true;
}

void Printer::controllers() {
  for (size_t i = 0; i < c_.slurmctld_hosts.size(); ++i) {
    const ControllerHost& h = c_.slurmctld_hosts[i];
    line("SlurmctldHost[" + std::to_string(i) + "]", h.name == h.address ? h.name : h.name + "(" + h.address + ")");
  }
}

// Prints the keys that do not print as their type does; true when the line is done.
bool Printer::special(const ConfigValue& value) {
  std::string_view key = value.row->name;
  if (value.row->secret) return true;
  if (key.starts_with("DefMemPer") || key.starts_with("MaxMemPer") || key == "DefCpuPerGPU") return memory(key);
  if (key == "SlurmctldHost") return controllers(), true;
  if (key == "SlurmUser") return line(key, c_.slurm_user + "(" + std::to_string(f_.slurm_user_uid) + ")"), true;
  if (key == "SlurmdUser") return line(key, c_.slurmd_user + "(" + std::to_string(f_.slurmd_user_uid) + ")"), true;
  if (key == "ClusterName") return line(key, c_.cluster_name), true;
  if (key == "MaxNodeCount") return line(key, std::to_string(most_nodes(c_))), true;
  if (key == "SrunPortRange")
    return line(key, std::to_string(c_.srun_port_range.first) + "-" + std::to_string(c_.srun_port_range.last)), true;
  if (key == "UnkillableStepTimeout") return line(key, std::to_string(to_seconds(c_.unkillable_step_timeout)) + " sec"), true;
  if (key == "PrologEpilogTimeout" && !value.given) return line(key, "65534"), true;
  if (key == "PropagateResourceLimits" && value.text.empty() && c_.propagate_limits_except.empty()) return line(key, "ALL"), true;
  if (key == "SelectTypeParameters") return line(key, upper(flag_words(*value.row, value.text))), true;
  if (key == "UsePAM") return line("UsePam", shown_value(value)), true;
  bool multifactor = c_.priority_type == "priority/multifactor";
  bool only_then = key.starts_with("PriorityWeight") || key == "PriorityFlags" || key == "PriorityMaxAge" || key == "PriorityFavorSmall" ||
                   key == "PriorityUsageResetPeriod" || key == "PriorityDecayHalfLife" || key == "PriorityCalcPeriod" ||
                   key == "FairShareDampeningFactor";
  if (only_then && !multifactor) return true;
  if (key == "PriorityCalcPeriod") return line(key, format_span_full(c_.priority_calc_period)), true;
  if (key == "PriorityWeightFairshare") return line("PriorityWeightFairShare", shown_value(value)), true;
  return false;
}

void Printer::cgroup() {
  out_ += "\nCgroup Support Configuration:\n";
  std::vector<const ConfigValue*> sorted;
  for (const ConfigValue& v : l_.cgroup.raw.values) sorted.push_back(&v);
  std::sort(sorted.begin(), sorted.end(),
            [](const ConfigValue* a, const ConfigValue* b) { return std::string_view(a->row->name) < b->row->name; });
  for (const ConfigValue* v : sorted) line(v->row->name, shown_value(*v));
}

void Printer::mpi() {
  out_ += "\nMPI Plugins Configuration:\n";
  for (const ConfigValue& v : l_.mpi.values) line(v.row->name, shown_value(v));
}

void Printer::acct_gather() {
  if (!step_profiles(l_).on()) return;
  out_ += "\nAccount Gather Configuration:\n";
  for (const char* key : {"ProfileHDF5Default", "ProfileHDF5Dir"})
    if (const ConfigValue* v = l_.acct_gather.find(key)) line(key, shown_value(*v));
}

std::string Printer::print() {
  out_.reserve(16384);
  out_ = "Configuration data as of " + format_time(f_.now) + "\n";
  for (const ConfigValue& v : c_.values) {
    facts_before(v.row->name);
    if (!special(v)) line(v.row->name, shown_value(v));
  }
  acct_gather();
  cgroup();
  mpi();
  if (!f_.controllers.empty()) out_ += "\n";
  for (size_t i = 0; i < f_.controllers.size(); ++i) {
    std::string role = i == 0 ? "primary" : f_.controllers.size() == 2 ? "backup" : "backup" + std::to_string(i);
    out_ += "Slurmctld(" + role + ") at " + f_.controllers[i].host + " is " + (f_.controllers[i].up ? "UP" : "DOWN") + "\n";
  }
  return out_;
}

}  // namespace

std::string show_config(const LoadedConfig& loaded, const ShowFacts& facts) { return Printer(loaded, facts).print(); }

std::string config_line(std::string_view key, std::string_view value) {
  std::string out(key);
  if (out.size() < kKeyWidth) out.append(kKeyWidth - out.size(), ' ');
  out += " = ";
  out += value;
  out += '\n';
  return out;
}

std::string shown_value(const ConfigValue& value) {
  const KeyRow& row = *value.row;
  std::string_view text = value.text;
  if (text.empty()) return "(null)";
  if (const char* unit = unit_of(row.name)) return with_unit(row, text, unit);
  switch (row.type) {
    case KeyType::kSeconds:
      // Slurm has always printed these two without a unit.
      if (std::string_view(row.name) == "EioTimeout" || std::string_view(row.name) == "PrologEpilogTimeout") return std::string(text);
      return with_unit(row, text, "sec");
    case KeyType::kMinutes: return with_unit(row, text, "min");
    case KeyType::kMicroseconds: return with_unit(row, text, "usec");
    case KeyType::kMilliseconds: return with_unit(row, text, "ms");
    case KeyType::kTimeSpan: return span_text(text);
    case KeyType::kBool: {
      bool yes = parse_yes_no(text).value_or(false);
      if (row.file == ConfFile::kSlurm || row.file == ConfFile::kSlurmdbd) return yes ? "Yes" : "No";
      return yes ? "yes" : "no";
    }
    case KeyType::kMemMb: return row.file == ConfFile::kCgroup ? memory_text(text) + " MB" : memory_text(text);
    case KeyType::kPercent: {
      std::string number(text.ends_with('%') ? text.substr(0, text.size() - 1) : text);
      return number + (number.find('.') == std::string::npos ? ".0%" : "%");
    }
    case KeyType::kFlags: return flag_words(row, text);
    case KeyType::kDebugLevel: return std::string(debug_level_name(parse_debug_level(text).value_or(3)));
    case KeyType::kEnum:
      for (std::string_view c : choice_list(row))
        if (iequals(c, text)) return std::string(c);
      return std::string(text);
    default: return std::string(text);
  }
}

}  // namespace muster::config
