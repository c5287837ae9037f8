// Keys and words of older releases. Sites carry them along for years, so they are taken with a notice.
#include "base/text.h"
#include "config/key_table.h"

namespace muster::config {
namespace {

struct Row {
  ConfFile file;
  RetiredKey key;
};

constexpr Row slurm(const char* name, const char* advice = "") { return {ConfFile::kSlurm, {name, Section::kGlobal, advice}}; }
constexpr Row cgroup(const char* name, const char* advice) { return {ConfFile::kCgroup, {name, Section::kGlobal, advice}}; }
constexpr Row slurmdbd(const char* name, const char* advice) { return {ConfFile::kSlurmdbd, {name, Section::kGlobal, advice}}; }

constexpr const char* kDbdConf = "the database is named in slurmdbd.conf";
constexpr const char* kKernelMemory = "kernel memory counts as memory of the job";

constexpr Row kKeys[] = {
    slurm("AccountingStorageLoc", kDbdConf),
    slurm("AccountingStorageUser", kDbdConf),
    slurm("AccountingStoreJobComment", "write AccountingStoreFlags=job_comment"),
    slurm("AcctGatherInfinibandType", "write AcctGatherInterconnectType"),
    // BackupAddr, BackupController, ControlAddr and ControlMachine are retired only beside SlurmctldHost: without it they count
    // (slurm_hosts.cc).
    slurm("BackupAddr", "write a second SlurmctldHost=name(address) line"),
    slurm("BackupController", "write a second SlurmctldHost= line"),
    slurm("CacheGroups", "use GroupUpdateForce and GroupUpdateTime"),
    slurm("CheckpointType"),
    slurm("ControlAddr", "write SlurmctldHost=name(address)"),
    slurm("ControlMachine", "write SlurmctldHost"),
    slurm("CoreSpecPlugin"),
    slurm("CryptoType", "write CredType"),
    slurm("DefaultStorageHost", "write AccountingStorageHost"),
    slurm("DefaultStorageLoc", kDbdConf),
    slurm("DefaultStoragePass", "write AccountingStoragePass"),
    slurm("DefaultStoragePort", "write AccountingStoragePort"),
    slurm("DefaultStorageType", "write AccountingStorageType"),
    slurm("DefaultStorageUser", kDbdConf),
    slurm("DynAllocPort"),
    slurm("ExtSensorsFreq"),
    slurm("ExtSensorsType"),
    slurm("FastSchedule", "2 is now SlurmdParameters=config_overrides"),
    slurm("GetEnvTimeout"),
    slurm("JobCheckpointDir"),
    slurm("JobCredentialPrivateKey", "use CredType"),
    slurm("JobCredentialPublicCertificate", "use CredType"),
    slurm("KeepAliveTime", "write CommunicationParameters=keepalivetime="),
    slurm("LaunchType"),
    slurm("LayoutsType"),
    slurm("Layouts"),
    slurm("MemLimitEnforce", "write JobAcctGatherParams=OverMemoryKill"),
    slurm("MsgAggregationParams"),
    slurm("PowerParameters"),
    slurm("PowerPlugin"),
    slurm("ResumeFailProg", "write ResumeFailProgram"),
    slurm("RoutePlugin", "use TopologyParam=RouteTree or RoutePart"),
    slurm("SallocDefaultCommand", "write LaunchParameters=use_interactive_step"),
    slurm("SchedulerAuth"),
    slurm("SchedulerPort"),
    slurm("SchedulerRootFilter"),
    slurm("SlurmctldPlugstack"),
    slurm("SlurmdPlugstack"),
    slurm("SrunIoTimeout"),
    slurm("TaskPluginParams", "write TaskPluginParam"),
    slurm("UseSPANK", "plugstack.conf alone says which plugins there are"),
    cgroup("AllowedDevicesFile", "a job gets the devices of its gres.conf lines; all others that gres.conf names are closed to it"),
    cgroup("AllowedKmemSpace", kKernelMemory),
    cgroup("CgroupAutomount", "the cgroup file system is mounted by systemd"),
    cgroup("CgroupReleaseAgentDir", "slurmstepd removes its cgroups itself"),
    cgroup("ConstrainKmemSpace", kKernelMemory),
    cgroup("MaxKmemPercent", kKernelMemory),
    cgroup("MinKmemSpace", kKernelMemory),
    cgroup("TaskAffinity", "write TaskPlugin=task/affinity,task/cgroup in slurm.conf"),
    slurmdbd("ArchiveAge", "write the Purge...After keys"),
    slurmdbd("DefaultStorageType", "write StorageType"),
    slurmdbd("JobPurge", "write PurgeJobAfter"),
    slurmdbd("StepPurge", "write PurgeStepAfter"),
};

constexpr const char* kNoTicket = "fair share is that of the fair tree";

constexpr RetiredWord kWords[] = {
    {"CredType", "crypto/munge", "cred/munge", "write cred/munge"},
    {"CredType", "crypto/openssl", "", "write CredType=cred/munge or cred/slurm"},
    {"JobAcctGatherParams", "NoShare", "NoShared", "write NoShared"},
    {"NamespaceType", "job_container/tmpfs", "namespace/tmpfs", "write namespace/tmpfs"},
    {"NamespaceType", "job_container/none", "namespace/none", "write namespace/none"},
    {"PriorityFlags", "FAIR_TREE", "", "it is how fair share is reckoned unless NO_FAIR_TREE is given"},
    {"PriorityFlags", "LEVEL_BASED", "", kNoTicket},
    {"PriorityFlags", "TICKET_BASED", "", kNoTicket},
    {"PrivateData", "cloud", "", "nodes of a cloud that are powered down are shown in any case"},
    {"SelectType", "select/cons_res", "select/cons_tres", "select/cons_tres does all that select/cons_res did; write that"},
    {"SelectType", "select/cray_aries", "select/cons_tres", "plugins for Cray systems are gone; write select/cons_tres"},
    {"SelectType", "select/serial", "select/cons_tres", "write select/cons_tres"},
    {"SelectTypeParameters", "CR_ALLOCATE_FULL_SOCKET", "", "CR_Socket does so by itself"},
    {"SelectTypeParameters", "OTHER_CONS_RES", "", "it was for select/cray"},
    {"SelectTypeParameters", "OTHER_CONS_TRES", "", "it was for select/cray"},
    {"SelectTypeParameters", "NHC_ABSOLUTELY_NO", "", "it was for select/cray"},
    {"SelectTypeParameters", "NHC_NO_STEPS", "", "it was for select/cray"},
    {"SelectTypeParameters", "NHC_NO", "", "it was for select/cray"},
    {"TaskPluginParam", "Boards", "", "bind to sockets"},
    {"TaskPluginParam", "Cpusets", "", "task/cgroup keeps tasks on their CPUs"},
    {"TaskPluginParam", "Sched", "", "CPUs are bound with sched_setaffinity in any case"},
};

}  // namespace

const RetiredKey* find_retired(ConfFile file, Section section, std::string_view key) {
  for (const Row& r : kKeys)
    if (r.file == file && r.key.section == section && iequals(r.key.name, key)) return &r.key;
  return nullptr;
}

const RetiredWord* find_retired_word(const KeyRow& row, std::string_view word) {
  for (const RetiredWord& w : kWords)
    if (row.file == ConfFile::kSlurm && iequals(w.key, row.name) && iequals(w.word, word)) return &w;
  return nullptr;
}

}  // namespace muster::config
