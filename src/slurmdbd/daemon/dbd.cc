#include "slurmdbd/daemon/dbd.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/plain_text.h"
#include "base/version.h"
#include "config/auth_type.h"
#include "net/daemon_signals.h"
#include "net/shares.h"
#include "os/daemonize.h"
#include "os/files.h"
#include "os/limits.h"
#include "os/log.h"
#include "os/service_manager.h"
#include "site/conf_files.h"
#include "site/guard.h"
#include "site/programs.h"
#include "site/run_as.h"
#include "site/trust.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/daemon/arguments.h"
#include "slurmdbd/daemon/database.h"
#include "slurmdbd/daemon/debug_log.h"
#include "slurmdbd/daemon/entity_rows.h"
#include "slurmdbd/daemon/log_options.h"
#include "slurmdbd/daemon/service.h"
#include "slurmdbd/daemon/turn.h"
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

// Whenever the file is read and taken: which words of it are left out, and what was probably meant.
void tell(os::Log& log, const std::vector<config::ConfigNotice>& notices) {
  for (const config::ConfigNotice& n : notices) log.info("{}", n.text());
}

std::string own_hostname() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Where the backup is to listen: DbdAddr is the primary's.
std::string listens_at(const Settings& s) {
  const std::string anywhere = s.communication.has("DisableIPv4") ? "::" : "*";
  if (!is_backup(s, own_hostname())) return s.address.empty() ? anywhere : s.address;
  in6_addr any;
  const bool number = ::inet_pton(AF_INET, s.backup_host.c_str(), &any) == 1 || ::inet_pton(AF_INET6, s.backup_host.c_str(), &any) == 1;
  return number ? s.backup_host : anywhere;
}

// Ours, and the variables.
std::vector<std::string> program_environment(std::vector<std::string> variables) {
  std::ranges::move(site::own_environment(), std::back_inserter(variables));
  return variables;
}

// One term of serving.
class Dbd {
 public:
  Dbd(os::Log& log, std::string conf_path, Arguments arguments, const Database& database, Turn* turn)
      : log_(log), conf_path_(std::move(conf_path)), arguments_(std::move(arguments)), database_(database), turn_(turn) {}

  Result<> start(Settings settings, Uid slurm_user, std::optional<net::BoundSocket> agent) {
    settings_ = std::make_shared<const Settings>(std::move(settings));
    debug_.set(settings_->debug_flags);
    const std::optional<sql::MariaDbOptions> writes = turn_ ? std::optional(turn_->writer_options()) : std::nullopt;
    MUSTER_TRY(writer, database_.open(debug_, writes ? &*writes : nullptr));
    if (turn_) MUSTER_TRY_VOID(turn_->begin(writer->connection()));
    MUSTER_TRY(reader, database_.open(debug_));
    log_.info("accounting records are in {}", writer->connection().name());
    MUSTER_TRY(directory, load_directory(*writer, net::Loop::now()));
    Service::Ports ports;
    ports.settings = [this] { return current(); };
    ports.reconfigure = [this] { return reconfigure(); };
    ports.shutdown = [this] { timer_ = loop_.after(milliseconds(50), [this] { loop_.stop(); }); };  // the answer leaves first
    programs_.set_bound_to_us();
    loop_.on_signal(SIGCHLD, [this] { programs_.reap_ours(); });  // another thread may wait for StoragePassScript
    ports.debug = &debug_;
    ports.run_program = [this](const std::string& path, std::vector<std::string> variables, std::function<void(std::string)> over) {
      programs_.run({site::ProgramCall(path)}, program_environment(std::move(variables)), kMostOfArchiveScript, std::move(over));
    };
    service_ =
        std::make_unique<Service>(loop_, log_, slurm_user, std::move(writer), std::move(reader), std::move(directory), std::move(ports));
    return listen(slurm_user, std::move(agent));
  }

  // True: it is somebody else's turn now. False: the daemon ends.
  bool run() {
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
    beat();
    loop_.run();
    const std::shared_ptr<void> busy = turn_ ? turn_->busy() : nullptr;
    listeners_.clear();
    service_->close_all();
    service_.reset();  // finishes the writes under way
    return given_back_;
  }

 private:
  // Once a second: is it our turn still?
  void beat() {
    if (!turn_) return;
    beats_ = loop_.after(seconds(1), [this] {
      turn_->beat([this, poster = loop_.poster()](Turn::Beat state) {
        poster([this, state] {
          if (state == Turn::Beat::kOurs) return beat();
          log_.info("{}", state == Turn::Beat::kLost ? "another slurmdbd has served meanwhile: it is not our turn any more"
                                                     : "the primary slurmdbd is back: it serves from here on");
          given_back_ = true;
          loop_.stop();
        });
      });
    });
  }

  std::shared_ptr<const Settings> current() const {
    std::lock_guard lock(mutex_);
    return settings_;
  }

  Result<> reconfigure() {
    auto loaded = load(conf_path_);
    if (!loaded) return fail(Errc::kConfig, "reconfigure: the file is refused, nothing changed: " + std::string(loaded.error().message()));
    // Whatever was opened with the old values keeps them until a restart.
    auto before = current();
    Settings next = std::move(loaded->settings);
    if (next.port != before->port || next.address != before->address || next.storage != before->storage ||
        next.storage_file != before->storage_file || next.storage_database != before->storage_database ||
        next.storage_host != before->storage_host || next.storage_password_script != before->storage_password_script ||
        next.message_timeout != before->message_timeout || next.tcp_timeout != before->tcp_timeout)
      log_.info("reconfigure: DbdPort, DbdAddr, Storage…, MessageTimeout and TCPTimeout take effect when slurmdbd is restarted");
    os::LogOptions levels = log_options(next, arguments_);
    log_.set_levels(levels.file_level, levels.stderr_level, levels.syslog_level);
    debug_.set(next.debug_flags);
    tell(log_, loaded->notices);
    std::lock_guard lock(mutex_);
    settings_ = std::make_shared<const Settings>(std::move(next));
    return {};
  }

  Result<> listen(Uid slurm_user, std::optional<net::BoundSocket> agent) {
    const Settings& settings = *settings_;
    MUSTER_TRY(security,
               site::load_security(site::TrustSettings{settings.auth_type, settings.auth_socket, settings.directory}, slurm_user));
    auto accepted = [this](net::ChannelPtr channel) {
      debug_.came(channel->peer());
      service_->accept(std::move(channel));
    };
    net::Limits limits;
    if (settings.message_timeout) {
      limits.frame = limits.stall = *settings.message_timeout;
      limits.handshake = std::min(limits.handshake, *settings.message_timeout);
    }
    limits.shares = net::Shares::make(loop_, {0, slurm_user.value, ::geteuid()});
    limits.largest = [](uint16_t message) { return wire::largest_request(message, 0); };
    limits.shares->on_refused = [this](const std::string& text) { log_.error("{}", text); };
    MUSTER_TRY(listener, net::listen_tcp(loop_, listens_at(settings), settings.port, security, accepted, limits));
    listener->on_refused([this](const std::string& address, const Error& e) {
      // A port probe that connects and goes away is no error of anybody; a wrong key is.
      if (e.code == Errc::kAuthFailed) log_.error("refused {}: {}", address, e.message());
      else log_.verbose("refused {}: {}", address, e.message());
    });
    listeners_.push_back(std::move(listener));
    if (!agent) return {};
    MUSTER_TRY(local, net::listen_unix(loop_, std::move(*agent), accepted, limits));
    listeners_.push_back(std::move(local));
    return {};
  }

  os::Log& log_;
  std::string conf_path_;
  Arguments arguments_;
  const Database& database_;
  Turn* turn_;
  DebugLog debug_{log_};
  bool given_back_ = false;
  mutable std::mutex mutex_;
  std::shared_ptr<const Settings> settings_;
  net::Loop loop_;
  std::unique_ptr<net::Loop::Timer> timer_, beats_;
  site::Programs programs_{loop_, log_};
  std::unique_ptr<Service> service_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
};

Result<std::string> tables_told(const Settings& s, const Database& database) {
  if (s.storage == StorageKind::kSqlite && ::access(s.storage_file.c_str(), F_OK) != 0 && errno == ENOENT)
    return s.storage_file + ": there is no database yet; the first start makes it";
  MUSTER_TRY(connection, database.connect());
  MUSTER_TRY(version, sql::schema_version(*connection));
  if (version > sql::kSchemaVersion)
    return fail(Errc::kStateNotSaved, connection->name() + ": version of the tables: " + std::to_string(version) +
                                          "; this program knows versions up to " + std::to_string(sql::kSchemaVersion));
  if (!version) return connection->name() + ": there are no tables yet; the first start makes them";
  return connection->name() + ": version of the tables: " + std::to_string(version) + "\nslurmdbd: no conversion needed";
}

// -u: looks at the tables and makes none.
int print_version(const Settings& s, Uid slurm_user) {
  const Database database(s, slurm_user,
                          [](const std::string& text) { std::fprintf(stderr, "slurmdbd: error: %s\n", plain(text).c_str()); });
  auto told = tables_told(s, database);
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

std::optional<net::BoundSocket> bind_again(const std::string& path, os::Log& log) {
  auto bound = net::bind_agent_socket(path);
  if (bound) return std::move(*bound);
  log.info("commands of this host have no socket here, and go by way of slurmctld or with the cluster key: {}", bound.error().message());
  return std::nullopt;
}

// Serves until the daemon is told to end: at once and always where the database is a file of this host, else when it is our turn.
Result<> serve_by_turns(os::Log& log, const std::string& path, const Arguments& arguments, Settings settings, Uid slurm_user,
                        net::BoundSocket bound, const std::function<Result<>()>& tell_ready) {
  std::optional<net::BoundSocket> agent = std::move(bound);
  const std::string agent_path = agent->path;
  const Database database(settings, slurm_user, [&log](const std::string& text) { log.error("{}", text); });
  std::unique_ptr<Turn> turn;
  const bool backup = is_backup(settings, own_hostname());
  if (settings.storage == StorageKind::kMariaDb) turn = std::make_unique<Turn>(log, database.mariadb(), backup);
  else if (backup)
    return fail(Errc::kConfig, "DbdBackupHost: this host is the backup, and the database is a file: both slurmdbds need one MariaDB",
                "StorageType=accounting_storage/mysql in slurmdbd.conf");
  else if (!settings.backup_host.empty())
    log.error("DbdBackupHost: no other host can take over, for the database is a file; StorageType=accounting_storage/mysql is for two");
  for (bool again = false;; again = true) {
    if (turn) {
      Result<> ready;
      const auto waiting = [&] {
        if (!backup) return;  // the other one gives back soon
        agent.reset();        // this host's commands go to the primary
        ready = tell_ready();
      };
      MUSTER_TRY(waited, turn->wait(waiting, [&] { log.reopen(); }));
      MUSTER_TRY_VOID(std::move(ready));
      if (waited == Turn::Waited::kStop) return {};
    }
    if (again) {
      if (auto loaded = load(path)) {
        tell(log, loaded->notices);
        settings = std::move(loaded->settings);
      }
    }
    if (!agent) agent = bind_again(agent_path, log);
    net::ignore_daemon_signals();  // those of the loop that waited are back at their defaults
    std::shared_ptr<void> busy = turn ? turn->busy() : nullptr;
    Dbd dbd(log, path, arguments, database, turn.get());
    if (auto ok = dbd.start(settings, slurm_user, std::exchange(agent, std::nullopt)); !ok) {
      if (!turn || (!turn->lost() && !again)) return ok;
      log.error("this slurmdbd does not serve: {}", ok.error().message());
      busy.reset();
      turn->end();
      ::poll(nullptr, 0, 1000);
      continue;
    }
    busy.reset();
    MUSTER_TRY_VOID(tell_ready());
    if (!dbd.run()) return {};
    turn->end();
  }
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
    return print_version(settings, *slurm_user);
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
  tell(**log, loaded->notices);

  bool told = false;
  const auto tell_ready = [&]() -> Result<> {
    if (std::exchange(told, true)) return {};
    if (background) MUSTER_TRY_VOID(std::exchange(background, std::nullopt)->ready(working_directory(settings, arguments)));
    else if (arguments.chdir_to_log && ::chdir(working_directory(settings, arguments).c_str()) != 0)
      (*log)->error("cannot change to {}", working_directory(settings, arguments));
    if (auto ok = os::tell_ready(notify_socket); !ok) (*log)->error("{}", ok.error().message());
    return {};
  };
  auto ended = serve_by_turns(**log, path, arguments, settings, *slurm_user, std::move(*agent), tell_ready);
  if (!ended) {
    (*log)->fatal("{}", ended.error().message());
    return die(ended.error());
  }
  (*log)->info("slurmdbd ends");
  return 0;
}

}  // namespace muster::slurmdbd
