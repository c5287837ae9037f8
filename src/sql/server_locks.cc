#include "sql/server_locks.h"

#include <array>

namespace muster::sql {
namespace {

// Names of locks are of the whole server, and at most 64 bytes long.
std::string name_of(ServerLock lock) {
  const char* what = lock == ServerLock::kPrimary ? "primary" : lock == ServerLock::kServing ? "serving" : "writer";
  return std::string("CONCAT('muster-") + what + "-', MD5(DATABASE()))";
}

Result<int64_t> number_from(Connection& connection, const std::string& question) {
  int64_t number = 0;
  MUSTER_TRY_VOID(connection.query(question, {}, [&](const Row& row) -> Result<> {
    number = row.number(0);
    return {};
  }));
  return number;
}

}  // namespace

Result<bool> take_lock(Connection& connection, ServerLock lock) {
  MUSTER_TRY(mine, number_from(connection, "SELECT IS_USED_LOCK(" + name_of(lock) + ") = CONNECTION_ID()"));
  if (mine == 1) return true;
  MUSTER_TRY(got, number_from(connection, "SELECT GET_LOCK(" + name_of(lock) + ", 0)"));
  return got == 1;
}

Result<> release_lock(Connection& connection, ServerLock lock) {
  MUSTER_TRY_VOID(number_from(connection, "SELECT RELEASE_LOCK(" + name_of(lock) + ")"));
  return {};
}

Result<LockHolder> lock_holder(Connection& connection, ServerLock lock) {
  LockHolder holder;
  MUSTER_TRY(session, number_from(connection, "SELECT IS_USED_LOCK(" + name_of(lock) + ")"));
  holder.session = session;
  if (!session) return holder;
  MUSTER_TRY_VOID(connection.query(
      "SELECT CAST(IF(command = 'Sleep', time, 0) AS SIGNED), CAST(host AS BINARY) FROM information_schema.processlist WHERE id = ?",
      std::array<Value, 1>{session}, [&](const Row& row) -> Result<> {
        holder.idle_seconds = row.number(0);
        holder.host = row.bytes(1);
        return {};
      }));
  return holder;
}

Result<> end_session(Connection& connection, int64_t session) {
  const Result<> done = connection.run("KILL CONNECTION " + std::to_string(session));
  if (done) return {};
  MUSTER_TRY(there, number_from(connection, "SELECT COUNT(*) FROM information_schema.processlist WHERE id = " + std::to_string(session)));
  return there ? done : Result<>();
}

Result<int64_t> begin_term(Connection& connection) {
  int64_t term = 0;
  MUSTER_TRY_VOID(in_transaction(connection, [&]() -> Result<> {
    MUSTER_TRY(before, current_term(connection));
    term = before + 1;
    const Value values[] = {term, Text{"term"}};
    return connection.run(before ? "UPDATE muster_meta SET value = ? WHERE name = ?" : "INSERT INTO muster_meta(value, name) VALUES(?, ?)",
                          values);
  }));
  return term;
}

Result<int64_t> current_term(Connection& connection) {
  return number_from(connection, "SELECT value FROM muster_meta WHERE name = 'term'");
}

}  // namespace muster::sql
