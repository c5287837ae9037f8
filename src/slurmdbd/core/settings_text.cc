#include "slurmdbd/core/settings_text.h"

#include "base/time.h"

namespace muster::slurmdbd {
namespace {

std::string words(const config::OptionList& list) {
  std::string out;
  for (const auto& [name, value] : list.items()) out += (out.empty() ? "" : ",") + name + (value.empty() ? "" : "=" + value);
  return out;
}

std::string seconds_text(Duration time) { return std::to_string(time / seconds(1)) + " sec"; }

}  // namespace

std::string settings_text(const Settings& settings, Uid slurm_user) {
  std::string out;
  const bool is_file = settings.storage == StorageKind::kSqlite;
  auto line = [&](const char* key, const std::string& value) { out += std::string(key) + "=" + value + "\n"; };
  line("ArchiveDir", settings.archive.directory);
  for (const RecordKindRow& row : record_kinds()) line(row.archive_key, archived(settings.archive, row) ? "Yes" : "No");
  line("ArchiveScript", settings.archive.script);
  line("CommunicationParameters", words(settings.communication));
  line("DbdAddr", settings.address.empty() ? settings.host : settings.address);
  line("DbdBackupHost", settings.backup_host);
  line("DbdHost", settings.host);
  line("DbdPort", std::to_string(settings.port));
  line("DebugFlags", words(settings.debug_flags));
  line("DebugLevel", settings.debug_level);
  line("DebugLevelSyslog", settings.debug_level_syslog);
  line("LogFile", settings.log_file);
  line("MaxQueryTimeRange", settings.longest_query ? format_span_full(*settings.longest_query) : "UNLIMITED");
  if (settings.message_timeout) line("MessageTimeout", seconds_text(*settings.message_timeout));
  line("PidFile", settings.pid_file);
  line("SlurmUser", settings.slurm_user + "(" + std::to_string(slurm_user.value) + ")");
  line("StorageBackupHost", is_file ? "" : settings.storage_backup_host);
  line("StorageHost", is_file ? "" : settings.storage_host);
  line("StorageLoc", is_file ? settings.storage_file : settings.storage_database);
  line("StoragePassScript", settings.storage_password_script);
  line("StoragePort", is_file ? "" : std::to_string(settings.storage_port));
  line("StorageType", is_file ? "accounting_storage/sqlite" : "accounting_storage/mysql");
  line("StorageUser", settings.storage_user);
  if (settings.tcp_timeout) line("TCPTimeout", seconds_text(*settings.tcp_timeout));
  line("TrackSlurmctldDown", settings.tracks_controllers ? "Yes" : "No");
  line("TrackWCKey", settings.tracks_wckeys ? "Yes" : "No");
  return out;
}

}  // namespace muster::slurmdbd
