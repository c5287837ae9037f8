#include "slurmdbd/core/settings.h"

#include <algorithm>

#include "base/text.h"
#include "config/parameter_words.h"

namespace muster::slurmdbd {
namespace {

bool has_word(std::string_view list, std::string_view word) {
  for (std::string_view w : split(list, ','))
    if (iequals(trim(w), word)) return true;
  return false;
}

struct PrivateWord {
  std::string_view word;
  bool Settings::*is_private;
};
constexpr PrivateWord kPrivateWords[] = {
    {"accounts", &Settings::private_accounts},         {"events", &Settings::private_events}, {"jobs", &Settings::private_jobs},
    {"reservations", &Settings::private_reservations}, {"usage", &Settings::private_usage},   {"users", &Settings::private_users},
};

// Of a key whose default is not ours.
std::optional<Duration> seconds_if_given(const config::SimpleConf& conf, const char* key) {
  const config::ConfigValue* value = conf.find(key);
  if (!value || !value->given) return std::nullopt;
  return seconds(conf.number(key));
}

}  // namespace

Result<Settings> make_settings(const config::SimpleConf& conf, const std::string& directory) {
  Settings settings;
  settings.directory = directory;
  settings.host = conf.text("DbdHost");
  if (settings.host.empty()) return fail(Errc::kConfig, "DbdHost: must be given; it is the name of the host that slurmdbd runs on");
  settings.address = conf.text("DbdAddr");
  settings.backup_host = conf.text("DbdBackupHost");
  settings.port = static_cast<uint16_t>(conf.number("DbdPort", 6819));
  settings.pid_file = conf.text("PidFile");
  settings.log_file = conf.text("LogFile");
  settings.log_time_format = conf.text("LogTimeFormat");
  settings.debug_level = conf.text("DebugLevel");
  settings.debug_level_syslog = conf.text("DebugLevelSyslog");
  settings.debug_flags = config::OptionList::parse(conf.text("DebugFlags"));
  settings.slurm_user = conf.text("SlurmUser");
  const config::ConfigValue* auth = conf.find("AuthType");
  if (auth && auth->given) settings.auth_type = to_lower(auth->text);
  settings.auth_socket = std::string(config::OptionList::parse(conf.text("AuthInfo")).get("socket").value_or(""));
  if (iequals(conf.text("StorageType"), "accounting_storage/mysql")) settings.storage = StorageKind::kMariaDb;
  std::string location(conf.text("StorageLoc"));
  settings.storage_file = location;
  if (!location.starts_with('/')) settings.storage_file.insert(0, std::string(kDefaultStorageDirectory) + "/").append(".db");
  settings.storage_database = location;
  settings.storage_host = conf.text("StorageHost");
  settings.storage_backup_host = conf.text("StorageBackupHost");
  settings.storage_port = static_cast<uint16_t>(conf.number("StoragePort", 3306));
  settings.storage_user = conf.text("StorageUser");
  settings.storage_password = conf.text("StoragePass");
  settings.storage_password_script = conf.text("StoragePassScript");
  if (!settings.storage_password_script.empty() && !settings.storage_password_script.starts_with('/'))
    return fail(Errc::kConfig, "StoragePassScript=" + settings.storage_password_script + ": must be a path that begins with /");
  settings.storage_parameters = config::OptionList::parse(conf.text("StorageParameters"));
  settings.token_duration =
      seconds(std::clamp<int64_t>(settings.storage_parameters.number("token_duration", 300), 0, config::kMostTokenSeconds));
  settings.message_timeout = seconds_if_given(conf, "MessageTimeout");
  settings.tcp_timeout = seconds_if_given(conf, "TCPTimeout");
  settings.communication = config::OptionList::parse(conf.text("CommunicationParameters"));
  for (const PrivateWord& w : kPrivateWords) settings.*w.is_private = has_word(conf.text("PrivateData"), w.word);
  settings.rolls_up = !conf.yes("DisableRollups");
  settings.tracks_controllers = conf.yes("TrackSlurmctldDown");
  settings.tracks_wckeys = conf.yes("TrackWCKey");
  settings.purge = purge_rules(conf);
  settings.archive = archive_rules(conf);
  if (const auto span = parse_time_limit(conf.text("MaxQueryTimeRange")); span && span->minutes)
    settings.longest_query = minutes(*span->minutes);
  settings.preserve_case = has_word(conf.text("Parameters"), "PreserveCaseUser");
  settings.preserve_case_resource = has_word(conf.text("Parameters"), "PreserveCaseResource");
  settings.all_resources_absolute = conf.yes("AllResourcesAbsolute");
  settings.no_default_account_needed = conf.yes("AllowNoDefAcct");
  settings.coordinators = !conf.yes("DisableCoordDBD");
  settings.default_qos = to_lower(conf.text("DefaultQOS"));
  return settings;
}

std::string private_data(const Settings& settings) {
  std::vector<std::string> words;
  for (const PrivateWord& w : kPrivateWords)
    if (settings.*w.is_private) words.emplace_back(w.word);
  return words.empty() ? "none" : join(words, ",");
}

bool is_backup(const Settings& settings, std::string_view hostname) {
  // A host may be named with its domain or without, here and by itself.
  const auto brief = [](std::string_view name) { return name.substr(0, name.find('.')); };
  const auto is = [&](std::string_view name) {
    return !name.empty() && (iequals(name, hostname) || iequals(name, brief(hostname)) || iequals(brief(name), hostname));
  };
  return is(settings.backup_host) && !is(settings.host);
}

}  // namespace muster::slurmdbd
