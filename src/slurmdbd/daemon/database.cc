#include "slurmdbd/daemon/database.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "site/conf_files.h"
#include "site/guard.h"
#include "site/programs.h"

namespace muster::slurmdbd {
namespace {

// We make the directory of the SQLite file, but not the ones above it.
Result<> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(Errc::kStateNotSaved, "cannot make " + path + ": " + std::strerror(errno),
              "StorageLoc=/PATH/FILE in slurmdbd.conf says where the database is");
}

// With a second host the program is told of the first one, and its answer is for both.
PasswordProgram program_of(const Settings& settings, Uid slurm_user) {
  PasswordProgram program;
  program.path = settings.storage_password_script;
  program.environment = {"SLURM_STORAGE_HOSTNAME=" + settings.storage_host, "SLURM_STORAGE_PORT=" + std::to_string(settings.storage_port),
                         "SLURM_STORAGE_USER=" + settings.storage_user};
  std::ranges::move(site::own_environment(), std::back_inserter(program.environment));
  program.slurm_user = slurm_user;
  program.kept = settings.token_duration;
  return program;
}

}  // namespace

Database::Database(Settings settings, Uid slurm_user, StoragePassword::Complain complain)
    : settings_(std::move(settings)), slurm_user_(slurm_user) {
  if (!settings_.storage_password_script.empty())
    password_ = std::make_shared<StoragePassword>(program_of(settings_, slurm_user_), std::move(complain));
}

sql::MariaDbOptions Database::mariadb() const {
  sql::MariaDbOptions options;
  options.host = settings_.storage_host;
  options.backup_host = settings_.storage_backup_host;
  options.port = settings_.storage_port;
  options.user = settings_.storage_user;
  options.password = settings_.storage_password;
  if (password_) options.ask_password = [password = password_](bool refused) { return password->now(refused); };
  options.database = settings_.storage_database;
  if (settings_.tcp_timeout) options.connect_seconds = static_cast<unsigned>(*settings_.tcp_timeout / seconds(1));
  auto parameter = [&](const char* name) { return std::string(settings_.storage_parameters.get(name).value_or("")); };
  options.tls_ca = parameter("SSL_CA");
  options.tls_capath = parameter("SSL_CAPATH");
  options.tls_cert = parameter("SSL_CERT");
  options.tls_key = parameter("SSL_KEY");
  options.tls_cipher = parameter("SSL_CIPHER");
  return options;
}

Result<std::unique_ptr<sql::Connection>> Database::connect() const {
  if (settings_.storage == StorageKind::kSqlite) return sql::open_sqlite(settings_.storage_file);
  return sql::open_mariadb(mariadb());
}

Result<std::unique_ptr<sql::Storage>> Database::open(sql::StatementWatch& watch, const sql::MariaDbOptions* writer) const {
  if (settings_.storage == StorageKind::kSqlite) {
    const std::string folder = site::directory_of(settings_.storage_file);
    MUSTER_TRY_VOID(make_directory(folder));
    MUSTER_TRY_VOID(site::check_folder(folder, "the folder of StorageLoc", slurm_user_));
    MUSTER_TRY_VOID(site::check_secret(settings_.storage_file, "the database", slurm_user_));
  }
  MUSTER_TRY(connection, writer ? sql::open_mariadb(*writer) : connect());
  return sql::Storage::open(sql::watched(std::move(connection), watch));
}

}  // namespace muster::slurmdbd
