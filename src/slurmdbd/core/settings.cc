#include "slurmdbd/core/settings.h"

#include "base/text.h"

namespace muster::slurmdbd {
namespace {

bool has_word(std::string_view list, std::string_view word) {
  for (std::string_view w : split(list, ','))
    if (iequals(trim(w), word)) return true;
  return false;
}

}  // namespace

Result<Settings> make_settings(const config::SimpleConf& c, const std::string& directory) {
  Settings s;
  s.directory = directory;
  s.host = c.text("DbdHost");
  if (s.host.empty()) return fail(Errc::kConfig, "DbdHost: must be given; it is the name of the host that slurmdbd runs on");
  s.address = c.text("DbdAddr");
  s.port = static_cast<uint16_t>(c.number("DbdPort", 6819));
  s.pid_file = c.text("PidFile");
  s.log_file = c.text("LogFile");
  s.log_time_format = c.text("LogTimeFormat");
  s.debug_level = c.text("DebugLevel");
  s.slurm_user = c.text("SlurmUser");
  const config::ConfigValue* auth = c.find("AuthType");
  if (auth && auth->given) s.auth_type = to_lower(auth->text);
  s.auth_socket = std::string(config::OptionList::parse(c.text("AuthInfo")).get("socket").value_or(""));
  if (iequals(c.text("StorageType"), "accounting_storage/mysql")) s.storage = StorageKind::kMariaDb;
  std::string location(c.text("StorageLoc"));
  s.storage_file = location;
  if (!location.starts_with('/')) s.storage_file.insert(0, std::string(kDefaultStorageDirectory) + "/").append(".db");
  s.storage_database = location;
  s.storage_host = c.text("StorageHost");
  s.storage_backup_host = c.text("StorageBackupHost");
  s.storage_port = static_cast<uint16_t>(c.number("StoragePort", 3306));
  s.storage_user = c.text("StorageUser");
  s.storage_password = c.text("StoragePass");
  s.storage_parameters = config::OptionList::parse(c.text("StorageParameters"));
  std::string_view hidden = c.text("PrivateData");
  s.private_jobs = has_word(hidden, "jobs");
  s.private_users = has_word(hidden, "users");
  s.private_accounts = has_word(hidden, "accounts");
  s.private_usage = has_word(hidden, "usage");
  s.private_events = has_word(hidden, "events");
  s.private_reservations = has_word(hidden, "reservations");
  s.rolls_up = !c.yes("DisableRollups");
  s.preserve_case = has_word(c.text("Parameters"), "PreserveCaseUser");
  s.preserve_case_resource = has_word(c.text("Parameters"), "PreserveCaseResource");
  s.all_resources_absolute = c.yes("AllResourcesAbsolute");
  s.no_default_account_needed = c.yes("AllowNoDefAcct");
  s.coordinators = !c.yes("DisableCoordDBD");
  s.default_qos = to_lower(c.text("DefaultQOS"));
  return s;
}

}  // namespace muster::slurmdbd
