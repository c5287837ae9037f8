// Reads the keys of the cluster as a whole.
#include <algorithm>

#include "base/port_range.h"
#include "base/text.h"
#include "config/kept_up.h"
#include "config/parameter_words.h"
#include "config/slurm_bind.h"
#include "config/slurm_build.h"
#include "model/gpu_frequency.h"

namespace muster::config {

namespace {

constexpr std::string_view kAlwaysTracked[] = {"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"};

ConfigValue* value_of(Config& config, const KeyRow* row) {
  for (ConfigValue& v : config.values)
    if (v.row == row) return &v;
  return nullptr;
}

std::string_view text_of(const Config& config, std::string_view key) {
  const ConfigValue* v = config.find_value(key);
  return v ? std::string_view(v->text) : std::string_view();
}

SourcePos pos_of(const Config& config, std::string_view key) {
  const ConfigValue* v = config.find_value(key);
  return v ? v->pos : SourcePos{};
}

void add_controller(Config& config, const KeyValue& kv, Findings& findings) {
  std::string_view text = kv.value;
  ControllerHost host;
  size_t open = text.find('(');
  host.name = trim(text.substr(0, open));
  host.address = host.name;
  if (open != std::string_view::npos) {
    if (!text.ends_with(')')) return findings.error(kv.pos, "SlurmctldHost", "must be name or name(address)");
    host.address = trim(text.substr(open + 1, text.size() - open - 2));
  }
  if (host.name.empty() || host.address.empty()) return findings.error(kv.pos, "SlurmctldHost", "must be name or name(address)");
  for (const ControllerHost& other : config.slurmctld_hosts)
    if (other.name == host.name) return findings.error(kv.pos, "SlurmctldHost", host.name + " is named twice");
  if (host.name.find(',') != std::string::npos)
    return findings.error(kv.pos, "SlurmctldHost", "names one host", "write a SlurmctldHost= line for each");
  config.slurmctld_hosts.push_back(std::move(host));
}

// Takes one pair of the file into `values`; repeatable keys are bound here because each occurrence counts.
void take(Config& config, const KeyValue& given, Findings& findings) {
  std::optional<CheckedPair> pair = check_pair(ConfFile::kSlurm, Section::kGlobal, given, findings);
  if (!pair) return;
  const KeyRow* row = pair->row;
  const KeyValue& kv = pair->kv;
  ConfigValue* value = value_of(config, row);
  if (row->repeatable) {
    if (std::string_view(row->name) == "SlurmctldHost") add_controller(config, kv, findings);
    value->text = value->given ? value->text + "," + kv.value : kv.value;
  } else {
    if (value->given && kv.op == Assign::kSet)
      findings.notice(kv.pos, row->name, "is given again; this value replaces the one at " + value->pos.text());
    value->text = apply_assign(value->given ? std::string_view(value->text) : std::string_view(), kv);
  }
  value->given = true;
  value->pos = kv.pos;
}

// Older spellings: "affinity" for task/affinity, and the MpiDefault of releases that knew one kind of MPI.
void take_older_spellings(Config& c, Findings& f) {
  for (std::string& plugin : c.task_plugins) {
    if (plugin.find('/') != std::string::npos) continue;
    f.notice(pos_of(c, "TaskPlugin"), "TaskPlugin", plugin + " is read as task/" + plugin, "write task/" + plugin);
    plugin.insert(0, "task/");
  }
  if (iequals(c.mpi_default, "openmpi")) {
    f.notice(pos_of(c, "MpiDefault"), "MpiDefault", "openmpi belongs to older releases; none is taken",
             "write MpiDefault=pmix, or leave it out");
    c.mpi_default.clear();
  }
}

void fill_defaults(Config& config) {
  for (const KeyRow* row : rows_of(ConfFile::kSlurm, Section::kGlobal)) {
    ConfigValue v;
    v.row = row;
    if (row->default_text) v.text = row->default_text;
    config.values.push_back(std::move(v));
  }
}

// A program given without a leading slash is in the directory of slurm.conf.
void make_absolute(const Config& config, std::string& path) {
  if (path.empty() || path.front() == '/' || path.front() == '%' || config.directory.empty()) return;
  path.insert(0, config.directory + "/");
}

void drop_none(std::string& type) {
  if (type.ends_with("/none")) type.clear();
}

// The ports of "ports=12000-12999" in MpiParams; unset where there are none.
PortRange mpi_ports_of(const OptionList& params) {
  const auto range = parse_port_range(params.get("ports").value_or(""));
  return range ? PortRange{range->first, range->second} : PortRange{};
}

// The lists whose entries are read one by one: what makes no sense is left out, and told.
void bind_counted_lists(Config& config, Findings& findings) {
  std::vector<std::string> left_out;
  auto tell = [&](const char* key, const char* example) {
    for (const std::string& what : left_out)
      findings.odd(pos_of(config, key), key, what, "it is left out", std::string("for example ") + example);
    left_out.clear();
  };
  config.licenses = parse_license_counts(text_of(config, "Licenses"), left_out);
  tell("Licenses", "Licenses=matlab:4,ansys");
  config.priority_weight_tres = parse_tres_priorities(text_of(config, "PriorityWeightTRES"), left_out);
  tell("PriorityWeightTRES", "PriorityWeightTRES=CPU=1000,GRES/gpu=3000");
  const auto intervals = SampleIntervals::parse(config.job_acct_gather_frequency);
  if (intervals) config.sample_intervals = *intervals;
  else left_out.push_back(config.job_acct_gather_frequency);
  tell("JobAcctGatherFrequency", "JobAcctGatherFrequency=task=30,energy=0");
}

void bind_special(Config& c) {
  c.gpu_freq_def = std::string(text_of(c, "GpuFreqDef"));
  c.priority_usage_reset_period = parse_usage_reset_period(text_of(c, "PriorityUsageResetPeriod")).value_or(UsageResetPeriod::kNone);
  c.mpi_ports = mpi_ports_of(c.mpi_params);
  c.select_flags = parse_select_flags(text_of(c, "SelectTypeParameters"));
  c.preempt_modes = parse_preempt_modes(text_of(c, "PreemptMode"));
  c.enforce = parse_enforce(text_of(c, "AccountingStorageEnforce"));
  std::string_view limits = text_of(c, "EnforcePartLimits");
  c.enforce_part_limits = iequals(limits, "NO")    ? EnforcePartitionLimits::kNo
                          : iequals(limits, "ANY") ? EnforcePartitionLimits::kAny
                                                   : EnforcePartitionLimits::kAll;
  c.x11_home_xauthority = iequals(text_of(c, "X11Parameters"), "home_xauthority");
  if (std::optional<int64_t> s = parse_integer(text_of(c, "PrologEpilogTimeout")); s && *s >= 0 && *s < 65534) {
    if (!c.prolog_timeout) c.prolog_timeout = seconds(*s);
    if (!c.epilog_timeout) c.epilog_timeout = seconds(*s);
  }
  if (c.slurmd_timeout && c.slurmd_timeout->count() == 0) c.slurmd_timeout.reset();
  if (!c.is_given("UnkillableStepTimeout")) c.unkillable_step_timeout = std::max<Duration>(seconds(60), 5 * c.message_timeout);
  drop_none(c.accounting_storage_type);
  drop_none(c.job_acct_gather_type);
  drop_none(c.preempt_type);
  if (c.topology_plugin == "topology/default" || c.topology_plugin == "topology/none") c.topology_plugin = "topology/flat";
  std::erase(c.private_data, "none");
  std::erase(c.task_plugins, "task/none");
  std::erase(c.job_submit_plugins, "none");
  std::erase(c.cli_filter_plugins, "none");
  if (c.mpi_default == "none") c.mpi_default.clear();
}

void bind_files(Config& c) {
  for (std::string* p : {&c.task_prolog, &c.task_epilog, &c.health_check_program, &c.plug_stack_config, &c.srun_prolog, &c.srun_epilog})
    make_absolute(c, *p);
  for (std::vector<std::string>* list : {&c.prolog, &c.epilog, &c.prolog_slurmctld, &c.epilog_slurmctld})
    for (std::string& p : *list) make_absolute(c, p);
  if (c.plug_stack_config.empty()) c.plug_stack_config = c.directory + "/plugstack.conf";
  c.cluster_name = to_lower(c.cluster_name);
}

// The eight resources that are always accounted come first; gres/gpu brings its memory and utilisation along.
void complete_tres(Config& c) {
  std::vector<std::string> all(std::begin(kAlwaysTracked), std::end(kAlwaysTracked));
  auto add = [&](std::string_view name) {
    if (std::none_of(all.begin(), all.end(), [&](const std::string& have) { return iequals(have, name); })) all.emplace_back(name);
  };
  for (const std::string& name : c.accounting_storage_tres) {
    add(iequals(name, "memory") ? "mem" : std::string_view(name));
    if (iequals(name, "gres/gpu")) {
      add("gres/gpumem");
      add("gres/gpuutil");
    }
  }
  c.accounting_storage_tres = std::move(all);
  value_of(c, find_row(ConfFile::kSlurm, Section::kGlobal, "AccountingStorageTRES"))->text = join(c.accounting_storage_tres, ",");
}

// Tells which words of AccountingStorageEnforce have no effect yet.
void tell_not_enforced(const Config& c, Findings& f) {
  if (c.enforce.wckeys)
    f.notice(pos_of(c, "AccountingStorageEnforce"), "AccountingStorageEnforce",
             "wckeys is accepted without effect, this is not there yet: wckeys");
  const bool asks = c.enforce.associations || c.enforce.limits || c.enforce.qos;
  if (asks && c.accounting_storage_type != "accounting_storage/slurmdbd")
    f.notice(pos_of(c, "AccountingStorageEnforce"), "AccountingStorageEnforce",
             "has no effect without AccountingStorageType=accounting_storage/slurmdbd: nobody keeps accounts");
}

// Tells which words of PriorityFlags have no effect yet.
void tell_priority_flags(const Config& c, Findings& f) {
  for (const std::string& flag : c.priority_flags)
    for (const char* without_effect : {"INCR_ONLY"})
      if (iequals(flag, without_effect))
        f.notice(pos_of(c, "PriorityFlags"), "PriorityFlags",
                 std::string(without_effect) + " is accepted without effect, this is not there yet: priorities that are remembered");
}

void check_together(Config& c, Findings& f) {
  for (const ParameterKey& k : parameter_keys()) check_words(k.key, k.words, c.*k.given, pos_of(c, k.key), f);
  if (c.cluster_name.empty())
    f.error({std::make_shared<const std::string>(c.path), 0, 0}, "ClusterName", "is not set", "every cluster needs a name");
  if (c.cluster_name.size() > 40) f.error(pos_of(c, "ClusterName"), "ClusterName", "must have at most 40 characters");
  if (c.slurmctld_hosts.empty())
    f.error({std::make_shared<const std::string>(c.path), 0, 0}, "SlurmctldHost", "is not set",
            "write SlurmctldHost=<name of the controller>");
  if (auto kept = parse_kept_up(c.suspend_exc_nodes); !kept)
    f.notice(pos_of(c, "SuspendExcNodes"), "SuspendExcNodes", std::string(kept.error().message()) + "; no node is kept up",
             "write nid[10-20]:4");
  if (c.first_job_id > c.max_job_id) f.error(pos_of(c, "FirstJobId"), "FirstJobId", "must not exceed MaxJobId");
  if (c.is_given("DefMemPerCPU") + c.is_given("DefMemPerGPU") + c.is_given("DefMemPerNode") > 1 &&
      c.def_mem_per_cpu_mb.has_value() + c.def_mem_per_gpu_mb.has_value() + c.def_mem_per_node_mb.has_value() > 1)
    f.notice(pos_of(c, "DefMemPerCPU"), "DefMemPerCPU", "DefMemPerCPU, DefMemPerGPU and DefMemPerNode exclude each other",
             "a job that asks for GPUs gets DefMemPerGPU, else DefMemPerCPU counts before DefMemPerNode");
  if (c.max_mem_per_cpu_mb && c.max_mem_per_node_mb)
    f.notice(pos_of(c, "MaxMemPerCPU"), "MaxMemPerCPU", "MaxMemPerCPU and MaxMemPerNode are both set; both hold");
  if (c.is_given("PropagateResourceLimits") && c.is_given("PropagateResourceLimitsExcept"))
    f.odd(pos_of(c, "PropagateResourceLimits"), "PropagateResourceLimits", "cannot be combined with PropagateResourceLimitsExcept",
          "PropagateResourceLimitsExcept counts");
  auto prolog_flag = [&](std::string_view name) {
    return std::ranges::any_of(c.prolog_flags, [&](const std::string& f) { return iequals(f, name); });
  };
  for (auto [flag, missing] : {std::pair("Contain", "a container for processes that Slurm did not start"),
                               std::pair("RunInJob", "prologs inside the job"), std::pair("X11", "forwarding of X11")})
    if (prolog_flag(flag))
      f.notice(pos_of(c, "PrologFlags"), "PrologFlags", std::string(flag) + " works as Alloc alone, this is not there yet: " + missing);
  for (std::string_view name : {"Contain", "X11"})
    if (prolog_flag("NoHold") && prolog_flag(name))
      f.error(pos_of(c, "PrologFlags"), "PrologFlags", "NoHold cannot be combined with " + std::string(name));
  if (prolog_flag("Serial") && prolog_flag("RunInJob"))
    f.error(pos_of(c, "PrologFlags"), "PrologFlags", "Serial cannot be combined with RunInJob");
  bool preempts = !c.preempt_type.empty();
  if (preempts && c.preempt_modes.how == PreemptModes::How::kOff)
    f.error(pos_of(c, "PreemptType"), "PreemptType", c.preempt_type + " needs a PreemptMode other than OFF",
            "for example PreemptMode=REQUEUE");
  if (c.preempt_modes.how == PreemptModes::How::kSuspend && !c.preempt_modes.gang)
    f.error(pos_of(c, "PreemptMode"), "PreemptMode", "SUSPEND needs GANG", "write PreemptMode=SUSPEND,GANG");
  if (c.priority_decay_half_life.count() == 0 && c.priority_type == "priority/multifactor" &&
      c.priority_usage_reset_period == UsageResetPeriod::kNone)
    f.error(pos_of(c, "PriorityDecayHalfLife"), "PriorityDecayHalfLife", "0 needs a PriorityUsageResetPeriod other than NONE");
  if (!c.gpu_freq_def.empty())
    if (const auto& wish = c.gpu_freq_def.parsed(); !wish)
      f.odd(pos_of(c, "GpuFreqDef"), "GpuFreqDef", wish.error().hint, "it is left out", "for example GpuFreqDef=medium,memory=high"),
          c.gpu_freq_def.clear();
  if (c.mpi_params.has("ports") && c.mpi_ports.first == 0)
    f.odd(pos_of(c, "MpiParams"), "MpiParams", "ports= must be a range of ports, the lower one first", "--resv-ports is refused",
          "for example MpiParams=ports=12000-12999");
  std::vector<std::string> left_out;
  c.mcs = parse_mcs(text_of(c, "MCSPlugin"), text_of(c, "MCSParameters"), left_out);
  for (const std::string& word : left_out) f.odd(pos_of(c, "MCSParameters"), "MCSParameters", word, "it is left out", kMcsWords);
  for (const char* what : {"events", "usage"})
    if (std::ranges::find(c.private_data, what) != c.private_data.end())
      f.notice(pos_of(c, "PrivateData"), "PrivateData",
               std::string(what) + " is accepted without effect: there is nothing of that kind to hide yet");
  const PortRange& ports = c.slurmctld_port;
  if (ports.first == 0) f.error(pos_of(c, "SlurmctldPort"), "SlurmctldPort", "must be a port from 1 to 65535");
}

}  // namespace

void build_globals(const std::vector<const Line*>& lines, Config& config, Findings& findings) {
  fill_defaults(config);
  const std::vector<OlderController> older = controllers_of_older_keys(lines);
  for (const OlderController& o : older) {
    findings.notice(o.host.pos, o.key, "belongs to older releases; read as SlurmctldHost=" + o.host.value,
                    "write SlurmctldHost=" + o.host.value);
    take(config, o.host, findings);
  }
  for (const Line* line : lines)
    for (const KeyValue& kv : line->values)
      if (older.empty() || !is_older_controller_key(kv.key)) take(config, kv, findings);
  for (const Binding& b : bindings()) {
    const KeyRow* row = find_row(ConfFile::kSlurm, Section::kGlobal, b.key);
    const ConfigValue* value = value_of(config, row);
    if (row->repeatable) {
      for (const Line* line : lines)
        for (const KeyValue& kv : line->values)
          if (iequals(kv.key, row->name)) assign(config, *row, b.member, kv.value);
    } else {
      assign(config, *row, b.member, value->text);
    }
  }
  bind_special(config);
  bind_counted_lists(config, findings);
  take_older_spellings(config, findings);
  bind_files(config);
  complete_tres(config);
  check_together(config, findings);
  tell_priority_flags(config, findings);
  tell_not_enforced(config, findings);
}

}  // namespace muster::config
