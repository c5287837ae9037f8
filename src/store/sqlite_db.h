// A thin layer over SQLite: connection, prepared statement, and the translation of its errors into ours. For store/ and sql/. No SQL of
// the log lives here.
//
// Errors: kDiskFull for a full disk, quota or file size limit; kStateNotSaved otherwise, with the file's name, what was being done, and
// the words of SQLite and of the system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster::store {

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* s) : s_(s) {}
  Statement(Statement&& o) noexcept : s_(std::exchange(o.s_, nullptr)) {}
  Statement& operator=(Statement&& o) noexcept {
    std::swap(s_, o.s_);
    return *this;
  }
  ~Statement();

  // Parameters count from 1. Bytes and text must outlive run()/the last step(): they are not copied.
  Statement& bind(int i, int64_t v);
  Statement& bind_bytes(int i, std::string_view v);
  Statement& bind_text(int i, std::string_view v);

  // Returns whether there is a row. Columns count from 0; views are valid until the next step or reset.
  Result<bool> step();
  int64_t number(int column) const;
  std::string_view bytes(int column) const;

  void reset();
  // Steps to the end and resets; for statements whose rows do not matter.
  Result<> run();

 private:
  sqlite3_stmt* s_ = nullptr;
};

// Resets the statement when the reading function ends, however it ends: an open read pins the write-ahead log.
class Reading {
 public:
  explicit Reading(Statement& s) : s_(s) {}
  ~Reading() { s_.reset(); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  Statement& s_;
};

class Database {
 public:
  enum class Access { kWriter, kReader };

  Database() = default;
  Database(Database&& o) noexcept : db_(std::exchange(o.db_, nullptr)) {}
  Database& operator=(Database&& o) noexcept {
    std::swap(db_, o.db_);
    return *this;
  }
  ~Database();

  // The file must exist; it may be empty.
  static Result<Database> open(const std::string& path, Access access);

  Result<Statement> prepare(std::string_view sql);
  Result<> exec(std::string_view sql);  // one statement
  Result<int64_t> number(std::string_view sql);
  Result<std::string> text(std::string_view sql);

  bool in_transaction() const;
  int64_t rows_changed() const;
  std::string path() const;
  sqlite3* handle() const { return db_; }

 private:
  sqlite3* db_ = nullptr;
};

Error sqlite_error(sqlite3* db, int code);
// "FILE is damaged: WHAT", with a hint.
Error damaged(const std::string& path, std::string_view what);

}  // namespace muster::store
