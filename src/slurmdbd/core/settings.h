// What slurmdbd needs of slurmdbd.conf, ready to use. Pure: the caller looks up who SlurmUser is. slurmdbd.conf(5).
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "config/load.h"
#include "slurmdbd/core/purge.h"

namespace muster::slurmdbd {

enum class StorageKind : uint8_t { kSqlite, kMariaDb };

// The directory of the SQLite file when StorageLoc is not a path.
inline constexpr char kDefaultStorageDirectory[] = "/var/spool/slurmdbd";

struct Settings {
  std::string directory;      // of slurmdbd.conf: the cluster key is looked for there
  std::string host, address;  // DbdHost, DbdAddr
  std::string backup_host;    // DbdBackupHost
  uint16_t port = 6819;
  std::string pid_file, log_file, log_time_format, debug_level, debug_level_syslog, slurm_user;
  config::OptionList debug_flags;
  std::string auth_type, auth_socket;  // auth_type "": not given
  StorageKind storage = StorageKind::kSqlite;
  std::string storage_file;  // of SQLite
  std::string storage_host, storage_backup_host, storage_user, storage_password, storage_database;
  std::string storage_password_script;   // StoragePassScript; the password is not used then
  Duration token_duration = minutes(5);  // how long its answer is
  uint16_t storage_port = 3306;
  config::OptionList storage_parameters;
  // How long a message may be on its way, and how long it may take to reach the database; unset: our own, longer times.
  std::optional<Duration> message_timeout, tcp_timeout;
  config::OptionList communication;  // CommunicationParameters
  bool private_jobs = false, private_users = false, private_accounts = false;
  bool private_usage = false, private_events = false, private_reservations = false;
  bool rolls_up = true;             // not DisableRollups
  bool tracks_controllers = false;  // TrackSlurmctldDown
  bool tracks_wckeys = false;       // TrackWCKey
  PurgeRules purge;
  ArchiveRules archive;
  std::optional<Duration> longest_query;  // MaxQueryTimeRange; nullopt: any
  bool preserve_case_resource = false, all_resources_absolute = false;
  bool preserve_case = false, no_default_account_needed = false, coordinators = true;
  std::string default_qos;
};

// Error: kConfig, one line that names the key and the rule.
Result<Settings> make_settings(const config::SimpleConf& conf, const std::string& directory);

// The words of PrivateData that are in force: "jobs,users"; "none".
std::string private_data(const Settings& settings);

// Whether a slurmdbd on the host of this name is the backup: its whole name or its short one is DbdBackupHost, and not DbdHost.
bool is_backup(const Settings& settings, std::string_view hostname);

}  // namespace muster::slurmdbd
