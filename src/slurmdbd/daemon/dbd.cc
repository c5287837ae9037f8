#include "slurmdbd/daemon/dbd.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/version.h"
#include "config/auth_type.h"
#include "net/daemon_signals.h"
#include "net/shares.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/log.h"
#include "os/process.h"
#include "os/service_manager.h"
#include "site/conf_files.h"
#include "site/guard.h"
#include "site/programs.h"
#include "site/run_as.h"
#include "site/trust.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/daemon/arguments.h"
#include "slurmdbd/daemon/entity_rows.h"
#include "slurmdbd/daemon/service.h"
#include "sql/schema.h"

namespace muster::slurmdbd {
namespace {

struct Loaded {
  Settings settings;
  std::vector<config::ConfigNotice> notices;
};

Result<Loaded> load(const std::string& path) {
  site::DiskFiles files;
  auto conf = config::load_simple(files, path, config::ConfFile::kSlurmdbd);
  if (!conf) return fail(Errc::kConfig, config::to_text(conf.error()));
  MUSTER_TRY(settings, make_settings(conf->conf, site::directory_of(path)));
  if (settings.auth_type.empty()) settings.auth_type = config::auth_type_if_absent(files, settings.directory);
  return Loaded{std::move(settings), std::move(conf->notices)};
}

os::LogOptions log_options(const Settings& s, const Arguments& a) {
  os::LogOptions o;
  o.program = "slurmdbd";
  o.file = s.log_file;
  int level = static_cast<int>(os::parse_log_level(s.debug_level).value_or(os::LogLevel::kInfo));
  auto wanted = static_cast<os::LogLevel>(std::clamp(level + a.verbose, 0, 9));
  o.file_level = wanted;
  if (a.foreground) o.stderr_level = wanted;
  if (auto format = os::parse_log_time_format(s.log_time_format)) o.time_format = *format;
  if (o.file.empty() && !a.foreground) o.syslog_level = wanted;
  return o;
}

// We make the directory of the SQLite file, but not the ones above it.
Result<> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return fail(Errc::kStateNotSaved, "cannot make " + path + ": " + std::strerror(errno),
              "StorageLoc=/PATH/FILE in slurmdbd.conf says where the database is");
}

Result<std::unique_ptr<sql::Connection>> connect(const Settings& settings) {
  if (settings.storage == StorageKind::kSqlite) return sql::open_sqlite(settings.storage_file);
  sql::MariaDbOptions options;
  options.host = settings.storage_host;
  options.backup_host = settings.storage_backup_host;
  if (options.host.starts_with('/')) options.socket = options.host;
  options.port = settings.storage_port;
  options.user = settings.storage_user;
  options.password = settings.storage_password;
  options.database = settings.storage_database;
  auto parameter = [&](const char* name) { return std::string(settings.storage_parameters.get(name).value_or("")); };
  options.tls_ca = parameter("SSL_CA");
  options.tls_capath = parameter("SSL_CAPATH");
  options.tls_cert = parameter("SSL_CERT");
  options.tls_key = parameter("SSL_KEY");
  options.tls_cipher = parameter("SSL_CIPHER");
  return sql::open_mariadb(options);
}

Result<std::unique_ptr<sql::Storage>> open_storage(const Settings& s, Uid slurm_user) {
  if (s.storage == StorageKind::kSqlite) {
    const std::string folder = site::directory_of(s.storage_file);
    MUSTER_TRY_VOID(make_directory(folder));
    MUSTER_TRY_VOID(site::check_folder(folder, "the folder of StorageLoc", slurm_user));
    MUSTER_TRY_VOID(site::check_secret(s.storage_file, "the database", slurm_user));
  }
  MUSTER_TRY(connection, connect(s));
  return sql::Storage::open(std::move(connection));
}

// Ours, and the variables.
std::vector<std::string> program_environment(std::vector<std::string> variables) {
  for (char** entry = ::environ; *entry; ++entry) variables.emplace_back(*entry);
  return variables;
}

class Dbd {
 public:
  Dbd(os::Log& log, std::string conf_path, Arguments arguments)
      : log_(log), conf_path_(std::move(conf_path)), arguments_(std::move(arguments)) {}

  Result<> start(Settings settings, Uid slurm_user, net::BoundSocket agent) {
    settings_ = std::make_shared<const Settings>(std::move(settings));
    MUSTER_TRY(writer, open_storage(*settings_, slurm_user));
    MUSTER_TRY(reader, open_storage(*settings_, slurm_user));
    log_.info("accounting records are in {}", writer->connection().name());
    MUSTER_TRY(directory, load_directory(*writer, net::Loop::now()));
    Service::Ports ports;
    ports.settings = [this] { return current(); };
    ports.reconfigure = [this] { return reconfigure(); };
    ports.shutdown = [this] { timer_ = loop_.after(milliseconds(50), [this] { loop_.stop(); }); };  // the answer leaves first
    programs_.set_bound_to_us();
    loop_.on_signal(SIGCHLD, [this] { on_children(); });
    ports.run_program = [this](const std::string& path, std::vector<std::string> variables, std::function<void(std::string)> over) {
      programs_.run({site::ProgramCall(path)}, program_environment(std::move(variables)), kMostOfArchiveScript, std::move(over));
    };
    service_ =
        std::make_unique<Service>(loop_, log_, slurm_user, std::move(writer), std::move(reader), std::move(directory), std::move(ports));
    return listen(slurm_user, std::move(agent));
  }

  void run() {
    auto read_again = [this] {
      log_.reopen();
      if (auto done = reconfigure(); !done) log_.error("{}", done.error().message());
    };
    net::wire_daemon_signals(loop_, {.stop =
                                         [this](int signo) {
                                           log_.info("signal {}: terminating", signo);
                                           loop_.stop();
                                         },
                                     .reload = read_again,
                                     .reopen_log = read_again,
                                     .report = [this] { log_.info("connections: {} open", service_->connections()); }});
    loop_.run();
    listeners_.clear();
    service_->close_all();
    service_.reset();  // finishes the writes under way
    log_.info("slurmdbd ends");
  }

 private:
  std::shared_ptr<const Settings> current() const {
    std::lock_guard lock(mutex_);
    return settings_;
  }

  void on_children() {
    const std::vector<os::Reaped> ended = os::reap_children();
    if (ended.size() == os::kReapedAtOnce) loop_.defer([this] { on_children(); });
    for (const os::Reaped& child : ended) programs_.reaped(child.pid, child.status.raw);
  }

  Result<> reconfigure() {
    auto loaded = load(conf_path_);
    if (!loaded) return fail(Errc::kConfig, "reconfigure: the file is refused, nothing changed: " + std::string(loaded.error().message()));
    // Whatever was opened with the old values keeps them until a restart.
    auto before = current();
    Settings next = std::move(loaded->settings);
    if (next.port != before->port || next.address != before->address || next.storage != before->storage ||
        next.storage_file != before->storage_file || next.storage_database != before->storage_database ||
        next.storage_host != before->storage_host)
      log_.info("reconfigure: DbdPort, DbdAddr and Storage… take effect when slurmdbd is restarted");
    os::LogOptions levels = log_options(next, arguments_);
    log_.set_levels(levels.file_level, levels.stderr_level, levels.syslog_level);
    std::lock_guard lock(mutex_);
    settings_ = std::make_shared<const Settings>(std::move(next));
    return {};
  }

  Result<> listen(Uid slurm_user, net::BoundSocket agent) {
    const Settings& settings = *settings_;
    MUSTER_TRY(security,
               site::load_security(site::TrustSettings{settings.auth_type, settings.auth_socket, settings.directory}, slurm_user));
    auto accepted = [this](net::ChannelPtr channel) { service_->accept(std::move(channel)); };
    net::Limits limits;
    limits.shares = net::Shares::make(loop_, {0, slurm_user.value, ::geteuid()});
    limits.largest = [](uint16_t message) { return wire::largest_request(message, 0); };
    limits.shares->on_refused = [this](const std::string& text) { log_.error("{}", text); };
    MUSTER_TRY(listener,
               net::listen_tcp(loop_, settings.address.empty() ? "*" : settings.address, settings.port, security, accepted, limits));
    listener->on_refused([this](const std::string& address, const Error& e) {
      // A port probe that connects and goes away is no error of anybody; a wrong key is.
      if (e.code == Errc::kAuthFailed) log_.error("refused {}: {}", address, e.message());
      else log_.verbose("refused {}: {}", address, e.message());
    });
    listeners_.push_back(std::move(listener));
    MUSTER_TRY(local, net::listen_unix(loop_, std::move(agent), accepted, limits));
    listeners_.push_back(std::move(local));
    return {};
  }

  os::Log& log_;
  std::string conf_path_;
  Arguments arguments_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Settings> settings_;
  net::Loop loop_;
  std::unique_ptr<net::Loop::Timer> timer_;
  site::Programs programs_{loop_, log_};
  std::unique_ptr<Service> service_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
};

Result<std::string> tables_told(const Settings& s) {
  if (s.storage == StorageKind::kSqlite && ::access(s.storage_file.c_str(), F_OK) != 0 && errno == ENOENT)
    return s.storage_file + ": there is no database yet; the first start makes it";
  MUSTER_TRY(connection, connect(s));
  MUSTER_TRY(version, sql::schema_version(*connection));
  if (version > sql::kSchemaVersion)
    return fail(Errc::kStateNotSaved, connection->name() + ": version of the tables: " + std::to_string(version) +
                                          "; this program knows versions up to " + std::to_string(sql::kSchemaVersion));
  if (!version) return connection->name() + ": there are no tables yet; the first start makes them";
  return connection->name() + ": version of the tables: " + std::to_string(version) + "\nslurmdbd: no conversion needed";
}

// -u: looks at the tables and makes none.
int print_version(const Settings& s) {
  auto told = tables_told(s);
  if (!told) {
    std::fprintf(stderr, "slurmdbd: error: %s\n", std::string(told.error().message()).c_str());
    return 1;
  }
  std::printf("slurmdbd: %s\n", told->c_str());
  return 0;
}

// The directory for core files and relative names: with -s the log's directory, or /var/tmp where that cannot be written; else /.
std::string working_directory(const Settings& s, const Arguments& a) {
  if (!a.chdir_to_log) return "/";
  std::string beside = s.log_file.empty() ? "" : site::directory_of(s.log_file);
  return !beside.empty() && ::access(beside.c_str(), W_OK) == 0 ? beside : "/var/tmp";
}

}  // namespace

int run_slurmdbd(int argc, char** argv) {
  net::ignore_daemon_signals();
  const std::string notify_socket = os::take_notify_socket();
  Arguments arguments = parse_arguments(argc, argv);
  if (arguments.exit_now >= 0) return arguments.exit_now;
  std::string path = arguments.conf_file.empty() ? site::directory_of(site::find_conf("")) + "/slurmdbd.conf" : arguments.conf_file;
  std::optional<os::Detached> background;
  auto die = [&](const Error& e) {
    std::string text = "slurmdbd: fatal: " + std::string(e.message()) + (e.hint.empty() ? "" : "\nslurmdbd: " + e.hint);
    if (background) background->failed(text);
    std::fprintf(stderr, "%s\n", text.c_str());
    return 1;
  };
  auto loaded = load(path);
  if (!loaded) return die(loaded.error());
  const Settings& settings = loaded->settings;
  auto slurm_user = site::user_of(settings.slurm_user);
  if (!slurm_user) return die(slurm_user.error());
  if (auto ok = site::check_secret_of_group(path, "slurmdbd.conf", *slurm_user); !ok) return die(ok.error());
  if (arguments.only_version) {
    if (auto ok = site::become_user(settings.slurm_user); !ok) return die(ok.error());
    return print_version(settings);
  }
  if (!arguments.foreground) {
    auto begun = os::Detached::begin();
    if (!begun) return die(begun.error());
    background = std::move(*begun);
  }
  if (arguments.nice) (void)::setpriority(PRIO_PROCESS, 0, *arguments.nice);
  [[maybe_unused]] auto files = os::raise_own_nofile();
  auto pid_file = os::PidFile::create(settings.pid_file);
  if (!pid_file) return die(pid_file.error());
  if (auto ok = pid_file->write_pid(); !ok) return die(ok.error());
  auto agent = net::bind_agent_socket(site::slurmdbd_agent_socket(settings.pid_file, settings.port));
  if (!agent) return die(agent.error());
  if (auto ok = site::become_user(settings.slurm_user); !ok) return die(ok.error());
  auto log = os::Log::open(log_options(settings, arguments));
  if (!log) return die(log.error());
  (*log)->info("slurmdbd version {} started", kVersion);
  for (const config::ConfigNotice& n : loaded->notices) (*log)->info("{}", n.text());

  Dbd dbd(**log, path, arguments);
  if (auto ok = dbd.start(settings, *slurm_user, std::move(*agent)); !ok) {
    (*log)->fatal("{}", ok.error().message());
    return die(ok.error());
  }
  if (background) {
    if (auto ok = background->ready(working_directory(settings, arguments)); !ok) return die(ok.error());
  } else if (arguments.chdir_to_log && ::chdir(working_directory(settings, arguments).c_str()) != 0) {
    (*log)->error("cannot change to {}", working_directory(settings, arguments));
  }
  if (auto ok = os::tell_ready(notify_socket); !ok) (*log)->error("{}", ok.error().message());
  dbd.run();
  return 0;
}

}  // namespace muster::slurmdbd
