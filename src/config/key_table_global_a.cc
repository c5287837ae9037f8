// slurm.conf, keys of the whole cluster, A to H.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr KeyRow kRows[] = {
    text("AccountingStorageBackupHost", nullptr, "Host of the second slurmdbd, used when the first does not answer."),
    flags("AccountingStorageEnforce", "all|associations|limits|nojobs|nosteps|qos|safe|wckeys|none|0|1|2", "none",
          "Which accounting rules a submission must meet: an association, limits, a QOS, a workload key.")
        .strict(),
    text("AccountingStorageHost", "localhost", "Host of slurmdbd."),
    list("AccountingStorageExternalHost", nullptr, "Other clusters' slurmdbd (host[:port]) to register with.").not_yet("external slurmdbd"),
    list("AccountingStorageParameters", nullptr, "max_step_records= and the SSL_* options of the database connection.")
        .not_yet("accounting"),
    text("AccountingStoragePass", nullptr, "Password or munge socket for the way to the database.").hidden().not_yet("accounting"),
    row(KeyType::kPort, "AccountingStoragePort", "6819", "Port of slurmdbd; DbdPort in slurmdbd.conf must agree."),
    list("AccountingStorageTRES", "cpu,mem,energy,node,billing,fs/disk,vmem,pages",
         "Resources to account beside the eight that always are, for example gres/gpu,license/matlab."),
    one_of("AccountingStorageType", "accounting_storage/none|accounting_storage/slurmdbd", nullptr,
           "Where accounting records go; unset keeps none.")
        .strict(),
    flags("AccountingStoreFlags", "job_comment|job_env|job_extra|job_script|no_stdio", nullptr,
          "What else of a job is recorded: its comment, environment, script, extra text; no_stdio: not the paths of its files."),
    one_of("AcctGatherEnergyType",
           "acct_gather_energy/gpu|acct_gather_energy/ipmi|acct_gather_energy/none|acct_gather_energy/pm_counters|"
           "acct_gather_energy/rapl|acct_gather_energy/xcc",
           nullptr, "Which energy counters are read: those of processors (rapl) or GPUs.")
        .restart(),
    text("AcctGatherFilesystemType", nullptr, "Which file system counters are read.").not_yet("file system accounting"),
    text("AcctGatherInterconnectType", nullptr, "Which network counters are read.").not_yet("interconnect accounting"),
    seconds("AcctGatherNodeFreq", "0", "Interval of the samples of power taken per node; 0 takes none.").restart(),
    one_of("AcctGatherProfileType", "acct_gather_profile/hdf5|acct_gather_profile/influxdb|acct_gather_profile/none", nullptr,
           "Where time series of steps are recorded: in files (hdf5).")
        .restart(),
    yesno("AllowSpecResourcesUsage", "No", "Jobs may ask for the specialized cores of a node with --core-spec."),
    list("AuthAltTypes", nullptr, "Further ways to authenticate that slurmctld accepts, for example auth/jwt.").restart().not_yet("JWT"),
    list("AuthAltParameters", nullptr, "Options of AuthAltTypes: jwt_key=, jwks=, max_token_lifespan= and others.")
        .restart()
        .not_yet("JWT"),
    list("AuthInfo", nullptr, "Options of AuthType: socket=, ttl=, cred_expire=, use_client_ids.").restart(),
    one_of("AuthType", "auth/munge|auth/slurm|auth/none", "auth/munge", "How daemons and commands authenticate.").strict().restart(),
    seconds("BatchStartTimeout", "10", "How long the start of a batch job may take before it counts as lost.").not_yet("this timeout"),
    list("BcastExclude", "/lib,/usr/lib,/lib64,/usr/lib64", "Directories whose libraries --send-libs leaves out."),
    list("BcastParameters", nullptr, "Options of sbcast and srun --bcast: DestDir=, Compression=, send_libs."),
    one_of("BurstBufferType", "burst_buffer/datawarp|burst_buffer/lua|burst_buffer/none", nullptr, "Manager of burst buffers.")
        .not_yet("burst buffers"),
    list("CertgenParameters", nullptr, "Scripts that make certificates.").not_yet("certificate generation"),
    text("CertgenType", nullptr, "Maker of certificates.").not_yet("certificate generation"),
    list("CertmgrParameters", nullptr, "Options of the renewal of certificates.").not_yet("certificate renewal"),
    text("CertmgrType", nullptr, "Renewal of certificates of slurmd and sackd.").not_yet("certificate renewal"),
    list("CliFilterParameters", nullptr, "Options of the command-line filters, for example cli_filter_lua_path=.").not_yet("Lua filters"),
    list("CliFilterPlugins", nullptr, "Filters of the options of salloc, sbatch and srun, for example cli_filter/lua.")
        .not_yet("Lua filters"),
    text("ClusterName", nullptr, "Name of this cluster in the accounting records; required.").restart(),
    list("CommunicationParameters", nullptr, "Options of connections: NoCtldInAddrAny, NoInAddrAny.").restart(),
    seconds("CompleteWait", "0", "Start nothing new for this long while a job is still completing.").max(65533),
    one_of("CpuFreqDef", "Conservative|OnDemand|Performance|PowerSave|SchedUtil|UserSpace", nullptr,
           "CPU governor of steps that ask for none."),
    flags("CpuFreqGovernors", "Conservative|OnDemand|Performance|PowerSave|SchedUtil|UserSpace", "OnDemand,Performance,UserSpace",
          "CPU governors that --cpu-freq may name."),
    one_of("CredType", "cred/munge|cred/slurm|cred/none", "cred/munge", "How step credentials are signed.").strict().restart(),
    text("DataParserParameters", nullptr, "Default version and flags of --json and --yaml output.")
        .not_yet("a default for --json and --yaml; their option takes the version"),
    flags("DebugFlags",
          "Accrue|Agent|AuditRPCs|AuditTLS|Backfill|BackfillMap|BurstBuffer|Cgroup|ConMgr|CPU_Bind|"
          "CpuFrequency|Data|"
          "DBD_Agent|Dependency|Elasticsearch|Energy|Federation|Gang|GLOB_SILENCE|Gres|Hetjob|"
          "JobAccountGather|JobComp|"
          "License|Metrics|Namespace|Network|NetworkRaw|NodeFeatures|NO_CONF_HASH|Power|Priority|Profile|"
          "Protocol|"
          "Reservation|Route|Script|SelectType|Steps|Switch|Thread|TLS|TraceJobs|Triggers",
          nullptr, "Subjects that log in more detail.")
        .not_yet("subjects of the log"),
    number("DefCpuPerGPU", nullptr, "CPUs a job gets per GPU when it does not say."),
    mem("DefMemPerCPU", nullptr, "Memory per allocated CPU when the job does not say, MiB; 0 = no limit."),
    mem("DefMemPerGPU", nullptr, "Memory per allocated GPU when the job does not say, MiB; 0 = no limit."),
    mem("DefMemPerNode", nullptr, "Memory per node when the job does not say, MiB; 0 = no limit."),
    list("DependencyParameters", nullptr, "disable_remote_singleton, kill_invalid_depend, max_depend_depth=."),
    yesno("DisableRootJobs", "No", "Refuse jobs of user root."),
    seconds("EioTimeout", "60", "How long srun waits for a step's output to close after its tasks ended.").not_yet("this timeout"),
    one_of("EnforcePartLimits", "ALL|ANY|NO|YES", "NO",
           "Refuse at submission what exceeds the limits of all, or of every one, of the partitions it names.")
        .strict(),
    path("Epilog", nullptr, "Programs run as root on every node of a job when it ends.").repeat(),
    row(KeyType::kMicroseconds, "EpilogMsgTime", "2000", "Time the controller takes for one end-of-epilog message.")
        .max(1000000)
        .not_yet("spreading of epilog messages"),
    path("EpilogSlurmctld", nullptr, "Programs run by slurmctld when a job ends.").repeat(),
    seconds("EpilogTimeout", nullptr, "Time limit of the epilog; unset: PrologEpilogTimeout."),
    number("FairShareDampeningFactor", "1", "How gently usage beyond the share lowers priority.").min(1).max(65533),
    list("FederationParameters", nullptr, "fed_display: status commands show the federation.").not_yet("federations"),
    number("FirstJobId", "1", "Number of the first job.").min(1).max(67108863).restart(),
    list("GresTypes", nullptr, "Names of the generic resources that nodes have, for example gpu,nic."),
    text("GpuFreqDef", nullptr, "GPU frequency of steps that ask for none."),
    number("GroupUpdateForce", "1", "Look up who is in the groups of reservations even if /etc/group is unchanged.").max(1),
    seconds("GroupUpdateTime", "600", "Time between two looks at who is in the groups of reservations; 0 = none but at reconfigure."),
    one_of("HashPlugin", "hash/k12|hash/sha3", "hash/k12", "Digest of messages.").not_yet("choice of the message digest"),
    seconds("HealthCheckInterval", "0", "Time between runs of HealthCheckProgram; 0 = never."),
    flags("HealthCheckNodeState", "ALLOC|ANY|CYCLE|IDLE|NONDRAINED_IDLE|MIXED|REBOOT_ONLY|START_ONLY", "ANY",
          "States in which a node runs HealthCheckProgram."),
    path("HealthCheckProgram", nullptr, "Program slurmd runs as root from time to time."),
    seconds("HealthCheckTimeout", "60", "How long HealthCheckProgram may take.").min(1).max(65535),
    text("HttpParserType", nullptr, "Parser of HTTP; there is one here.").not_yet("choice of the HTTP parser"),
};
}  // namespace

std::span<const KeyRow> global_rows_a() { return kRows; }

}  // namespace muster::config
