// Reads the keys of the cluster as a whole.
#include <algorithm>

#include "base/port_range.h"
#include "base/text.h"
#include "config/job_completion.h"
#include "config/job_namespace.h"
#include "config/kept_up.h"
#include "config/parameter_words.h"
#include "config/slurm_bind.h"
#include "config/slurm_build.h"
#include "config/use_gathering.h"
#include "model/gpu_frequency.h"

namespace muster::config {

namespace {

constexpr uint32_t kImexChannels = 2048;  // where SwitchParameters does not say

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
  if (!config.slurmctld_hosts.empty())
    findings.notice(
        kv.pos, "SlurmctldHost", host.name + " is no standby for " + config.slurmctld_hosts[0].name + ", this is not there yet",
        "when " + config.slurmctld_hosts[0].name + " is lost, start slurmctld by hand on " + host.name + ", on the same StateSaveLocation");
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

void bind_special(Config& config) {
  config.gpu_freq_def = std::string(text_of(config, "GpuFreqDef"));
  config.priority_usage_reset_period =
      parse_usage_reset_period(text_of(config, "PriorityUsageResetPeriod")).value_or(UsageResetPeriod::kNone);
  config.mpi_ports = mpi_ports_of(config.mpi_params);
  if (text_of(config, "SwitchType") == "switch/nvidia_imex") config.imex_channels = kImexChannels;
  config.select_flags = parse_select_flags(text_of(config, "SelectTypeParameters"));
  config.preempt_modes = parse_preempt_modes(text_of(config, "PreemptMode"));
  config.enforce = parse_enforce(text_of(config, "AccountingStorageEnforce"));
  std::string_view limits = text_of(config, "EnforcePartLimits");
  config.enforce_part_limits = iequals(limits, "NO")    ? EnforcePartitionLimits::kNo
                               : iequals(limits, "ANY") ? EnforcePartitionLimits::kAny
                                                        : EnforcePartitionLimits::kAll;
  config.x11_home_xauthority = iequals(text_of(config, "X11Parameters"), "home_xauthority");
  if (std::optional<int64_t> s = parse_integer(text_of(config, "PrologEpilogTimeout")); s && *s >= 0 && *s < 65534) {
    if (!config.prolog_timeout) config.prolog_timeout = seconds(*s);
    if (!config.epilog_timeout) config.epilog_timeout = seconds(*s);
  }
  if (config.slurmd_timeout && config.slurmd_timeout->count() == 0) config.slurmd_timeout.reset();
  if (!config.is_given("UnkillableStepTimeout"))
    config.unkillable_step_timeout = std::max<Duration>(seconds(60), 5 * config.message_timeout);
  drop_none(config.accounting_storage_type);
  drop_none(config.job_acct_gather_type);
  drop_none(config.preempt_type);
  if (config.topology_plugin == "topology/default" || config.topology_plugin == "topology/none") config.topology_plugin = "topology/flat";
  std::erase(config.private_data, "none");
  std::erase(config.task_plugins, "task/none");
  std::erase(config.job_submit_plugins, "none");
  std::erase(config.cli_filter_plugins, "none");
  if (config.mpi_default == "none") config.mpi_default.clear();
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
void complete_tres(Config& config) {
  std::vector<std::string> all(std::begin(kAlwaysTracked), std::end(kAlwaysTracked));
  auto add = [&](std::string_view name) {
    if (std::none_of(all.begin(), all.end(), [&](const std::string& have) { return iequals(have, name); })) all.emplace_back(name);
  };
  for (const std::string& name : config.accounting_storage_tres) {
    add(iequals(name, "memory") ? "mem" : std::string_view(name));
    if (iequals(name, "gres/gpu")) {
      add("gres/gpumem");
      add("gres/gpuutil");
    }
  }
  config.accounting_storage_tres = std::move(all);
  value_of(config, find_row(ConfFile::kSlurm, Section::kGlobal, "AccountingStorageTRES"))->text = join(config.accounting_storage_tres, ",");
}

// slurm.conf(5) AccountingStorageEnforce=wckeys.
void imply_track_wckey(Config& config) {
  if (!config.enforce.wckeys) return;
  config.track_wckey = true;
  value_of(config, find_row(ConfFile::kSlurm, Section::kGlobal, "TrackWCKey"))->text = "Yes";
}

// Tells where AccountingStorageEnforce has no effect.
void tell_not_enforced(const Config& c, Findings& f) {
  const bool asks = c.enforce.associations || c.enforce.limits || c.enforce.qos;
  if (asks && c.accounting_storage_type != "accounting_storage/slurmdbd")
    f.notice(pos_of(c, "AccountingStorageEnforce"), "AccountingStorageEnforce",
             "has no effect without AccountingStorageType=accounting_storage/slurmdbd: nobody keeps accounts");
}

// Fair share is a matter of accounts and of what they have used, which slurmdbd keeps.
void tell_no_fair_share(const Config& c, Findings& f) {
  if (c.priority_type == "priority/multifactor" && c.priority_weight_fairshare &&
      c.accounting_storage_type != "accounting_storage/slurmdbd")
    f.notice(pos_of(c, "PriorityWeightFairshare"), "PriorityWeightFairshare",
             "can only be used with slurmdbd, and is ignored: nobody keeps accounts",
             "write AccountingStorageType=accounting_storage/slurmdbd, or leave it out");
}

void check_power_saving(const Config& config, Findings& findings) {
  if (auto kept = parse_kept_up(config.suspend_exc_nodes); !kept)
    findings.notice(pos_of(config, "SuspendExcNodes"), "SuspendExcNodes", std::string(kept.error().message()) + "; no node is kept up",
                    "write nid[10-20]:4");
}

bool prolog_flag(const Config& config, std::string_view name) {
  return std::ranges::any_of(config.prolog_flags, [&](const std::string& flag) { return iequals(flag, name); });
}

// A job may not do without what the site has asked for because a second key was forgotten.
void check_namespaces(Config& config, Findings& findings) {
  if (has_job_namespaces(config) && !prolog_flag(config, "Contain") && !prolog_flag(config, "X11")) {
    findings.notice(pos_of(config, "NamespaceType"), "NamespaceType",
                    std::string(namespace_type(config)) + " needs PrologFlags=Contain; it is taken as given");
    config.prolog_flags.emplace_back("Contain");
  }
}

// After the words were checked: a count that is none was left out.
void check_switch(Config& config, Findings& findings) {
  if (const ConfigValue* type = config.find_value("SwitchType"); type && type->text == "switch/hpe_slingshot")
    findings.notice(type->pos, "SwitchType", "accepted without effect, this is not there yet: switch/hpe_slingshot",
                    "there is switch/nvidia_imex");
  constexpr std::string_view kCount = "imex_channel_count";
  if (config.imex_channels) {
    config.imex_channels = static_cast<uint32_t>(config.switch_parameters.number(kCount, config.imex_channels));
  } else if (config.switch_parameters.has(kCount)) {
    findings.notice(pos_of(config, "SwitchParameters"), "SwitchParameters",
                    "imex_channel_count has no effect without SwitchType=switch/nvidia_imex");
  }
}

void check_together(Config& config, Findings& findings) {
  for (const ParameterKey& k : parameter_keys()) check_words(k.key, k.words, config.*k.given, pos_of(config, k.key), findings);
  if (config.cluster_name.empty())
    findings.error({std::make_shared<const std::string>(config.path), 0, 0}, "ClusterName", "is not set", "every cluster needs a name");
  if (config.cluster_name.size() > 40) findings.error(pos_of(config, "ClusterName"), "ClusterName", "must have at most 40 characters");
  if (config.slurmctld_hosts.empty())
    findings.error({std::make_shared<const std::string>(config.path), 0, 0}, "SlurmctldHost", "is not set",
                   "write SlurmctldHost=<name of the controller>");
  check_power_saving(config, findings);
  if (config.first_job_id > config.max_job_id) findings.error(pos_of(config, "FirstJobId"), "FirstJobId", "must not exceed MaxJobId");
  if (config.is_given("DefMemPerCPU") + config.is_given("DefMemPerGPU") + config.is_given("DefMemPerNode") > 1 &&
      config.def_mem_per_cpu_mb.has_value() + config.def_mem_per_gpu_mb.has_value() + config.def_mem_per_node_mb.has_value() > 1)
    findings.notice(pos_of(config, "DefMemPerCPU"), "DefMemPerCPU", "DefMemPerCPU, DefMemPerGPU and DefMemPerNode exclude each other",
                    "a job that asks for GPUs gets DefMemPerGPU, else DefMemPerCPU counts before DefMemPerNode");
  if (config.max_mem_per_cpu_mb && config.max_mem_per_node_mb)
    findings.notice(pos_of(config, "MaxMemPerCPU"), "MaxMemPerCPU", "MaxMemPerCPU and MaxMemPerNode are both set; both hold");
  if (config.is_given("PropagateResourceLimits") && config.is_given("PropagateResourceLimitsExcept"))
    findings.odd(pos_of(config, "PropagateResourceLimits"), "PropagateResourceLimits",
                 "cannot be combined with PropagateResourceLimitsExcept", "PropagateResourceLimitsExcept counts");
  check_namespaces(config, findings);
  check_switch(config, findings);
  if (prolog_flag(config, "X11"))
    findings.notice(pos_of(config, "PrologFlags"), "PrologFlags", "X11 works as Contain alone, this is not there yet: forwarding of X11");
  for (std::string_view name : {"Contain", "X11"})
    if (prolog_flag(config, "NoHold") && prolog_flag(config, name))
      findings.error(pos_of(config, "PrologFlags"), "PrologFlags", "NoHold cannot be combined with " + std::string(name));
  if (prolog_flag(config, "Serial") && prolog_flag(config, "RunInJob"))
    findings.error(pos_of(config, "PrologFlags"), "PrologFlags", "Serial cannot be combined with RunInJob");
  bool preempts = !config.preempt_type.empty();
  if (preempts && config.preempt_modes.how == PreemptModes::How::kOff)
    findings.error(pos_of(config, "PreemptType"), "PreemptType", config.preempt_type + " needs a PreemptMode other than OFF",
                   "for example PreemptMode=REQUEUE");
  if (config.preempt_modes.how == PreemptModes::How::kSuspend && !config.preempt_modes.gang)
    findings.error(pos_of(config, "PreemptMode"), "PreemptMode", "SUSPEND needs GANG", "write PreemptMode=SUSPEND,GANG");
  if (config.priority_decay_half_life.count() == 0 && config.priority_type == "priority/multifactor" &&
      config.priority_usage_reset_period == UsageResetPeriod::kNone)
    findings.error(pos_of(config, "PriorityDecayHalfLife"), "PriorityDecayHalfLife", "0 needs a PriorityUsageResetPeriod other than NONE");
  if (!config.gpu_freq_def.empty())
    if (const auto& wish = config.gpu_freq_def.parsed(); !wish)
      findings.odd(pos_of(config, "GpuFreqDef"), "GpuFreqDef", wish.error().hint, "it is left out",
                   "for example GpuFreqDef=medium,memory=high"),
          config.gpu_freq_def.clear();
  if (config.mpi_params.has("ports") && config.mpi_ports.first == 0)
    findings.odd(pos_of(config, "MpiParams"), "MpiParams", "ports= must be a range of ports, the lower one first",
                 "--resv-ports is refused", "for example MpiParams=ports=12000-12999");
  std::vector<std::string> left_out;
  config.mcs = parse_mcs(text_of(config, "MCSPlugin"), text_of(config, "MCSParameters"), left_out);
  for (const std::string& word : left_out)
    findings.odd(pos_of(config, "MCSParameters"), "MCSParameters", word, "it is left out", kMcsWords);
  for (const char* what : {"events", "usage"})
    if (std::ranges::find(config.private_data, what) != config.private_data.end())
      findings.notice(pos_of(config, "PrivateData"), "PrivateData",
                      std::string(what) + " is accepted without effect: there is nothing of that kind to hide yet");
  const PortRange& ports = config.slurmctld_port;
  if (ports.first == 0) findings.error(pos_of(config, "SlurmctldPort"), "SlurmctldPort", "must be a port from 1 to 65535");
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
  imply_track_wckey(config);
  check_together(config, findings);
  check_job_completion(config, findings);
  check_use_gathering(config, findings);
  tell_not_enforced(config, findings);
  tell_no_fair_share(config, findings);
}

}  // namespace muster::config
