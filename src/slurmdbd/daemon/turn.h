// Turn: which of two slurmdbds on one MariaDB database serves (DbdHost, DbdBackupHost). slurmdbd.conf(5).
//
// The database decides, for both need it anyway; they never speak with each other. Each has a session there that asks something every second
// (its beat). Three locks of the database server (sql/server_locks.h) belong to sessions:
//   primary   the beat of the primary, as long as it runs
//   serving   the beat of the one that serves
//   writer    the session that writes, of the one that serves
// The primary serves when nobody else has serving and writer. The backup serves when all three are free at two looks one after the other,
// and gives back once the primary's lock is taken. A session that has not beaten for kSilence belongs to a slurmdbd that hangs or whose host is
// gone: who waits ends it, and the database undoes what it had not committed.
//
// Two can never write at once: every statement that writes is of the session that has the writer lock, and such a session cannot begin
// without the lock. One that comes back after its session was lost must find the term that it began:
// another term means that somebody else has served, so what it knows of accounts is old, and it waits for its turn anew. Nothing is lost
// or written twice by a change of turns: slurmctld sends again what was not acknowledged, and a record that comes twice changes nothing.
//
// Where StorageBackupHost is a second database server, its locks are its own: that the two servers have the same data, and that all
// slurmdbds use the same one, is the matter of that solution, as slurmdbd.conf(5) says.
//
// Without DbdBackupHost the same holds for any two that are started on one database. Errors: those of the database.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "net/query_thread.h"
#include "os/log.h"
#include "sql/server_locks.h"

namespace muster::slurmdbd {

class Turn {
 public:
  static constexpr int64_t kSilence = 10;  // seconds

  Turn(os::Log& log, sql::MariaDbOptions database, bool is_backup) : log_(log), database_(std::move(database)), is_backup_(is_backup) {}

  enum class Waited : uint8_t { kServe, kStop };
  // Returns when it is our turn, or after a signal that ends the daemon. `waiting` is called once it is clear that somebody else serves, each
  // time that this begins. An error at the first look of all is returned; later ones are logged and waited for.
  Result<Waited> wait(const std::function<void()>& waiting, const std::function<void()>& reopen_log);

  // How to open the session that writes. It begins only with the writer lock and in the term that begin() began.
  sql::MariaDbOptions writer_options();
  Result<> begin(sql::Connection& writer);  // the tables exist
  // The session that writes could not begin: somebody else has the lock, or has had it. Any thread.
  bool lost() const { return lost_; }

  enum class Beat : uint8_t { kOurs, kGiveBack, kLost };
  // One beat, on a thread of its own; `then` is called there.
  void beat(std::function<void(Beat)> then);
  // Beats by itself while the handle lives: for work that keeps the daemon from beating and may take long (an upgrade of the tables, the end
  // of a purge). Whoever holds it has something to do; a daemon that merely hangs holds none.
  std::shared_ptr<void> busy();
  // Our turn is over: the session that writes is closed already.
  void end();

 private:
  Result<bool> look();
  Result<sql::Connection*> session();
  Result<Beat> beat_now();
  Result<bool> is_free(sql::ServerLock lock);
  Result<> end_lone_writer();

  os::Log& log_;
  sql::MariaDbOptions database_;
  const bool is_backup_;
  std::unique_ptr<sql::Connection> session_;  // the beat
  bool serving_ = false;                      // it has that lock, or must get it again
  bool looked_ = false;                       // at least once
  int free_looks_ = 0, lone_looks_ = 0;
  int64_t waits_for_ = 0;  // the session that was told of
  std::atomic<int64_t> term_{0};
  std::atomic<bool> lost_{false};
  net::QueryThread thread_;  // destroyed first
};

}  // namespace muster::slurmdbd
