// The words of the daemons' own option lists, and of those about launches, dependencies and authentication.
#include <algorithm>
#include <array>

#include "config/parameter_words.h"

namespace muster::config {
namespace {

constexpr const char* kOneLoop = "one event loop serves all connections; MessageTimeout bounds them";
constexpr const char* kRateLimits = "limits on the requests of a user";
constexpr const char* kCray = "for Cray systems, of which none is supported";
constexpr const char* kSlingshot = "switch/hpe_slingshot";
constexpr const char* kLockedMemory = "locking the memory of slurmstepd";

// Words that both SlurmctldParameters and SlurmdParameters have.
constexpr ParameterWord kConnections[] = {
    no_effect_word("conmgr_connect_timeout", kOneLoop),  no_effect_word("conmgr_max_connections", "the limit on open files bounds them"),
    no_effect_word("conmgr_quiesce_timeout", kOneLoop),  no_effect_word("conmgr_read_timeout", kOneLoop),
    no_effect_word("conmgr_threads", kOneLoop),          no_effect_word("conmgr_use_poll", kOneLoop),
    no_effect_word("conmgr_wait_write_delay", kOneLoop), no_effect_word("conmgr_write_timeout", kOneLoop),
};

constexpr ParameterWord kSlurmctldOwn[] = {
    no_effect_word("allow_user_triggers", "users may set triggers in any case; their programs run as them"),
    flag_word("cloud_dns",
              "cloud nodes are where their names say; without it a cloud node whose NodeAddr is not given is where it registers from"),
    no_effect_word("cloud_reg_addrs", "a cloud node whose NodeAddr is not given is where it registers from in any case"),
    flag_word("disable_triggers", "no trigger can be set"),
    no_effect_word("enable_async_reply", "no answer holds up another"),
    flag_word("enable_configless", "slurmd --conf-server and sackd get the configuration files, and get them again when they are others"),
    flag_word("enable_expedited_requeue",
              "a job of --requeue=expedite whose node or launch failed starts again at once, before all others"),
    flag_word("enable_stepmgr", "the steps of all jobs that are submitted from now on are managed on their first node"),
    flag_word("idle_on_node_suspend", "a node that SuspendProgram powers down is neither DOWN nor drained any more"),
    no_effect_word("max_dbd_msg_action", "beyond MaxDBDMsgs the oldest records of ended steps and jobs are given up, and the log says so"),
    number_word("max_powered_nodes", 1, 1'000'000,
                "no more nodes are powered up at once; jobs that need more wait, and power up is refused"),
    number_word("node_reg_mem_percent", 0, 100, "percent of its memory that a node must register with; 100, of cloud nodes 90"),
    no_effect_word("no_quick_restart", "a second slurmctld never ends the first"),
    number_word("power_save_interval", 1, 86400, "seconds between looks for nodes to power down; 10"),
    number_word("power_save_min_interval", 0, 86400, "seconds between two such looks at least; 0 means 1"),
    number_word(
        "quarantine", 1, 65533,
        "Muster's own: so many nodes at most are drained at once because jobs of several users fail there; they are tested and return"),
    flag_word("reboot_from_controller", "RebootProgram runs on the host of slurmctld, with the nodes in a list"),
    flag_word("reconfig_on_restart", "each node reads its files again when it registers first with a slurmctld that was started"),
    not_yet_word("rl_bucket_size", kRateLimits),
    not_yet_word("rl_enable", kRateLimits),
    not_yet_word("rl_log_freq", kRateLimits),
    not_yet_word("rl_refill_period", kRateLimits),
    not_yet_word("rl_refill_rate", kRateLimits),
    not_yet_word("rl_table_size", kRateLimits),
    flag_word("user_resv_delete", "who may use a reservation may delete it"),
    no_effect_word("validate_nodeaddr_threads", "nodes connect to slurmctld, no address of theirs is looked up"),
};

constexpr ParameterWord kSlurmdOwn[] = {
    no_effect_word("allow_ecores", "all cores count in any case"),
    flag_word("config_overrides", "what slurm.conf says of a node counts, whatever it registers with"),
    not_yet_word("contain_spank", "job namespaces"),
    flag_word("gpu_checks", "Muster's own: slurmd looks at its GPUs, and the node is drained when one is broken"),
    flag_word("l3cache_as_socket", "cores that share a level-3 cache count as a socket"),
    flag_word("numa_node_as_socket", "cores of a NUMA node count as a socket"),
    flag_word("shutdown_on_reboot", "slurmd ends when RebootProgram has ended well"),
};

constexpr ParameterWord kLaunch[] = {
    not_yet_word("batch_step_set_cpu_freq", "clocks of batch steps; srun --cpu-freq works"),
    no_effect_word("cray_net_exclusive", kCray),
    no_effect_word("disable_send_gids", "each node looks its users' groups up itself"),
    not_yet_word("enable_nss_slurm", "nss_slurm"),
    not_yet_word("interactive_step_set_cpu_freq", "clocks of interactive steps; srun --cpu-freq works"),
    no_effect_word("lustre_no_flush", kCray),
    not_yet_word("mpir_use_nodeaddr", "MPIR_proctable"),
    not_yet_word("slurmstepd_memlock", kLockedMemory),
    not_yet_word("slurmstepd_memlock_all", kLockedMemory),
    not_yet_word("srun_exclusive_allocation", "this default; srun --exclusive=allocation works"),
    flag_word("test_exec", "srun looks for the program, and whether it may be run, before it launches"),
    flag_word("ulimit_pam_adopt", "a login that pam_slurm_adopt puts into a job gets the job's memory as its limit RSS"),
    flag_word("use_interactive_step", "salloc runs its shell on the first node"),
};

constexpr ParameterWord kDependency[] = {
    no_effect_word("disable_remote_singleton", "there are no federations yet"),
    flag_word("kill_invalid_depend", "a job whose dependency can never be met is cancelled"),
    no_effect_word("max_depend_depth", "circles are found however long they are"),
};

constexpr ParameterWord kAuth[] = {
    number_word("cred_expire", 0, 315360000,
                "seconds before a requeued job may start again, without requeue_delay; a step's credential lives as long as its use"),
    text_word("socket", "munge's socket"),
    not_yet_word("ttl", "lifetimes of credentials by hand"),
    not_yet_word("use_client_ids", "users that only login nodes know"),
};

constexpr ParameterWord kBcast[] = {
    text_word("Compression", "what --compress uses: lz4 or none"),
    text_word("DestDir", "where files go"),
    flag_word("send_libs", "libraries of programs go, too"),
};

constexpr ParameterWord kCommunication[] = {
    no_effect_word("CheckGhalQuiesce", "connections are not counted against a halt of nodes"),
    not_yet_word("DisableIPv4", "IPv6 alone"),
    no_effect_word("EnableIPv6", "both families are used where the host has them"),
    no_effect_word("block_null_hash", "every credential has a hash"),
    no_effect_word("getnameinfo_cache_timeout", "no address is turned into a name"),
    not_yet_word("host_unreach_retry_count", "another try for hosts that cannot be reached"),
    no_effect_word("keepaliveinterval", "a peer that is gone is noticed by probes in a minute"),
    no_effect_word("keepaliveprobes", "a peer that is gone is noticed by probes in a minute"),
    no_effect_word("keepalivetime", "a peer that is gone is noticed by probes in a minute"),
    flag_word("NoCtldInAddrAny", "slurmctld listens at the address of its SlurmctldHost only"),
    flag_word("NoInAddrAny", "slurmd listens at its NodeAddr only"),
};

constexpr ParameterWord kMpi[] = {
    no_effect_word("disable_slurm_hydra_bootstrap", "no variables of Hydra are set in any case"),
    text_word("ports", "ports for --resv-ports"),
};

// A channel is a minor number of a device file, of which Linux has 2^20.
constexpr ParameterWord kSwitch[] = {
    number_word("imex_channel_count", 1, 1 << 20, "how many IMEX channels there are; 2048. Each job that runs has one for itself"),
    not_yet_word("adjust_limits", kSlingshot),
    not_yet_word("destroy_retries", kSlingshot),
    not_yet_word("fm_auth", kSlingshot),
    not_yet_word("fm_authdir", kSlingshot),
    not_yet_word("fm_authdir_ctld", kSlingshot),
    not_yet_word("fm_mtls_ca", kSlingshot),
    not_yet_word("fm_mtls_cert", kSlingshot),
    not_yet_word("fm_mtls_key", kSlingshot),
    not_yet_word("fm_mtls_url", kSlingshot),
    not_yet_word("fm_url", kSlingshot),
    not_yet_word("hwcoll_addrs_per_job", kSlingshot),
    not_yet_word("hwcoll_num_nodes", kSlingshot),
    not_yet_word("job_vni", kSlingshot),
    not_yet_word("nic_distribution_count", kSlingshot),
    not_yet_word("no_adjust_limits", kSlingshot),
    not_yet_word("single_node_vni", kSlingshot),
    not_yet_word("tcs", kSlingshot),
    not_yet_word("vnis", kSlingshot),
};

template <size_t N, size_t M>
constexpr std::array<ParameterWord, N + M> joined(const ParameterWord (&a)[N], const ParameterWord (&b)[M]) {
  std::array<ParameterWord, N + M> out{};
  std::ranges::copy(b, std::ranges::copy(a, out.begin()).out);
  return out;
}
constexpr auto kSlurmctld = joined(kSlurmctldOwn, kConnections);
constexpr auto kSlurmd = joined(kSlurmdOwn, kConnections);

}  // namespace

std::span<const ParameterWord> slurmctld_words() { return kSlurmctld; }
std::span<const ParameterWord> slurmd_words() { return kSlurmd; }
std::span<const ParameterWord> launch_words() { return kLaunch; }
std::span<const ParameterWord> dependency_words() { return kDependency; }
std::span<const ParameterWord> auth_words() { return kAuth; }
std::span<const ParameterWord> bcast_words() { return kBcast; }
std::span<const ParameterWord> mpi_words() { return kMpi; }
std::span<const ParameterWord> communication_words() { return kCommunication; }
std::span<const ParameterWord> switch_words() { return kSwitch; }

}  // namespace muster::config
