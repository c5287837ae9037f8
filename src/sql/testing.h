// For tests: a private MariaDB server in a temporary directory, and temporary directories.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "sql/connection.h"

namespace muster::sql {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/muster-sql-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string path;
};

// The mariadbd of Debian's mariadb-server-core, on a socket in its directory and without a port.
class PrivateMariaDb {
 public:
  static bool installed() { return ::access("/usr/sbin/mariadbd", X_OK) == 0; }

  // Returns false if the server did not come up, and prints why: what it wrote to its log.
  bool start() {
    std::string install =
        "mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db --datadir=" + dir_.path +
        "/data --user=$(id -un) >" + dir_.path + "/log 2>&1";
    if (std::system(install.c_str()) != 0) return said_why("mariadb-install-db failed");
    return run_server();
  }
  void stop(int signo = SIGTERM) {
    if (pid_ <= 0) return;
    ::kill(pid_, signo);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool run_server() {
    pid_ = ::fork();
    if (pid_ == 0) {
      int log = ::open((dir_.path + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(log, 1);
      ::dup2(log, 2);
      std::string data = "--datadir=" + dir_.path + "/data", socket = "--socket=" + dir_.path + "/s",
                  pid = "--pid-file=" + dir_.path + "/pid";
      std::string user = ::geteuid() == 0 ? "--user=root" : "--skip-grant-tables";
      ::execl("/usr/sbin/mariadbd", "mariadbd", "--no-defaults", "--skip-networking", data.c_str(), socket.c_str(), pid.c_str(),
              user.c_str(), nullptr);
      ::_exit(127);
    }
    // The server is up when it answers.
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) break;
      if (open_mariadb(options("mysql"))) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return said_why("mariadbd did not come up");
  }
  MariaDbOptions options(const std::string& database) const {
    MariaDbOptions o;
    o.socket = dir_.path + "/s";
    o.user = "root";
    o.database = database;
    return o;
  }
  ~PrivateMariaDb() { stop(SIGKILL); }

 private:
  bool said_why(const char* what) const {
    const std::ifstream log(dir_.path + "/log");
    std::cerr << what << ":\n" << log.rdbuf() << std::endl;
    return false;
  }

  TemporaryDirectory dir_;
  pid_t pid_ = 0;
};

}  // namespace muster::sql
