#include "store/sqlite_schema.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "store/directory_lock.h"

namespace muster::store {
namespace {

// No index but the primary keys: an append touches the last leaf of one tree.
constexpr std::string_view kTables[] = {
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE batches(first INTEGER PRIMARY KEY, count INTEGER NOT NULL, term INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL, records BLOB NOT NULL)",
    "CREATE TABLE snapshots(id INTEGER PRIMARY KEY, position INTEGER NOT NULL, term INTEGER NOT NULL,"
    " chunks INTEGER NOT NULL)",
    "CREATE TABLE snapshot_chunks(snapshot INTEGER NOT NULL, seq INTEGER NOT NULL, checksum INTEGER NOT NULL,"
    " bytes BLOB NOT NULL, UNIQUE(snapshot, seq))",
    "CREATE TABLE blobs(id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, bytes BLOB NOT NULL)",
    "INSERT INTO meta VALUES('term', 0), ('trimmed', 0), ('repairs', 0)",
};

Result<> create_tables(Database& db) {
  MUSTER_TRY_VOID(db.exec("BEGIN IMMEDIATE"));
  for (std::string_view sql : kTables) MUSTER_TRY_VOID(db.exec(sql));
  MUSTER_TRY_VOID(db.exec("PRAGMA application_id = " + std::to_string(kApplicationId)));
  MUSTER_TRY_VOID(db.exec("PRAGMA user_version = " + std::to_string(kSchemaVersion)));
  return db.exec("COMMIT");
}

// Returns true for an empty file, which may become ours.
Result<bool> check_identity(Database& db) {
  MUSTER_TRY(application, db.number("PRAGMA application_id"));
  MUSTER_TRY(version, db.number("PRAGMA user_version"));
  MUSTER_TRY(tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (application == 0 && version == 0 && tables == 0) return true;
  if (application != kApplicationId)
    return fail(Errc::kStateNotSaved, db.path() + " is an SQLite database of another program",
                "Move it away or give the controller a StateSaveLocation of its own.");
  if (version > kSchemaVersion)
    return fail(Errc::kStateNotSaved,
                db.path() + " was written by a newer Muster: it has schema version " + std::to_string(version) +
                    ", this program knows versions up to " + std::to_string(kSchemaVersion),
                "Nothing was changed. Start the newer program again, or restore a backup from before the upgrade.");
  if (version < 1) return std::unexpected(damaged(db.path(), "schema version " + std::to_string(version)));
  return false;
}

Result<> use_write_ahead_log(Database& db) {
  MUSTER_TRY(mode, db.text("PRAGMA journal_mode = WAL"));
  if (mode == "wal") return {};
  return fail(Errc::kStateNotSaved, db.path() + ": this file system cannot keep SQLite's write-ahead log",
              "StateSaveLocation must be on a local file system.");
}

Result<> create_file(const std::string& path) {
  // The mode is not left to SQLite, which would take it from the umask; its -wal and -shm files copy this mode.
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) {
    close(fd);
    return {};
  }
  Errc code = errno == ENOSPC || errno == EDQUOT ? Errc::kDiskFull : Errc::kStateNotSaved;
  return fail(code, "cannot open " + path + ": " + std::strerror(errno));
}

}  // namespace

std::string database_path(const std::string& directory) { return directory + "/muster.db"; }

Result<Database> open_for_writing(const std::string& directory) {
  std::string path = database_path(directory);
  MUSTER_TRY_VOID(create_file(path));
  MUSTER_TRY(db, Database::open(path, Database::Access::kWriter));
  // The file is checked before anything is written to it.
  MUSTER_TRY(fresh, check_identity(db));
  if (fresh) MUSTER_TRY_VOID(db.exec("PRAGMA page_size = 4096"));
  MUSTER_TRY_VOID(use_write_ahead_log(db));
  for (std::string_view pragma : {
           "PRAGMA synchronous = FULL",
           // KiB. The log grows at its end and is read once, at the start: more pages would only be kept.
           "PRAGMA cache_size = -4096",
           "PRAGMA temp_store = MEMORY",
           "PRAGMA secure_delete = OFF",  // Debian's default would overwrite every trimmed record
           // The commit that fills this many pages also copies them into the file. Few pages keep that commit close to the others in
           // time; the price is a tenth of the throughput of large batches (README.md has the measurement).
           "PRAGMA wal_autocheckpoint = 250",
           // After a large snapshot the write-ahead log shrinks to this; below it the space is reused and not freed, because
           // overwriting syncs faster than growing.
           "PRAGMA journal_size_limit = 67108864",
       })
    MUSTER_TRY_VOID(db.exec(pragma));
  if (fresh) {
    MUSTER_TRY_VOID(create_tables(db));
    MUSTER_TRY_VOID(sync_directory(directory));
  }
  return db;
}

Result<Database> open_for_reading(const std::string& directory) {
  std::string path = database_path(directory);
  MUSTER_TRY(db, Database::open(path, Database::Access::kReader));
  MUSTER_TRY(fresh, check_identity(db));
  if (fresh) return fail(Errc::kStateNotSaved, path + " holds no state yet");
  return db;
}

}  // namespace muster::store
