// Which slurmdbd serves: locks of the MariaDB server that a session holds until it ends, and the terms of those who wrote. A lock is of
// one database. Another database server knows nothing of them: see slurmdbd/daemon/turn.h. SQLite has none of this. Errors as in
// connection.h.
#pragma once

#include <cstdint>
#include <string>

#include "sql/connection.h"

namespace muster::sql {

enum class ServerLock : uint8_t {
  kPrimary,  // the primary is there
  kServing,  // held by the session that beats while its slurmdbd serves
  kWriter,   // held by the one session that may write
};

// Takes the lock for this session, at once or not at all. True if it has it.
Result<bool> take_lock(Connection& connection, ServerLock lock);
Result<> release_lock(Connection& connection, ServerLock lock);

struct LockHolder {
  int64_t session = 0;       // 0: nobody
  int64_t idle_seconds = 0;  // since its last statement; 0 while one runs
  std::string host;          // where it comes from, with its port
};
Result<LockHolder> lock_holder(Connection& connection, ServerLock lock);
// Ends a session of the same database user; what it had not committed is undone. One that is gone is no error.
Result<> end_session(Connection& connection, int64_t session);

// Each slurmdbd that begins to serve begins a term. One that comes back to its database and finds another term has been replaced meanwhile:
// what it knows is old. The tables must exist.
Result<int64_t> begin_term(Connection& connection);
Result<int64_t> current_term(Connection& connection);

}  // namespace muster::sql
