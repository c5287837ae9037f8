// slurmdbd.conf.
#include "config/key_table_parts.h"

namespace muster::config {
using namespace rows;

namespace {
constexpr KeyRow d(const KeyRow& r) { return r.of(ConfFile::kSlurmdbd); }
constexpr KeyRow archive(const char* name, const char* doc) { return d(yesno(name, "no", doc)); }
constexpr KeyRow purge(const char* name, const char* doc) { return d(row(KeyType::kPurgeAge, name, nullptr, doc)); }

constexpr KeyRow kRows[] = {
    d(yesno("AllowNoDefAcct", "no", "Users need no default account.")),
    d(yesno("AllResourcesAbsolute", "no", "Shares of licences are counts, not percentages.")),
    d(path("ArchiveDir", "/tmp", "Directory of archive files.")),
    archive("ArchiveEvents", "Archive node events when they are purged."),
    archive("ArchiveJobs", "Archive jobs when they are purged."),
    d(yesno("ArchiveJobScript", nullptr, "Archive job scripts when they are purged; unset: as ArchiveJobs.")),
    d(yesno("ArchiveJobEnv", nullptr, "Archive job environments when they are purged; unset: as ArchiveJobs.")),
    archive("ArchiveResvs", "Archive reservations when they are purged."),
    d(path("ArchiveScript", nullptr, "Program that archives instead of us.")),
    archive("ArchiveSteps", "Archive steps when they are purged."),
    archive("ArchiveSuspend", "Archive suspensions when they are purged.")
        .no_effect("suspensions are part of their job's record and go with it"),
    archive("ArchiveTXN", "Archive transactions when they are purged."),
    archive("ArchiveUsage", "Archive usage when it is purged."),
    d(list("AuthAltTypes", nullptr, "Further ways to authenticate.").not_yet("JWT")),
    d(list("AuthAltParameters", nullptr, "Their options.").not_yet("JWT")),
    d(list("AuthInfo", nullptr, "Options of AuthType.")),
    d(one_of("AuthType", "auth/munge|auth/slurm|auth/none", "auth/munge", "How callers are authenticated.").strict().restart()),
    d(seconds("CommitDelay", "0", "Seconds between commits of one controller's messages.")
          .no_effect("a message of a controller has many records and is acknowledged once it is on disk; the next ones wait together")),
    d(list("CommunicationParameters", nullptr, "Options of connections: DisableIPv4.").restart()),
    d(text("DbdAddr", nullptr, "Address of DbdHost; unset: DbdHost.").restart()),
    d(text("DbdBackupHost", nullptr, "Host of the second slurmdbd, which serves while the first is away; both on one MariaDB.").restart()),
    d(text("DbdHost", nullptr, "Host of slurmdbd; required.").restart()),
    d(row(KeyType::kPort, "DbdPort", "6819", "Port slurmdbd listens on.").restart()),
    d(list("DebugFlags", nullptr, "Subjects that are logged at DebugLevel=verbose and above.")),
    d(level("DebugLevel", "info", "How much is logged.")),
    d(level("DebugLevelSyslog", nullptr, "How much goes to syslog; unset: fatal errors, and all without a LogFile.")),
    d(text("DefaultQOS", nullptr, "QOS of new clusters.")),
    d(yesno("DisableArchiveCommands", "no", "No sacctmgr archive.")),
    d(yesno("DisableCoordDBD", "no", "Coordinators have no powers.")),
    d(yesno("DisableRollups", "no", "No roll-up of usage.")),
    d(one_of("HashPlugin", "hash/k12|hash/sha3", "hash/k12", "Digest of messages.").no_effect("the digest is that of TLS or of munge")),
    d(path("LogFile", nullptr, "Log; unset: syslog.")),
    d(text("LogTimeFormat", "iso8601_ms", "Time stamps in the log.")),
    d(number("MaxPurgeLimit", "50000", "Rows purged in one go.").min(1).max(1'000'000)),
    d(span("MaxQueryTimeRange", "INFINITE", "Longest time span of a query by ordinary users.").infinite()),
    d(seconds("MessageTimeout", "10", "How long a message may be on its way; unset: 60.").min(1).restart()),
    d(list("Parameters", nullptr, "PreserveCaseUser and PreserveCaseResource keep the case of names of users and of licences.")),
    d(path("PidFile", "/var/run/slurmdbd.pid", "Where the process id is left.")),
    d(text("PluginDir", nullptr, "Directories of third-party plugins.").no_effect("slurmdbd loads no plugins")),
    d(flags("PrivateData", "accounts|events|jobs|reservations|usage|users|none", "none", "What ordinary users do not see of others.")),
    purge("PurgeEventAfter", "Age at which node events are purged, number with hours, days or months."),
    purge("PurgeJobAfter", "Age at which jobs are purged."),
    purge("PurgeJobScriptAfter", "Age at which job scripts are purged; unset: as PurgeJobAfter."),
    purge("PurgeJobEnvAfter", "Age at which job environments are purged; unset: as PurgeJobAfter."),
    purge("PurgeResvAfter", "Age at which reservations are purged."),
    purge("PurgeStepAfter", "Age at which steps are purged."),
    purge("PurgeSuspendAfter", "Age at which suspensions are purged.")
        .no_effect("suspensions are part of their job's record and go with it"),
    purge("PurgeTXNAfter", "Age at which transactions are purged."),
    purge("PurgeUsageAfter", "Age at which usage is purged."),
    d(text("SlurmUser", "root", "User slurmdbd runs as.").restart()),
    d(text("StorageBackupHost", nullptr, "Second host of the database.")),
    d(text("StorageHost", "localhost", "Host of the database.")),
    d(text("StorageLoc", "slurm_acct_db", "Name of the database; of SQLite a path, or a file in /var/spool/slurmdbd.")),
    d(list("StorageParameters", nullptr,
           "SSL_* options of the connection; token_duration=: how long an answer of StoragePassScript is used.")),
    d(text("StoragePass", nullptr, "Password of the database.").hidden()),
    d(path("StoragePassScript", nullptr, "Program that prints the password, in place of StoragePass.").restart()),
    d(row(KeyType::kPort, "StoragePort", "3306", "Port of the database.")),
    d(one_of("StorageType", "accounting_storage/mysql|accounting_storage/sqlite", nullptr, "Kind of database; unset: SQLite.")
          .strict()
          .restart()),
    d(text("StorageUser", nullptr, "User of the database.")),
    d(seconds("TCPTimeout", "2", "How long it may take to reach the database; unset: 10.").min(1).restart()),
    d(list("TLSParameters", nullptr, "Certificates of TLSType.").not_yet("TLS with certificates")),
    d(one_of("TLSType", "tls/none|tls/s2n", nullptr, "TLS with certificates.").strict().not_yet("TLS with certificates")),
    d(yesno("TrackSlurmctldDown", "no", "What is idle of a cluster counts as down while its controller is away.")),
    d(yesno("TrackWCKey", "no", "Jobs without a workload key are of their users' default ones, and keys of jobs may be changed.")),
};
}  // namespace

std::span<const KeyRow> slurmdbd_rows() { return kRows; }

}  // namespace muster::config
