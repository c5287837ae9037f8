#include "store/outbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace muster::store {
namespace {

constexpr int64_t kApplication = 0x4d755862;  // "MuXb"

// body is NULL once the document was taken; kept is 0 once its subject was forgotten.
constexpr std::string_view kTables[] = {
    "CREATE TABLE items(number INTEGER PRIMARY KEY AUTOINCREMENT, subject INTEGER NOT NULL, key BLOB NOT NULL UNIQUE, body BLOB,"
    " kept INTEGER NOT NULL DEFAULT 1)",
    "CREATE INDEX of_subject ON items(subject)",
    "CREATE INDEX waiting ON items(number) WHERE body IS NOT NULL",
    "CREATE TABLE notes(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
};

Result<> create_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(errno == ENOSPC ? Errc::kDiskFull : Errc::kStateNotSaved, "cannot open " + path + ": " + std::strerror(errno));
  ::close(fd);
  return {};
}

}  // namespace

template <class F>
Result<> Outbox::in_transaction(F&& f) {
  MUSTER_TRY_VOID(db_.exec("BEGIN IMMEDIATE"));
  Result<> done = f();
  if (done) done = db_.exec("COMMIT");
  if (!done && db_.in_transaction()) (void)db_.exec("ROLLBACK");
  return done;
}

Result<std::unique_ptr<Outbox>> Outbox::open(const std::string& path, std::string_view kind) {
  MUSTER_TRY_VOID(create_file(path));
  MUSTER_TRY(db, Database::open(path, Database::Access::kWriter));
  MUSTER_TRY(application, db.number("PRAGMA application_id"));
  MUSTER_TRY(tables, db.number("SELECT count(*) FROM sqlite_master"));
  if (application != kApplication && tables != 0) return fail(Errc::kStateNotSaved, path + " is an SQLite database of another program");
  MUSTER_TRY(mode, db.text("PRAGMA journal_mode = WAL"));
  if (mode != "wal") return fail(Errc::kStateNotSaved, path + ": this file system cannot keep SQLite's write-ahead log");
  MUSTER_TRY_VOID(db.exec("PRAGMA synchronous = FULL"));
  std::unique_ptr<Outbox> out(new Outbox(std::move(db)));
  if (tables == 0)
    MUSTER_TRY_VOID(out->in_transaction([&]() -> Result<> {
      for (std::string_view sql : kTables) MUSTER_TRY_VOID(out->db_.exec(sql));
      return out->db_.exec("PRAGMA application_id = " + std::to_string(kApplication));
    }));
  MUSTER_TRY_VOID(out->prepare(kind));
  return out;
}

Result<> Outbox::prepare(std::string_view kind) {
  const std::pair<Statement*, std::string_view> all[] = {
      {&put_, "INSERT INTO items(subject, key, body) VALUES(?, ?, ?) ON CONFLICT(key) DO NOTHING"},
      {&oldest_, "SELECT number, body FROM items WHERE body IS NOT NULL ORDER BY number LIMIT ?"},
      {&sizes_, "SELECT number, length(body) FROM items WHERE body IS NOT NULL ORDER BY number"},
      {&drop_done_, "DELETE FROM items WHERE number <= ? AND body IS NOT NULL AND kept = 0"},
      {&done_, "UPDATE items SET body = NULL WHERE number <= ? AND body IS NOT NULL"},
      {&drop_forgotten_, "DELETE FROM items WHERE subject = ? AND body IS NULL"},
      {&forget_, "UPDATE items SET kept = 0 WHERE subject = ?"},
      {&set_note_, "INSERT INTO notes(name, value) VALUES(?1, ?2) ON CONFLICT(name) DO UPDATE SET value = ?2"},
      {&note_, "SELECT value FROM notes WHERE name = ?"},
  };
  for (auto [statement, sql] : all) {
    MUSTER_TRY(prepared, db_.prepare(sql));
    *statement = std::move(prepared);
  }
  MUSTER_TRY_VOID(in_transaction([&]() -> Result<> {
    Reading reading(note_);
    MUSTER_TRY(row, note_.bind_text(1, "kind").step());
    const bool same = row && note_.bytes(0) == kind;
    note_.reset();
    if (same) return {};
    MUSTER_TRY_VOID(db_.exec("UPDATE items SET body = NULL WHERE body IS NOT NULL"));
    dropped_ = static_cast<uint64_t>(db_.rows_changed());
    MUSTER_TRY_VOID(db_.exec("DELETE FROM items WHERE kept = 0"));
    MUSTER_TRY_VOID(db_.exec("DELETE FROM notes"));
    return set_note_.bind_text(1, "kind").bind_bytes(2, kind).run();
  }));
  MUSTER_TRY(count, db_.number("SELECT count(*) FROM items WHERE body IS NOT NULL"));
  waiting_ = static_cast<size_t>(count);
  MUSTER_TRY(bytes, db_.number("SELECT total(length(body)) FROM items WHERE body IS NOT NULL"));
  bytes_ = static_cast<uint64_t>(bytes);
  return {};
}

Result<size_t> Outbox::put(std::span<const Document> documents) {
  size_t added = 0;
  uint64_t bytes = 0;
  MUSTER_TRY_VOID(in_transaction([&]() -> Result<> {
    for (const Document& d : documents) {
      MUSTER_TRY_VOID(put_.bind(1, d.subject).bind_bytes(2, d.key).bind_bytes(3, d.body).run());
      if (db_.rows_changed() == 0) continue;
      ++added;
      bytes += d.body.size();
    }
    return {};
  }));
  waiting_ += added;
  bytes_ += bytes;
  return added;
}

Result<std::vector<Outbox::Waiting>> Outbox::oldest(size_t most, size_t bytes) {
  std::vector<Waiting> out;
  size_t held = 0;
  Reading reading(oldest_);
  oldest_.bind(1, static_cast<int64_t>(most));
  while (out.empty() || held < bytes) {
    MUSTER_TRY(row, oldest_.step());
    if (!row) break;
    out.push_back({oldest_.number(0), std::string(oldest_.bytes(1))});
    held += out.back().body.size();
  }
  return out;
}

Result<> Outbox::done(int64_t number, std::string_view note) {
  size_t taken = 0;
  uint64_t bytes = 0;
  {
    Reading reading(sizes_);
    for (;;) {
      MUSTER_TRY(row, sizes_.step());
      if (!row || sizes_.number(0) > number) break;
      ++taken;
      bytes += static_cast<uint64_t>(sizes_.number(1));
    }
  }
  MUSTER_TRY_VOID(in_transaction([&]() -> Result<> {
    MUSTER_TRY_VOID(drop_done_.bind(1, number).run());
    MUSTER_TRY_VOID(done_.bind(1, number).run());
    return set_note_.bind_text(1, "sender").bind_bytes(2, note).run();
  }));
  waiting_ -= taken;
  bytes_ -= bytes;
  return {};
}

Result<size_t> Outbox::drop_excess(size_t most, uint64_t bytes) {
  size_t dropped = 0;
  int64_t last = 0;
  {
    uint64_t held = 0;
    Reading reading(sizes_);
    while (waiting_ - dropped > most || bytes_ - held > bytes) {
      MUSTER_TRY(row, sizes_.step());
      if (!row) break;
      last = sizes_.number(0);
      held += static_cast<uint64_t>(sizes_.number(1));
      ++dropped;
    }
  }
  if (dropped == 0) return dropped;
  MUSTER_TRY(sender, note());
  MUSTER_TRY_VOID(done(last, sender));
  return dropped;
}

Result<> Outbox::forget(std::span<const uint32_t> subjects) {
  return in_transaction([&]() -> Result<> {
    for (uint32_t subject : subjects) {
      MUSTER_TRY_VOID(drop_forgotten_.bind(1, subject).run());
      MUSTER_TRY_VOID(forget_.bind(1, subject).run());
    }
    return {};
  });
}

Result<> Outbox::forget_all_but(std::span<const uint32_t> subjects) {
  return in_transaction([&]() -> Result<> {
    MUSTER_TRY_VOID(db_.exec("CREATE TEMP TABLE IF NOT EXISTS there(subject INTEGER PRIMARY KEY)"));
    MUSTER_TRY_VOID(db_.exec("DELETE FROM there"));
    MUSTER_TRY(add, db_.prepare("INSERT OR IGNORE INTO there VALUES(?)"));
    for (uint32_t subject : subjects) MUSTER_TRY_VOID(add.bind(1, subject).run());
    MUSTER_TRY_VOID(db_.exec("DELETE FROM items WHERE body IS NULL AND subject NOT IN (SELECT subject FROM there)"));
    return db_.exec("UPDATE items SET kept = 0 WHERE subject NOT IN (SELECT subject FROM there)");
  });
}

Result<> Outbox::set_note(std::string_view note) { return set_note_.bind_text(1, "sender").bind_bytes(2, note).run(); }

Result<std::string> Outbox::note() {
  Reading reading(note_);
  MUSTER_TRY(row, note_.bind_text(1, "sender").step());
  return row ? std::string(note_.bytes(0)) : std::string();
}

}  // namespace muster::store
