#include "store/sqlite_db.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace muster::store {
namespace {

bool means_no_space(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// The system's error number. SQLite does not keep it for a COMMIT (its number then is from an earlier error), so the errno of the
// latest failing system call comes first; step() has cleared errno before.
int system_error(sqlite3* db, int primary) {
  int latest = errno;
  if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN) return 0;
  return latest != 0 ? latest : sqlite3_system_errno(db);
}

}  // namespace

Error damaged(const std::string& path, std::string_view what) {
  return Error(Errc::kStateNotSaved, path + " is damaged: " + std::string(what),
               "Nothing was changed. Restore the file from a backup, or see the README of src/store for how to look "
               "into it with sqlite3.");
}

Error sqlite_error(sqlite3* db, int code) {
  int primary = code & 0xff;
  int error = system_error(db, primary);
  const char* name = sqlite3_db_filename(db, "main");
  std::string path = name != nullptr ? name : "muster.db";
  std::string words = sqlite3_errmsg(db);
  if (error != 0) words += std::string(" (") + std::strerror(error) + ")";
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) return damaged(path, words);
  if (primary == SQLITE_FULL || (primary == SQLITE_IOERR && means_no_space(error)))
    return Error(Errc::kDiskFull, std::string(errc_text(Errc::kDiskFull)) + ": " + path + ": " + words);
  return Error(Errc::kStateNotSaved, std::string(errc_text(Errc::kStateNotSaved)) + ": " + path + ": " + words);
}

Statement::~Statement() { sqlite3_finalize(s_); }

Statement& Statement::bind(int i, int64_t v) {
  MUSTER_CHECK(sqlite3_bind_int64(s_, i, v) == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_bytes(int i, std::string_view v) {
  // A null pointer would bind NULL rather than nothing.
  int rc = sqlite3_bind_blob64(s_, i, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC);
  MUSTER_CHECK(rc == SQLITE_OK);
  return *this;
}

Statement& Statement::bind_text(int i, std::string_view v) {
  int rc = sqlite3_bind_text64(s_, i, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC, SQLITE_UTF8);
  MUSTER_CHECK(rc == SQLITE_OK);
  return *this;
}

Result<bool> Statement::step() {
  errno = 0;
  int rc = sqlite3_step(s_);
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return std::unexpected(sqlite_error(sqlite3_db_handle(s_), rc));
}

int64_t Statement::number(int column) const { return sqlite3_column_int64(s_, column); }

std::string_view Statement::bytes(int column) const {
  // The pointer is asked for first: that may convert the value, which changes its length.
  auto* p = static_cast<const char*>(sqlite3_column_blob(s_, column));
  return {p, p == nullptr ? 0 : static_cast<size_t>(sqlite3_column_bytes(s_, column))};
}

void Statement::reset() { sqlite3_reset(s_); }

Result<> Statement::run() {
  for (;;) {
    Result<bool> row = step();
    if (row && *row) continue;
    reset();
    if (!row) return std::unexpected(std::move(row).error());
    return {};
  }
}

Database::~Database() { sqlite3_close_v2(db_); }

Result<Database> Database::open(const std::string& path, Access access) {
  Database database;
  // Callers serialize their calls, so SQLite's own mutex would be pure cost.
  int rc = sqlite3_open_v2(path.c_str(), &database.db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (database.db_ == nullptr) return fail(Errc::kStateNotSaved, "cannot open " + path + ": out of memory");
  if (rc != SQLITE_OK) return std::unexpected(sqlite_error(database.db_, rc));
  sqlite3_extended_result_codes(database.db_, 1);
  // An admin's sqlite3 that holds the write lock delays us, but not for ever.
  sqlite3_busy_timeout(database.db_, 2000);
  sqlite3_db_config(database.db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database.db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  if (access == Access::kReader) {
    // A read-only open cannot join a write-ahead log, so the file is opened for writing and then kept from writing.
    sqlite3_db_config(database.db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    MUSTER_TRY_VOID(database.exec("PRAGMA query_only = ON"));
  }
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* s = nullptr;
  int rc = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &s, nullptr);
  if (rc != SQLITE_OK) return std::unexpected(sqlite_error(db_, rc));
  return Statement(s);
}

Result<> Database::exec(std::string_view sql) {
  MUSTER_TRY(statement, prepare(sql));
  return statement.run();
}

Result<int64_t> Database::number(std::string_view sql) {
  MUSTER_TRY(statement, prepare(sql));
  MUSTER_TRY(row, statement.step());
  return row ? statement.number(0) : 0;
}

Result<std::string> Database::text(std::string_view sql) {
  MUSTER_TRY(statement, prepare(sql));
  MUSTER_TRY(row, statement.step());
  return row ? std::string(statement.bytes(0)) : std::string();
}

bool Database::in_transaction() const { return sqlite3_get_autocommit(db_) == 0; }
int64_t Database::rows_changed() const { return sqlite3_changes(db_); }
std::string Database::path() const { return sqlite3_db_filename(db_, "main"); }

}  // namespace muster::store
