#include "config/slurm_bind.h"

#include "base/text.h"

namespace muster::config {

namespace {
using C = Config;
constexpr Binding kBindings[] = {
    {"AccountingStorageBackupHost", &C::accounting_storage_backup_host},
    {"AccountingStorageHost", &C::accounting_storage_host},
    {"AccountingStorageParameters", &C::accounting_storage_parameters},
    {"AccountingStoragePass", &C::accounting_storage_pass},
    {"AccountingStoragePort", &C::accounting_storage_port},
    {"AccountingStorageTRES", &C::accounting_storage_tres},
    {"AccountingStorageType", &C::accounting_storage_type},
    {"AccountingStoreFlags", &C::accounting_store_flags},
    {"AllowSpecResourcesUsage", &C::allow_spec_resources_usage},
    {"AuthAltParameters", &C::auth_alt_parameters},
    {"AuthAltTypes", &C::auth_alt_types},
    {"AuthInfo", &C::auth_info},
    {"AuthType", &C::auth_type},
    {"BatchStartTimeout", &C::batch_start_timeout},
    {"BcastExclude", &C::bcast_exclude},
    {"BcastParameters", &C::bcast_parameters},
    {"CliFilterParameters", &C::cli_filter_parameters},
    {"CliFilterPlugins", &C::cli_filter_plugins},
    {"ClusterName", &C::cluster_name},
    {"CommunicationParameters", &C::communication_parameters},
    {"CompleteWait", &C::complete_wait},
    {"CpuFreqDef", &C::cpu_freq_def},
    {"CpuFreqGovernors", &C::cpu_freq_governors},
    {"CredType", &C::cred_type},
    {"DebugFlags", &C::debug_flags},
    {"DefCpuPerGPU", &C::def_cpu_per_gpu},
    {"DefMemPerCPU", &C::def_mem_per_cpu_mb},
    {"DefMemPerGPU", &C::def_mem_per_gpu_mb},
    {"DefMemPerNode", &C::def_mem_per_node_mb},
    {"DependencyParameters", &C::dependency_parameters},
    {"DisableRootJobs", &C::disable_root_jobs},
    {"EioTimeout", &C::eio_timeout},
    {"Epilog", &C::epilog},
    {"EpilogSlurmctld", &C::epilog_slurmctld},
    {"EpilogTimeout", &C::epilog_timeout},
    {"FairShareDampeningFactor", &C::fair_share_dampening_factor},
    {"FirstJobId", &C::first_job_id},
    {"GresTypes", &C::gres_types},
    {"GroupUpdateForce", &C::group_update_force},
    {"GroupUpdateTime", &C::group_update_time},
    {"HealthCheckInterval", &C::health_check_interval},
    {"HealthCheckNodeState", &C::health_check_node_state},
    {"HealthCheckProgram", &C::health_check_program},
    {"HealthCheckTimeout", &C::health_check_timeout},
    {"InactiveLimit", &C::inactive_limit},
    {"InteractiveStepOptions", &C::interactive_step_options},
    {"JobAcctGatherFrequency", &C::job_acct_gather_frequency},
    {"JobAcctGatherParams", &C::job_acct_gather_params},
    {"JobAcctGatherType", &C::job_acct_gather_type},
    {"JobFileAppend", &C::job_file_append},
    {"JobRequeue", &C::job_requeue},
    {"JobSubmitPlugins", &C::job_submit_plugins},
    {"KillOnBadExit", &C::kill_on_bad_exit},
    {"KillWait", &C::kill_wait},
    {"LaunchParameters", &C::launch_parameters},
    {"LicenseParameters", &C::license_parameters},
    {"LogTimeFormat", &C::log_time_format},
    {"MailDomain", &C::mail_domain},
    {"MailProg", &C::mail_prog},
    {"MaxArraySize", &C::max_array_size},
    {"MaxBatchRequeue", &C::max_batch_requeue},
    {"MaxDBDMsgs", &C::max_dbd_msgs},
    {"MaxJobCount", &C::max_job_count},
    {"MaxJobId", &C::max_job_id},
    {"MaxMemPerCPU", &C::max_mem_per_cpu_mb},
    {"MaxMemPerNode", &C::max_mem_per_node_mb},
    {"MaxNodeCount", &C::max_node_count},
    {"MaxStepCount", &C::max_step_count},
    {"MaxTasksPerNode", &C::max_tasks_per_node},
    {"MessageTimeout", &C::message_timeout},
    {"MinJobAge", &C::min_job_age},
    {"MpiDefault", &C::mpi_default},
    {"MpiParams", &C::mpi_params},
    {"NodeFeaturesPlugins", &C::node_features_plugins},
    {"OverTimeLimit", &C::over_time_limit_min},
    {"PlugStackConfig", &C::plug_stack_config},
    {"PluginDir", &C::plugin_dir},
    {"PreemptExemptTime", &C::preempt_exempt_time},
    {"PreemptParameters", &C::preempt_parameters},
    {"PreemptType", &C::preempt_type},
    {"PriorityCalcPeriod", &C::priority_calc_period},
    {"PriorityDecayHalfLife", &C::priority_decay_half_life},
    {"PriorityFavorSmall", &C::priority_favor_small},
    {"PriorityFlags", &C::priority_flags},
    {"PriorityMaxAge", &C::priority_max_age},
    {"PriorityType", &C::priority_type},
    {"PriorityWeightAge", &C::priority_weight_age},
    {"PriorityWeightAssoc", &C::priority_weight_assoc},
    {"PriorityWeightFairshare", &C::priority_weight_fairshare},
    {"PriorityWeightJobSize", &C::priority_weight_job_size},
    {"PriorityWeightPartition", &C::priority_weight_partition},
    {"PriorityWeightQOS", &C::priority_weight_qos},
    {"PrivateData", &C::private_data},
    {"ProctrackType", &C::proctrack_type},
    {"Prolog", &C::prolog},
    {"PrologFlags", &C::prolog_flags},
    {"PrologSlurmctld", &C::prolog_slurmctld},
    {"PrologTimeout", &C::prolog_timeout},
    {"PropagatePrioProcess", &C::propagate_prio_process},
    {"PropagateResourceLimits", &C::propagate_limits},
    {"PropagateResourceLimitsExcept", &C::propagate_limits_except},
    {"RebootProgram", &C::reboot_program},
    {"ReconfigFlags", &C::reconfig_flags},
    {"RequeueExit", &C::requeue_exit},
    {"RequeueExitHold", &C::requeue_exit_hold},
    {"ResumeFailProgram", &C::resume_fail_program},
    {"ResumeProgram", &C::resume_program},
    {"ResumeRate", &C::resume_rate},
    {"ResumeTimeout", &C::resume_timeout},
    {"ResvEpilog", &C::resv_epilog},
    {"ResvOverRun", &C::resv_over_run_min},
    {"ResvProlog", &C::resv_prolog},
    {"ReturnToService", &C::return_to_service},
    {"SchedulerParameters", &C::scheduler_parameters},
    {"SchedulerTimeSlice", &C::scheduler_time_slice},
    {"SchedulerType", &C::scheduler_type},
    {"SelectType", &C::select_type},
    {"SlurmUser", &C::slurm_user},
    {"SlurmctldAddr", &C::slurmctld_addr},
    {"SlurmctldDebug", &C::slurmctld_debug},
    {"SlurmctldLogFile", &C::slurmctld_log_file},
    {"SlurmctldParameters", &C::slurmctld_parameters},
    {"ScronParameters", &C::scron_parameters},
    {"SlurmctldPidFile", &C::slurmctld_pid_file},
    {"SlurmctldPort", &C::slurmctld_port},
    {"SlurmctldPrimaryOffProg", &C::slurmctld_primary_off_prog},
    {"SlurmctldPrimaryOnProg", &C::slurmctld_primary_on_prog},
    {"SlurmctldSyslogDebug", &C::slurmctld_syslog_debug},
    {"SlurmctldTimeout", &C::slurmctld_timeout},
    {"SlurmdDebug", &C::slurmd_debug},
    {"SlurmdLogFile", &C::slurmd_log_file},
    {"SlurmdParameters", &C::slurmd_parameters},
    {"SlurmdPidFile", &C::slurmd_pid_file},
    {"SlurmdPort", &C::slurmd_port},
    {"SlurmdSpoolDir", &C::slurmd_spool_dir},
    {"SlurmdSyslogDebug", &C::slurmd_syslog_debug},
    {"SlurmdTimeout", &C::slurmd_timeout},
    {"SlurmdUser", &C::slurmd_user},
    {"SrunEpilog", &C::srun_epilog},
    {"SrunPortRange", &C::srun_port_range},
    {"SrunProlog", &C::srun_prolog},
    {"StateSaveLocation", &C::state_save_location},
    {"SuspendExcNodes", &C::suspend_exc_nodes},
    {"SuspendExcParts", &C::suspend_exc_parts},
    {"SuspendExcStates", &C::suspend_exc_states},
    {"SuspendProgram", &C::suspend_program},
    {"SuspendRate", &C::suspend_rate},
    {"SuspendTime", &C::suspend_time},
    {"SuspendTimeout", &C::suspend_timeout},
    {"SwitchParameters", &C::switch_parameters},
    {"TaskEpilog", &C::task_epilog},
    {"TaskPlugin", &C::task_plugins},
    {"TaskPluginParam", &C::task_plugin_param},
    {"TaskProlog", &C::task_prolog},
    {"TCPTimeout", &C::tcp_timeout},
    {"TmpFS", &C::tmp_fs},
    {"TopologyParam", &C::topology_param},
    {"TopologyPlugin", &C::topology_plugin},
    {"TrackWCKey", &C::track_wckey},
    {"TreeWidth", &C::tree_width},
    {"UnkillableStepProgram", &C::unkillable_step_program},
    {"UnkillableStepTimeout", &C::unkillable_step_timeout},
    {"VSizeFactor", &C::vsize_factor_percent},
    {"WaitTime", &C::wait_time},
    // Not bound here but set in slurm_global.cc: SlurmctldHost, SelectTypeParameters, PreemptMode, AccountingStorageEnforce,
    // EnforcePartLimits, PrologEpilogTimeout, X11Parameters, GpuFreqDef, Licenses, PriorityWeightTRES and
    // PriorityUsageResetPeriod.
};

std::optional<Duration> duration_of(const KeyRow& row, std::string_view text) {
  if (row.type == KeyType::kTimeSpan) {
    std::optional<int64_t> s = parse_span_seconds(text);
    if (!s || *s < 0) return std::nullopt;
    return seconds(*s);
  }
  std::optional<int64_t> v = parse_integer(text);
  if (!v || *v < 0) return std::nullopt;
  switch (row.type) {
    case KeyType::kMinutes: return minutes(*v);
    case KeyType::kMilliseconds: return milliseconds(*v);
    case KeyType::kMicroseconds: return Duration(*v);
    default: return seconds(*v);
  }
}

PortRange ports_of(std::string_view text) {
  size_t dash = text.find('-');
  uint16_t first = parse_number<uint16_t>(text.substr(0, dash)).value_or(0);
  if (dash == std::string_view::npos) return {first, first};
  return {first, parse_number<uint16_t>(text.substr(dash + 1)).value_or(first)};
}

bool bool_of(std::string_view text) {
  if (std::optional<bool> b = parse_yes_no(text)) return *b;
  return parse_integer(text).value_or(0) > 0;
}

// Gives words of an enumeration the spelling of the table: priority/Multifactor → priority/multifactor.
std::string canonical(const KeyRow& row, std::string_view word) {
  for (std::string_view c : choice_list(row))
    if (iequals(c, word)) return std::string(c);
  return std::string(word);
}

struct Assigner {
  Config& c;
  const KeyRow& row;
  std::string_view text;

  void operator()(std::string C::*m) { c.*m = canonical(row, text); }
  void operator()(bool C::*m) { c.*m = bool_of(text); }
  void operator()(int C::*m) { c.*m = parse_debug_level(text).value_or(c.*m); }
  void operator()(uint16_t C::*m) { c.*m = parse_number<uint16_t>(text).value_or(c.*m); }
  void operator()(uint32_t C::*m) { c.*m = static_cast<uint32_t>(parse_integer(text).value_or(c.*m)); }
  void operator()(std::optional<int> C::*m) { c.*m = parse_debug_level(text); }
  void operator()(std::optional<uint32_t> C::*m) {
    std::optional<int64_t> v = parse_integer(text);
    if (v && *v >= 0) c.*m = static_cast<uint32_t>(*v);
    else (c.*m).reset();
  }
  void operator()(std::optional<uint64_t> C::*m) {  // memory: 0 and UNLIMITED are no limit
    Result<uint64_t> v = parse_mem_mb(text);
    if (v && *v > 0) c.*m = *v;
    else (c.*m).reset();
  }
  void operator()(Duration C::*m) { c.*m = duration_of(row, text).value_or(Duration{}); }
  void operator()(std::optional<Duration> C::*m) { c.*m = duration_of(row, text); }
  void operator()(PortRange C::*m) { c.*m = ports_of(text); }
  void operator()(std::vector<std::string> C::*m) {
    std::vector<std::string>& list = c.*m;
    if (!row.repeatable) list.clear();
    if (row.repeatable) {
      list.emplace_back(text);
      return;
    }
    for (std::string_view w : split(text, ',')) list.push_back(canonical(row, trim(w)));
  }
  void operator()(OptionList C::*m) { c.*m = OptionList::parse(text); }
};

}  // namespace

std::span<const Binding> bindings() { return kBindings; }

void assign(Config& config, const KeyRow& row, const Member& member, std::string_view text) {
  if (text.empty()) return;
  std::visit(Assigner{config, row, text}, member);
}

}  // namespace muster::config
