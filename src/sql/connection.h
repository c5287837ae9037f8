// Connection: one connection to an SQL database, SQLite or MariaDB, as far as accounting needs it. Statements are prepared once and
// kept. One thread uses a connection; each thread opens its own.
//
// Placeholders in statements: ? for values; {id} {name} {bytes} {end} {keyed} in CREATE TABLE for the parts that the two spell differently
// (schema.cc). Errors: kAccountingUnavailable when the database is away (the next call tries to connect again), kDiskFull,
// kStateNotSaved for the rest, with the database's own words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/result.h"

namespace muster::sql {

struct Text {  // compared byte by byte
  std::string_view text;
};
struct Bytes {
  std::string_view bytes;
};
using Value = std::variant<int64_t, Text, Bytes>;  // must outlive the call
using Values = std::span<const Value>;

class Row {  // columns count from 0; views are valid until the callback returns
 public:
  virtual ~Row() = default;
  virtual int64_t number(int column) const = 0;
  virtual std::string_view bytes(int column) const = 0;
};

using EachRow = std::function<Result<>(const Row&)>;

class Connection {
 public:
  virtual ~Connection() = default;
  virtual Result<> run(std::string_view statement, Values values = {}) = 0;
  // An error of `row` ends the query and is returned.
  virtual Result<> query(std::string_view statement, Values values, const EachRow& row) = 0;
  // The same for any number of rows, only a few of which are in memory at once: `row` may not use this connection.
  virtual Result<> scan(std::string_view statement, Values values, const EachRow& row) { return query(statement, values, row); }
  // The {id} of the row that the last INSERT made.
  virtual int64_t last_id() = 0;
  virtual Result<bool> has_table(std::string_view name) = 0;
  virtual std::string name() const = 0;                            // for messages: the file, or database and host
  virtual std::string spelled(std::string_view create) const = 0;  // with {…} replaced
  virtual Result<> begin() = 0;                                    // for writing
  virtual Result<> commit() = 0;
  virtual void rollback() = 0;

 protected:
  bool is_archiving() const { return archiving_; }

 private:
  friend class Archiving;
  bool archiving_ = false;
};

// While it lives, the connection's statements count as archiving or purging, whichever table they are about (statement_log.h).
class Archiving {
 public:
  explicit Archiving(Connection& connection) : connection_(connection), before_(std::exchange(connection.archiving_, true)) {}
  ~Archiving() { connection_.archiving_ = before_; }
  Archiving(const Archiving&) = delete;
  Archiving& operator=(const Archiving&) = delete;

 private:
  Connection& connection_;
  const bool before_;
};

// Creates the file, mode 0600, if there is none; its directory must exist.
Result<std::unique_ptr<Connection>> open_sqlite(const std::string& path);

struct MariaDbOptions {
  std::string host = "localhost", backup_host;  // "unix:/PATH" or "/PATH": a socket of this host
  uint16_t port = 3306;
  std::string socket;  // instead of host and port
  std::string user, password, database = "slurm_acct_db";
  // The password of this moment, in place of the one above; asked for each session. `refused`: the server did not take the last one. Any thread.
  std::function<Result<std::string>(bool refused)> ask_password;
  unsigned connect_seconds = 10;                                  // of each host
  unsigned answer_seconds = 60;                                   // a server that is silent for longer is away
  std::string tls_ca, tls_capath, tls_cert, tls_key, tls_cipher;  // StorageParameters=SSL_…
  // Called for each session before anything else is done with it, also when a connection was lost and is made anew; its error ends the
  // session and is returned.
  std::function<Result<>(Connection& session)> on_connected;
};
// The database is created if it does not exist and the user may create it.
Result<std::unique_ptr<Connection>> open_mariadb(const MariaDbOptions& options);

// Calls begin(), `work` and commit(), or rollback() if `work` fails.
Result<> in_transaction(Connection& connection, const std::function<Result<>()>& work);

}  // namespace muster::sql
