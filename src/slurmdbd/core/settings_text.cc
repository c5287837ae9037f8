#include "slurmdbd/core/settings_text.h"

#include "base/text.h"
#include "base/time.h"

namespace muster::slurmdbd {
namespace {

std::string words(const config::OptionList& list) {
  std::string out;
  for (const auto& [name, value] : list.items()) out += (out.empty() ? "" : ",") + name + (value.empty() ? "" : "=" + value);
  return out;
}

std::string seconds_text(Duration time) { return std::to_string(time / seconds(1)) + " secs"; }

std::string yes_no(bool yes) { return yes ? "Yes" : "No"; }

// "12 months"; with a star where they are archived before they are purged.
std::string age_text(const Settings& settings, const RecordKindRow& row) {
  const std::optional<config::PurgeAge> age = age_of(settings.purge, row);
  if (!age) return "NONE";
  const char* const unit = age->unit == config::PurgeUnit::kHour ? " hours" : age->unit == config::PurgeUnit::kDay ? " days" : " months";
  return std::to_string(age->count) + unit + (archived(settings.archive, row) ? "*" : "");
}

std::string parameters_text(const Settings& settings) {
  std::vector<std::string> given;
  if (settings.preserve_case) given.emplace_back("PreserveCaseUser");
  if (settings.preserve_case_resource) given.emplace_back("PreserveCaseResource");
  return join(given, ",");
}

}  // namespace

std::string settings_text(const Settings& settings, Uid slurm_user) {
  std::string out;
  const bool is_file = settings.storage == StorageKind::kSqlite;
  auto line = [&](const char* key, const std::string& value) { out += std::string(key) + "=" + value + "\n"; };
  line("AllowNoDefAcct", yes_no(settings.no_default_account_needed));
  line("AllResourcesAbsolute", yes_no(settings.all_resources_absolute));
  line("ArchiveDir", settings.archive.directory);
  for (const RecordKindRow& row : record_kinds()) line(row.archive_key, yes_no(archived(settings.archive, row)));
  line("ArchiveScript", settings.archive.script);
  line("AuthInfo", settings.auth_socket.empty() ? "" : "socket=" + settings.auth_socket);
  line("AuthType", settings.auth_type);
  line("CommunicationParameters", words(settings.communication));
  line("DbdAddr", settings.address.empty() ? settings.host : settings.address);
  line("DbdBackupHost", settings.backup_host);
  line("DbdHost", settings.host);
  line("DbdPort", std::to_string(settings.port));
  line("DebugFlags", words(settings.debug_flags));
  line("DebugLevel", settings.debug_level);
  line("DebugLevelSyslog", settings.debug_level_syslog);
  line("DefaultQOS", settings.default_qos);
  line("DisableArchiveCommands", yes_no(!settings.archive.commands));
  line("DisableCoordDBD", yes_no(!settings.coordinators));
  line("DisableRollups", yes_no(!settings.rolls_up));
  line("LogFile", settings.log_file);
  line("LogTimeFormat", settings.log_time_format);
  line("MaxPurgeLimit", std::to_string(settings.purge.most_rows));
  line("MaxQueryTimeRange", settings.longest_query ? format_span_full(*settings.longest_query) : "UNLIMITED");
  if (settings.message_timeout) line("MessageTimeout", seconds_text(*settings.message_timeout));
  line("Parameters", parameters_text(settings));
  line("PidFile", settings.pid_file);
  line("PrivateData", private_data(settings));
  for (const RecordKindRow& row : record_kinds()) line(row.purge_key, age_text(settings, row));
  line("SlurmUser", settings.slurm_user + "(" + std::to_string(slurm_user.value) + ")");
  line("StorageBackupHost", is_file ? "" : settings.storage_backup_host);
  line("StorageHost", is_file ? "" : settings.storage_host);
  line("StorageLoc", is_file ? settings.storage_file : settings.storage_database);
  line("StorageParameters", words(settings.storage_parameters));
  line("StoragePassScript", settings.storage_password_script);
  line("StoragePort", is_file ? "" : std::to_string(settings.storage_port));
  line("StorageType", is_file ? "accounting_storage/sqlite" : "accounting_storage/mysql");
  line("StorageUser", settings.storage_user);
  if (settings.tcp_timeout) line("TCPTimeout", seconds_text(*settings.tcp_timeout));
  line("TrackSlurmctldDown", yes_no(settings.tracks_controllers));
  line("TrackWCKey", yes_no(settings.tracks_wckeys));
  return out;
}

}  // namespace muster::slurmdbd
