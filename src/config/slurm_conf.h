// Config: what slurm.conf says, typed, with every default filled in. Plain values; immutable once loaded. Durations are typed, memory in
// MiB (the name says so), ports and counts as numbers. "No limit" and "not set" are std::nullopt. Paths are absolute: programs given
// without a leading slash are taken from slurm.conf's directory; %n and %h in slurmd's paths are left for substitute_node (hosts.h). Not
// here: reading (load.h), printing (show_config.h), the checks of what a job may ask for (slurmctld/core). Manual page: slurm.conf(5).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "config/counted_lists.h"
#include "config/key_table.h"
#include "config/mcs.h"
#include "config/parser.h"
#include "model/gpu_frequency.h"
#include "model/gres_items.h"
#include "model/node.h"
#include "model/partition.h"
#include "model/sample_intervals.h"
#include "model/usage_reset.h"

namespace muster::config {

// A list such as "bf_window=1440,defer": words with and without values, in order, found by name in any case of letters.
class OptionList {
 public:
  static OptionList parse(std::string_view text);
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::optional<std::string_view> get(std::string_view name) const;  // "" for a word without value
  // The number after name=; `otherwise` when the word is absent or its value is not a number.
  int64_t number(std::string_view name, int64_t otherwise) const;
  void remove(std::string_view name);
  const std::vector<std::pair<std::string, std::string>>& items() const { return items_; }
  bool empty() const { return items_.empty(); }
  bool operator==(const OptionList&) const = default;

 private:
  const std::pair<std::string, std::string>* find(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> items_;
};

struct ControllerHost {
  std::string name, address;  // address = name unless given in parentheses
  bool operator==(const ControllerHost&) const = default;
};

struct PortRange {
  uint16_t first = 0, last = 0;  // 0: not set
  bool operator==(const PortRange&) const = default;
};

enum class EnforcePartitionLimits : uint8_t { kNo, kAny, kAll };

// SelectTypeParameters, typed.
struct SelectFlags {
  enum class Unit : uint8_t { kCpu, kCore, kSocket };
  Unit unit = Unit::kCore;
  bool memory = true;
  bool one_task_per_core = false, lln = false, pack_nodes = false, core_default_dist_block = false;
  bool ll_shared_gres = false, multiple_sharing_gres_pj = false, enforce_binding_gres = false;
  bool one_task_per_sharing_gres = false, no_dist_topo_block = false;
  bool operator==(const SelectFlags&) const = default;
};
SelectFlags parse_select_flags(std::string_view text);

// PreemptMode of the cluster or of a partition, typed.
PreemptModes parse_preempt_modes(std::string_view text);

// AccountingStorageEnforce, with what each word implies filled in.
struct Enforce {
  bool associations = false, limits = false, qos = false, safe = false, wckeys = false, no_jobs = false, no_steps = false;
  bool operator==(const Enforce&) const = default;
};
Enforce parse_enforce(std::string_view text);

// The text in effect for one key: for show_config, for diff, and for keys that have no member.
struct ConfigValue {
  const KeyRow* row = nullptr;
  std::string text;    // as given, or the default; "" when unset
  bool given = false;  // stands in the file
  SourcePos pos;
};

// What one NodeName line says of all its nodes, which share it.
struct NodeTemplate {
  uint32_t cpus = 1, boards = 1, sockets = 1, cores_per_socket = 1,
           threads_per_core = 1;  // sockets: of the whole node
  bool cpus_given = false,
       topology_given = false;  // CPUs= / any of Boards, Sockets, CoresPerSocket, ThreadsPerCore
  uint64_t real_memory_mb = 1, tmp_disk_mb = 0, mem_spec_limit_mb = 0;
  uint32_t weight = 1, core_spec_count = 0, restricted_cores_per_gpu = 0;
  std::string cpu_spec_list;
  std::vector<std::string> features;
  std::string gres_text;
  std::vector<GresItem> gres;
  std::string state = "UNKNOWN";  // upper case
  std::string reason, parameters, topology, tres_weights;
  CpuBindText cpu_bind;                          // of tasks that ask for none
  std::optional<uint32_t> suspend_time_seconds;  // nullopt: the partition's or the cluster's
  bool suspend_never = false;                    // SuspendTime=INFINITE
  SourcePos where;
};

struct NodeConfig {
  std::string name;
  std::string given_address, given_hostname, bcast_address;  // "" = not given
  uint16_t port = 0;                                         // SlurmdPort already filled in
  std::shared_ptr<const NodeTemplate> line;
  // What a DownNodes= line says of the node, which overrides the NodeName line.
  std::shared_ptr<const std::pair<std::string, std::string>> down;  // state, reason

  const std::string& hostname() const { return given_hostname.empty() ? name : given_hostname; }
  const std::string& address() const { return given_address.empty() ? hostname() : given_address; }
  const std::string& state() const { return down ? down->first : line->state; }
  const std::string& reason() const { return down ? down->second : line->reason; }
};
// The node as the model's NodeSpec; its devices come from gres.conf (gres_conf.h). `spec_cores_first` (SchedulerParameters) says which
// cores CoreSpecCount means.
NodeSpec to_node_spec(const NodeConfig& node, bool spec_cores_first = false);

struct PartitionConfig {
  Partition spec;  // index by order of definition, nodes by index into Config::nodes
  PreemptModes preempt_modes;
  bool preempt_mode_given = false;
  SourcePos where;
};

struct NodeSetConfig {
  std::string name, feature, nodes_text;
  Bitmap nodes;  // by index into Config::nodes
  SourcePos where;
};

struct PowerActionConfig {
  std::string name, program;
  bool on_slurmd = false;
  SourcePos where;
};

struct Config {
  std::string path, directory;  // of slurm.conf; directory without the last slash

  // identity and trust
  std::string cluster_name;
  std::vector<ControllerHost> slurmctld_hosts;
  std::string slurmctld_addr;
  std::string slurm_user = "root", slurmd_user = "root";
  std::string auth_type = "auth/munge", cred_type = "cred/munge";
  OptionList auth_info, auth_alt_parameters;
  std::vector<std::string> auth_alt_types;
  // ports and messages
  PortRange slurmctld_port{6817, 6817}, srun_port_range;
  PortRange mpi_ports;  // ports= of MpiParams
  OptionList switch_parameters;
  uint32_t imex_channels = 0;  // that jobs are given of, with SwitchType=switch/nvidia_imex; 0: none are given
  // frequencies of CPUs and GPUs
  std::string cpu_freq_def;
  Parsed<GpuFrequencyWish> gpu_freq_def;
  std::vector<std::string> cpu_freq_governors{"OnDemand", "Performance", "UserSpace"};
  uint16_t slurmd_port = 6818;
  OptionList communication_parameters;
  Duration message_timeout = seconds(10), tcp_timeout = seconds(2);
  uint32_t tree_width = 16;
  // files
  std::string state_save_location = "/var/spool", slurmd_spool_dir = "/var/spool/slurmd";
  std::string slurmctld_pid_file = "/var/run/slurmctld.pid", slurmd_pid_file = "/var/run/slurmd.pid";
  std::string slurmctld_log_file, slurmd_log_file;
  std::string plug_stack_config, plugin_dir, tmp_fs = "/tmp";
  // logs: 0 quiet, 1 fatal, 2 error, 3 info … 9 debug5
  int slurmctld_debug = 3, slurmd_debug = 3;
  std::optional<int> slurmctld_syslog_debug, slurmd_syslog_debug;
  std::vector<std::string> debug_flags;
  std::string log_time_format = "iso8601_ms";
  // daemons
  OptionList slurmctld_parameters, slurmd_parameters, scron_parameters, license_parameters;
  Duration slurmctld_timeout = seconds(120);
  std::optional<Duration> slurmd_timeout = seconds(300);  // nullopt: never DOWN for silence
  uint32_t return_to_service = 0;
  std::string slurmctld_primary_on_prog, slurmctld_primary_off_prog;
  std::vector<std::string> reconfig_flags;
  std::string reboot_program;
  // jobs: numbers and lifetimes
  uint32_t first_job_id = 1, max_job_id = 67043328, max_job_count = 10000;
  uint32_t max_array_size = 1001, max_step_count = 40000, max_tasks_per_node = 512, max_batch_requeue = 5;
  std::optional<uint32_t> max_node_count;
  Duration min_job_age = seconds(300);  // 0: finished jobs stay listed
  Duration kill_wait = seconds(30), inactive_limit{}, batch_start_timeout = seconds(10), complete_wait{}, eio_timeout = seconds(60);
  Duration wait_time{};
  Duration unkillable_step_timeout = seconds(60);
  std::string unkillable_step_program;
  bool job_requeue = true, job_file_append = false, kill_on_bad_exit = false, disable_root_jobs = false;
  std::string requeue_exit, requeue_exit_hold;
  std::optional<uint32_t> over_time_limit_min = 0;  // nullopt: UNLIMITED
  std::optional<uint32_t> resv_over_run_min = 0;
  EnforcePartitionLimits enforce_part_limits = EnforcePartitionLimits::kNo;
  OptionList dependency_parameters;
  std::vector<std::string> private_data;
  McsRules mcs;
  std::vector<std::string> job_submit_plugins, cli_filter_plugins;
  OptionList cli_filter_parameters;
  std::string mail_prog = "/bin/mail", mail_domain;
  Duration group_update_time = seconds(600);
  bool group_update_force = true;
  // defaults and limits of resources; nullopt: none
  std::optional<uint64_t> def_mem_per_cpu_mb, def_mem_per_gpu_mb, def_mem_per_node_mb;
  std::optional<uint64_t> max_mem_per_cpu_mb, max_mem_per_node_mb;
  std::optional<uint32_t> def_cpu_per_gpu;
  uint32_t vsize_factor_percent = 0;
  std::vector<std::string> gres_types, node_features_plugins;
  LicenseCounts licenses;
  bool allow_spec_resources_usage = false;
  // scheduling
  std::string scheduler_type = "sched/backfill", select_type = "select/cons_tres", topology_plugin = "topology/flat";
  OptionList scheduler_parameters, topology_param, preempt_parameters;
  size_t most_script_bytes() const { return static_cast<size_t>(scheduler_parameters.number("max_script_size", 4 << 20)); }
  SelectFlags select_flags;
  Duration scheduler_time_slice = seconds(30);
  std::string preempt_type;
  PreemptModes preempt_modes;
  Duration preempt_exempt_time{};
  // priority
  std::string priority_type = "priority/multifactor";
  UsageResetPeriod priority_usage_reset_period = UsageResetPeriod::kNone;
  std::vector<TresPriority> priority_weight_tres;
  std::vector<std::string> priority_flags;
  Duration priority_calc_period = minutes(5), priority_decay_half_life = minutes(7 * 1440), priority_max_age = minutes(7 * 1440);
  bool priority_favor_small = false;
  uint32_t priority_weight_age = 0, priority_weight_assoc = 0, priority_weight_fairshare = 0, priority_weight_job_size = 0;
  uint32_t priority_weight_partition = 0, priority_weight_qos = 0;
  uint32_t fair_share_dampening_factor = 1;
  // programs around jobs
  std::vector<std::string> prolog, epilog, prolog_slurmctld, epilog_slurmctld;
  std::vector<std::string> prolog_flags;
  std::optional<Duration> prolog_timeout, epilog_timeout;  // nullopt: none
  std::string srun_prolog, srun_epilog, task_prolog, task_epilog, resv_prolog, resv_epilog;
  std::string health_check_program;
  std::vector<std::string> health_check_node_state;
  Duration health_check_interval{}, health_check_timeout = seconds(60);
  // launch
  std::string proctrack_type = "proctrack/cgroup";
  std::vector<std::string> task_plugins, task_plugin_param;
  OptionList launch_parameters, mpi_params;
  std::string mpi_default, interactive_step_options;
  std::vector<std::string> propagate_limits, propagate_limits_except;
  uint32_t propagate_prio_process = 0;
  std::vector<std::string> bcast_exclude;
  OptionList bcast_parameters;
  bool x11_home_xauthority = false;
  // accounting
  std::string accounting_storage_type;  // "" = none
  std::string accounting_storage_host = "localhost", accounting_storage_backup_host, accounting_storage_pass;
  uint16_t accounting_storage_port = 6819;
  OptionList accounting_storage_parameters;
  std::vector<std::string> accounting_storage_tres;  // the eight that are always tracked, then the site's
  std::vector<std::string> accounting_store_flags;
  Enforce enforce;
  bool track_wckey = false;
  uint32_t max_dbd_msgs = 0;
  std::string job_acct_gather_type, job_acct_gather_frequency = "30";
  SampleIntervals sample_intervals;  // of JobAcctGatherFrequency
  std::vector<std::string> job_acct_gather_params;
  bool gathers_use() const { return !job_acct_gather_type.empty(); }
  // power
  std::string suspend_program, resume_program, resume_fail_program;
  std::optional<Duration> suspend_time;  // nullopt: never
  Duration suspend_timeout = seconds(30);
  std::optional<Duration> resume_timeout = seconds(60);
  uint32_t suspend_rate = 60, resume_rate = 300;
  std::string suspend_exc_nodes;
  std::vector<std::string> suspend_exc_parts, suspend_exc_states;

  std::vector<NodeConfig> nodes;  // in order of definition
  std::vector<PartitionConfig> partitions;
  std::vector<NodeSetConfig> node_sets;
  std::vector<PowerActionConfig> power_actions;
  std::vector<ConfigValue> values;  // every key of the cluster, in the order of the tables

  const ConfigValue* find_value(std::string_view key) const;
  bool is_given(std::string_view key) const;
  const PartitionConfig* default_partition() const;
  // The node's index into `nodes`; O(1). The loader builds `index` for it.
  std::optional<uint32_t> node_index(std::string_view name) const;
  std::shared_ptr<const class NodeIndex> index;
};

// Whether the text of a Nodes= value means this node, which scontrol created beside those of slurm.conf. It may say ALL, feature{x}, a node
// set by feature or by name, or the node's name.
bool means_node(const Config& config, std::string_view nodes, const NodeSpec& node);

// A key, or a node or partition record, that differs, and whether a change of it needs a restart because `scontrol reconfigure` does not
// apply it.
struct ConfigChange {
  std::string key;            // "KillWait", "NodeName=n3", "PartitionName=debug"
  std::string before, after;  // "" = absent
  bool needs_restart = false;
};
std::vector<ConfigChange> diff(const Config& before, const Config& after);

// Reads the lines of slurm.conf. Errors and notices are appended; the result is meaningful only without errors.
Config build_slurm_config(const std::vector<Line>& lines, const std::string& path, std::vector<ConfigError>& errors,
                          std::vector<ConfigNotice>& notices);

}  // namespace muster::config
