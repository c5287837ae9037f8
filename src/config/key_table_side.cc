// acct_gather.conf, burst_buffer.conf, helpers.conf, job_container.conf, mpi.conf and oci.conf.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr KeyRow acct(const KeyRow& r) { return r.of(ConfFile::kAcctGather).not_yet("acct_gather plugins"); }
constexpr KeyRow burst(const KeyRow& r) { return r.of(ConfFile::kBurstBuffer).not_yet("burst buffers"); }
constexpr KeyRow helper(const KeyRow& r) { return r.of(ConfFile::kHelpers); }
constexpr KeyRow space(const KeyRow& r) { return r.of(ConfFile::kJobContainer).in(Section::kContainer); }
constexpr KeyRow mpi(const KeyRow& r) { return r.of(ConfFile::kMpi); }
constexpr KeyRow oci(const KeyRow& r) { return r.of(ConfFile::kOci).not_yet("containers by --container"); }

constexpr KeyRow kRows[] = {
    acct(number("EnergyIPMIFrequency", "10", "Seconds between readings of the BMC.")),
    acct(yesno("EnergyIPMICalcAdjustment", "no", "Count the energy between the last reading and the end of a step.")),
    acct(text("EnergyIPMIPowerSensors", nullptr, "Sensors to add up, Node=16,19;Socket1=16 …")),
    acct(text("EnergyIPMIUsername", nullptr, "User of the BMC.")),
    acct(text("EnergyIPMIPassword", nullptr, "Password of the BMC.").hidden()),
    acct(number("EnergyIPMITimeout", "10", "Seconds a reading of the XCC may take.")),
    path("ProfileHDF5Dir", nullptr, "Directory below which nodes record profiles, shared by all of them.").of(ConfFile::kAcctGather),
    list("ProfileHDF5Default", "None", "What is profiled when the job does not say: All, None, Energy, Filesystem, Network, Task.")
        .of(ConfFile::kAcctGather),
    acct(text("ProfileInfluxDBDatabase", nullptr, "Database of the profiles.")),
    acct(list("ProfileInfluxDBDefault", "None", "What is profiled when the job does not say.")),
    acct(list("ProfileInfluxDBExtraTags", nullptr, "Further tags on every measurement.")),
    acct(list("ProfileInfluxDBFlags", nullptr, "grouped_fields: one measurement with many fields.")),
    acct(number("ProfileInfluxDBFrequency", "0", "Seconds between deliveries; 0 = one per sample.")),
    acct(text("ProfileInfluxDBHost", nullptr, "host:port of the server.")),
    acct(text("ProfileInfluxDBPass", nullptr, "Password.").hidden()),
    acct(text("ProfileInfluxDBRTPolicy", nullptr, "Retention policy.")),
    acct(text("ProfileInfluxDBUser", nullptr, "User.")),
    acct(number("ProfileInfluxDBTimeout", "10", "Seconds a request may take.")),
    acct(number("InfinibandOFEDPort", "1", "Port whose counters are read.")),
    acct(list("SysfsInterfaces", nullptr, "Interfaces whose counters are read.")),

    burst(list("AllowUsers", nullptr, "Users who may use burst buffers.")),
    burst(text("DefaultPool", nullptr, "Pool of requests that name none.")),
    burst(text("DenyUsers", nullptr, "Users who may not.")),
    burst(text("Directive", "BB_LUA", "Word after # that marks a burst buffer line of a script.")),
    burst(list("Flags", nullptr, "DisablePersistent, EmulateCray, EnablePersistent, PrivateData, TeardownFailure.")),
    burst(path("GetSysState", nullptr, "Program that tells the state.")),
    burst(path("GetSysStatus", nullptr, "Program that tells the status.")),
    burst(number("OtherTimeout", "300", "Seconds other operations may take.")),
    burst(number("PollInterval", "15", "Seconds between two looks at a busy buffer.")),
    burst(yesno("PrivateData", "no", "Users see only buffers they can use.")),
    burst(number("StageInTimeout", "86400", "Seconds stage-in may take.")),
    burst(number("StageOutTimeout", "86400", "Seconds stage-out may take.")),
    burst(number("ValidateTimeout", "5", "Seconds the check of a submission may take.")),

    helper(list("AllowUserBoot", nullptr, "Users who may change features.")),
    helper(number("BootTime", "300", "Seconds a reboot may take.").min(1)),
    helper(number("ExecTime", "10", "Seconds a helper may take.").min(1)),
    helper(list("MutuallyExclusive", nullptr, "Features that exclude each other.").repeat()),
    helper(list("Feature", nullptr, "Features a helper program changes.").in(Section::kFeature)),
    helper(path("Helper", nullptr, "The program.").in(Section::kFeature)),
    helper(list("Flags", nullptr, "rebootless: the change needs no reboot.").in(Section::kFeature)),
    helper(hosts("NodeName", nullptr, "Nodes the line is for.").in(Section::kFeature)),

    space(yesno("AutoBasePath", "no", "Make BasePath where it is missing.")),
    space(path("BasePath", nullptr, "Directory of the private directories, with %n and %h; none for no namespace.")),
    space(path("CloneNSScript", nullptr, "Script run after the namespace is made.")),
    space(path("CloneNSEpilog", nullptr, "Script run before it goes.")),
    space(list("Dirs", "/tmp,/dev/shm", "Directories that become private.")),
    space(yesno("EntireStepInNS", "no", "slurmstepd itself enters the namespace.")),
    space(path("InitScript", nullptr, "Script run before the namespace is made.")),
    space(hosts("NodeName", nullptr, "Nodes the line is for.")),
    space(yesno("Shared", "no", "Mounts made outside are seen inside.")),
    space(number("CloneNSScript_Wait", "10", "Seconds CloneNSScript may take.").min(1)),
    space(number("CloneNSEpilog_Wait", "10", "Seconds CloneNSEpilog may take.").min(1)),

    mpi(path("PMIxCliTmpDirBase", nullptr, "Directory of the tasks' temporary files.")),
    mpi(one_of("PMIxCollFence", "mixed|tree|ring", nullptr, "Kind of fence between nodes.").not_yet("a choice of fences")),
    mpi(number("PMIxDebug", "0", "1: log more.").max(1)),
    mpi(yesno("PMIxDirectConn", "yes", "Nodes talk to each other directly.").not_yet("direct connections between nodes of PMIx")),
    mpi(yesno("PMIxDirectConnEarly", "no", "Connect before the first message.").not_yet("direct connections between nodes of PMIx")),
    mpi(yesno("PMIxDirectConnUCX", "no", "Connect through UCX.").not_yet("PMIx over UCX")),
    mpi(yesno("PMIxDirectSameArch", "no", "All nodes of a job have one architecture.").not_yet("direct connections between nodes of PMIx")),
    mpi(text("PMIxEnv", nullptr, "NAME=value;… set for PMIx and the tasks.")),
    mpi(yesno("PMIxFenceBarrier", "no", "A fence is also a barrier; it always is.")),
    mpi(text("PMIxNetDevicesUCX", nullptr, "Devices for UCX.").not_yet("PMIx over UCX")),
    mpi(yesno("PMIxShareServerTopology", "no", "Clients share the server's view of the node.")),
    mpi(number("PMIxTimeout", "300", "Seconds hosts may take to talk to each other.")),
    mpi(list("PMIxTlsUCX", nullptr, "Transports for UCX.").not_yet("PMIx over UCX")),

    oci(text("ContainerPath", nullptr, "Pattern of the spool directory of a step.")),
    oci(text("CreateEnvFile", "disabled", "Write the environment to a file: null, newline or disabled.")),
    oci(list("DebugFlags", nullptr, "DebugFlags during container work.")),
    oci(yesno("DisableCleanup", "no", "Leave the generated files.")),
    oci(list("DisableHooks", nullptr, "Kinds of hooks to skip.")),
    oci(text("EnvExclude", nullptr, "Variables that do not go in, as a regular expression.")),
    oci(path("MountSpoolDir", nullptr, "Where ContainerPath appears inside.")),
    oci(text("RunTimeEnvExclude", nullptr, "Variables the runtime does not see.")),
    oci(text("FileDebug", nullptr, "Log level of files during container work.")),
    oci(yesno("IgnoreFileConfigJson", "no", "Do without config.json.")),
    oci(text("RunTimeCreate", nullptr, "Command pattern: create.")),
    oci(text("RunTimeDelete", nullptr, "Command pattern: delete.")),
    oci(text("RunTimeKill", nullptr, "Command pattern: kill.")),
    oci(text("RunTimeQuery", nullptr, "Command pattern: query.")),
    oci(text("RunTimeRun", nullptr, "Command pattern: run.")),
    oci(text("RunTimeStart", nullptr, "Command pattern: start.")),
    oci(path("SrunPath", nullptr, "Where srun is.")),
    oci(text("SrunArgs", nullptr, "Further arguments for srun.").repeat()),
    oci(text("StdIODebug", nullptr, "Log level of standard error during container work.")),
    oci(text("SyslogDebug", nullptr, "Log level of syslog during container work.")),
};
}  // namespace

std::span<const KeyRow> side_file_rows() { return kRows; }

}  // namespace muster::config
