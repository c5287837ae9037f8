// The connection to an SQLite file: write-ahead log, a sync for each commit.
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>

#include "sql/connection.h"
#include "sql/spelling.h"
#include "store/sqlite_db.h"

namespace muster::sql {
namespace {

class SqliteRow final : public Row {
 public:
  explicit SqliteRow(const store::Statement& s) : s_(s) {}
  int64_t number(int column) const override { return s_.number(column); }
  std::string_view bytes(int column) const override { return s_.bytes(column); }

 private:
  const store::Statement& s_;
};

class Sqlite final : public Connection {
 public:
  explicit Sqlite(store::Database db) : db_(std::move(db)) {}

  Result<> run(std::string_view statement, Values values) override {
    MUSTER_TRY(s, prepared(statement));
    bind(*s, values);
    return s->run();
  }

  Result<> query(std::string_view statement, Values values, const EachRow& row) override {
    MUSTER_TRY(s, prepared(statement));
    bind(*s, values);
    store::Reading reading(*s);
    while (true) {
      MUSTER_TRY(more, s->step());
      if (!more) return {};
      MUSTER_TRY_VOID(row(SqliteRow(*s)));
    }
  }

  int64_t last_id() override { return sqlite3_last_insert_rowid(db_.handle()); }

  Result<bool> has_table(std::string_view name) override {
    bool found = false;
    MUSTER_TRY_VOID(query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", std::array<Value, 1>{Text{name}},
                          [&](const Row&) -> Result<> {
                            found = true;
                            return {};
                          }));
    return found;
  }

  std::string name() const override { return db_.path(); }
  std::string spelled(std::string_view create) const override {
    return spell(create, {"INTEGER PRIMARY KEY", "TEXT NOT NULL", "BLOB NOT NULL", "", " WITHOUT ROWID"});
  }
  Result<> begin() override { return run("BEGIN IMMEDIATE", {}); }
  Result<> commit() override { return run("COMMIT", {}); }
  void rollback() override {
    if (db_.in_transaction()) (void)run("ROLLBACK", {});
  }

 private:
  static void bind(store::Statement& s, Values values) {
    int i = 0;
    for (const Value& v : values) {
      ++i;
      if (auto* n = std::get_if<int64_t>(&v)) s.bind(i, *n);
      else if (auto* t = std::get_if<Text>(&v)) s.bind_text(i, t->text);
      else s.bind_bytes(i, std::get<Bytes>(v).bytes);
    }
  }

  Result<store::Statement*> prepared(std::string_view text) {
    auto at = statements_.find(text);
    if (at != statements_.end()) return &at->second;
    if (statements_.size() >= kMaxStatements) statements_.clear();  // filters come in many shapes
    MUSTER_TRY(s, db_.prepare(text));
    return &statements_.emplace(std::string(text), std::move(s)).first->second;
  }

  static constexpr size_t kMaxStatements = 200;
  store::Database db_;  // outlives its statements
  std::map<std::string, store::Statement, std::less<>> statements_;
};

// Never opens a file that exists: closing it again would drop the locks that this process's other connections hold on it, and if
// another process then closes the file as its last user, it would take the write-ahead log away from under them.
Result<> create_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return {};
  if (fd < 0)
    return fail(errno == ENOSPC || errno == EDQUOT ? Errc::kDiskFull : Errc::kStateNotSaved,
                "cannot open " + path + ": " + std::strerror(errno));
  ::close(fd);
  return {};
}

}  // namespace

Result<std::unique_ptr<Connection>> open_sqlite(const std::string& path) {
  MUSTER_TRY_VOID(create_file(path));
  MUSTER_TRY(db, store::Database::open(path, store::Database::Access::kWriter));
  sqlite3_busy_timeout(db.handle(), 10'000);  // another connection of ours may be writing
  MUSTER_TRY(mode, db.text("PRAGMA journal_mode = WAL"));
  if (mode != "wal")
    return fail(Errc::kStateNotSaved, path + ": this file system cannot keep SQLite's write-ahead log",
                "StorageLoc must be on a local file system.");
  for (std::string_view pragma : {"PRAGMA synchronous = FULL", "PRAGMA cache_size = -65536", "PRAGMA temp_store = MEMORY"})
    MUSTER_TRY_VOID(db.exec(pragma));
  return std::unique_ptr<Connection>(std::make_unique<Sqlite>(std::move(db)));
}

}  // namespace muster::sql
