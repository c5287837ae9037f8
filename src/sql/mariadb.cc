// The connection to MariaDB, MySQL and servers that speak the same protocol, through libmariadb.
#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "sql/connection.h"
#include "sql/spelling.h"

namespace muster::sql {
namespace {

struct CloseHandle {
  void operator()(MYSQL* m) const { mysql_close(m); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* s) const { mysql_stmt_close(s); }
};
using Handle = std::unique_ptr<MYSQL, CloseHandle>;
using StatementHandle = std::unique_ptr<MYSQL_STMT, CloseStatement>;

bool is_away(unsigned code) {
  return code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST || code == CR_CONNECTION_ERROR || code == CR_CONN_HOST_ERROR ||
         code == CR_UNKNOWN_HOST || code == ER_SERVER_SHUTDOWN || code == ER_CONNECTION_KILLED || code == ER_CON_COUNT_ERROR;
}

Error error_of(const std::string& where, unsigned code, const char* words) {
  Errc kind = is_away(code)                                         ? Errc::kAccountingUnavailable
              : code == ER_DISK_FULL || code == ER_RECORD_FILE_FULL ? Errc::kDiskFull
              : code == ER_DUP_KEYNAME || code == ER_DUP_FIELDNAME  ? Errc::kAlreadyDone
                                                                    : Errc::kStateNotSaved;
  return Error(kind, std::string(errc_text(kind)) + ": " + where + ": " + words);
}

// The path of "unix:/PATH" or "/PATH"; "" for a host.
std::string socket_of(std::string_view host) {
  if (host.starts_with("unix:")) host.remove_prefix(5);
  return host.starts_with('/') ? std::string(host) : std::string();
}

// The columns of a result: numbers are fetched as numbers, bytes into a buffer that grows to the longest value.
class Columns final : public Row {
 public:
  explicit Columns(MYSQL_STMT* statement) {
    MYSQL_RES* meta = mysql_stmt_result_metadata(statement);
    const unsigned count = meta ? mysql_num_fields(meta) : 0;
    binds_.resize(count);
    cells_.resize(count);
    for (unsigned i = 0; i < count; ++i) {
      Cell& cell = cells_[i];
      const bool number = IS_NUM(mysql_fetch_field_direct(meta, i)->type);
      binds_[i].buffer_type = number ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_LONG_BLOB;
      if (!number) cell.bytes.resize(256);
      binds_[i].buffer = number ? static_cast<void*>(&cell.number) : cell.bytes.data();
      binds_[i].buffer_length = cell.bytes.size();
      binds_[i].length = &cell.length;
      binds_[i].is_null = &cell.null;
      binds_[i].error = &cell.cut;
    }
    if (meta) mysql_free_result(meta);
  }
  std::span<MYSQL_BIND> binds() { return binds_; }
  // Fetches again, as a whole, the values that did not fit.
  bool complete(MYSQL_STMT* s) {
    for (unsigned i = 0; i < cells_.size(); ++i) {
      Cell& cell = cells_[i];
      if (binds_[i].buffer_type == MYSQL_TYPE_LONGLONG || cell.length <= cell.bytes.size()) continue;
      cell.bytes.resize(cell.length);
      binds_[i].buffer = cell.bytes.data();
      binds_[i].buffer_length = cell.bytes.size();
      if (mysql_stmt_fetch_column(s, &binds_[i], i, 0) != 0) return false;
      regrown_ = true;
    }
    return true;
  }
  bool take_regrown() { return std::exchange(regrown_, false); }

  int64_t number(int column) const override { return cells_[static_cast<size_t>(column)].number; }
  std::string_view bytes(int column) const override {
    const Cell& cell = cells_[static_cast<size_t>(column)];
    return {cell.bytes.data(), cell.null ? 0 : cell.length};
  }

 private:
  struct Cell {
    int64_t number = 0;
    std::string bytes;
    unsigned long length = 0;
    my_bool null = 0, cut = 0;
  };
  std::vector<MYSQL_BIND> binds_;
  std::vector<Cell> cells_;
  bool regrown_ = false;
};

class MariaDb final : public Connection {
 public:
  explicit MariaDb(MariaDbOptions options) : options_(std::move(options)) {}

  Result<> connect() {
    drop();
    if (options_.ask_password) MUSTER_TRY_VOID(renew_password(false));
    Result<> done = connect_to_either();
    if (denied_ && !done && options_.ask_password) {
      const std::string before = options_.password;
      MUSTER_TRY_VOID(renew_password(true));
      if (options_.password != before) done = connect_to_either();
    }
    if (done && options_.on_connected) {
      beginning_ = true;
      done = options_.on_connected(*this);
      beginning_ = false;
    }
    if (!done) drop();  // a session that was made by half is none
    return done;
  }

  Result<> run(std::string_view statement, Values values) override {
    MUSTER_TRY(s, execute(statement, values));
    mysql_stmt_free_result(s);
    return {};
  }

  Result<> query(std::string_view statement, Values values, const EachRow& row) override {
    MUSTER_TRY(s, execute(statement, values));
    bool all = false;
    Result<> done = fetch(s, row, all);
    mysql_stmt_free_result(s);
    return done;
  }

  Result<> scan(std::string_view statement, Values values, const EachRow& row) override {
    MUSTER_TRY(s, execute(statement, values, false));
    bool all = false;
    Result<> done = fetch(s, row, all);
    if (all || in_transaction()) mysql_stmt_free_result(s);
    else drop();  // the rest may be gigabytes, and would have to be read before the next statement
    return done;
  }

  int64_t last_id() override { return static_cast<int64_t>(mysql_insert_id(handle_.get())); }

  Result<bool> has_table(std::string_view name) override {
    bool found = false;
    MUSTER_TRY_VOID(query("SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?",
                          std::array<Value, 1>{Text{name}}, [&](const Row&) -> Result<> {
                            found = true;
                            return {};
                          }));
    return found;
  }

  std::string name() const override { return options_.database + " at " + (options_.socket.empty() ? where_ : options_.socket); }
  std::string spelled(std::string_view create) const override {
    // Names are bytes, and compared as bytes, whatever character set the server assumes.
    return spell(create, {"BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", "VARBINARY(255) NOT NULL", "LONGBLOB NOT NULL", " ENGINE=InnoDB",
                          " ENGINE=InnoDB"});
  }
  Result<> begin() override {
    if (!handle_) MUSTER_TRY_VOID(connect());
    Result<> begun = command("START TRANSACTION");
    if (begun || begun.error().code != Errc::kAccountingUnavailable || beginning_) return begun;
    MUSTER_TRY_VOID(connect());  // the server closed an idle connection, or was restarted
    return command("START TRANSACTION");
  }
  Result<> commit() override { return command("COMMIT"); }
  void rollback() override {
    if (handle_) (void)command("ROLLBACK");
  }

 private:
  void drop() {
    handle_.reset();  // before its statements, which would read what is left of their rows
    statements_.clear();
  }
  // Fetches the rows of an executed statement. `all`: there are no more rows.
  Result<> fetch(MYSQL_STMT* statement, const EachRow& row, bool& all) {
    Columns columns(statement);
    if (mysql_stmt_bind_result(statement, columns.binds().data()) != 0) return std::unexpected(failed(statement));
    Result<> done;
    while (done) {
      int rc = mysql_stmt_fetch(statement);
      all = rc == MYSQL_NO_DATA;
      if (all) break;
      if (rc == 1 || !columns.complete(statement)) return std::unexpected(failed(statement));
      done = row(columns);
      if (columns.take_regrown()) mysql_stmt_bind_result(statement, columns.binds().data());
    }
    return done;
  }

  Result<> renew_password(bool refused) {
    MUSTER_TRY(password, options_.ask_password(refused));
    options_.password = std::move(password);
    return {};
  }

  Result<> connect_to_either() {
    denied_ = false;
    Result<> done = connect_to(options_.host);
    if (!done && !options_.backup_host.empty()) done = connect_to(options_.backup_host);
    return done;
  }

  Result<> connect_to(const std::string& host) {
    where_ = host;
    const std::string socket = options_.socket.empty() ? socket_of(host) : options_.socket;
    Handle handle(mysql_init(nullptr));
    const unsigned seconds = std::min(options_.connect_seconds, options_.answer_seconds);
    mysql_options(handle.get(), MYSQL_OPT_CONNECT_TIMEOUT, &seconds);
    mysql_options(handle.get(), MYSQL_OPT_READ_TIMEOUT, &options_.answer_seconds);
    mysql_options(handle.get(), MYSQL_OPT_WRITE_TIMEOUT, &options_.answer_seconds);
    mysql_options(handle.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
    auto text = [](const std::string& s) { return s.empty() ? nullptr : s.c_str(); };
    if (!options_.tls_ca.empty() || !options_.tls_cert.empty())
      mysql_ssl_set(handle.get(), text(options_.tls_key), text(options_.tls_cert), text(options_.tls_ca), text(options_.tls_capath),
                    text(options_.tls_cipher));
    MYSQL* ok = mysql_real_connect(handle.get(), socket.empty() ? host.c_str() : nullptr, text(options_.user), text(options_.password),
                                   nullptr, options_.port, text(socket), CLIENT_FOUND_ROWS);
    if (!ok) {
      denied_ = denied_ || mysql_errno(handle.get()) == ER_ACCESS_DENIED_ERROR;
      Error e = error_of(name(), mysql_errno(handle.get()), mysql_error(handle.get()));
      e.hint = "StorageHost, StoragePort, StorageUser and StoragePass or StoragePassScript of slurmdbd.conf say where the database is";
      return std::unexpected(std::move(e));
    }
    handle_ = std::move(handle);
    std::string quoted = "`";
    for (char c : options_.database) quoted += c == '`' ? std::string("``") : std::string(1, c);
    quoted += '`';
    if (mysql_select_db(handle_.get(), options_.database.c_str()) != 0) {
      MUSTER_TRY_VOID(command("CREATE DATABASE IF NOT EXISTS " + quoted));
      if (mysql_select_db(handle_.get(), options_.database.c_str()) != 0) return std::unexpected(failed());
    }
    return {};
  }

  Error failed() { return error_of(name(), mysql_errno(handle_.get()), mysql_error(handle_.get())); }
  Error failed(MYSQL_STMT* s) { return error_of(name(), mysql_stmt_errno(s), mysql_stmt_error(s)); }

  Result<> command(const std::string& text) {
    if (mysql_real_query(handle_.get(), text.data(), text.size()) == 0) return {};
    return std::unexpected(failed());
  }

  Result<MYSQL_STMT*> execute(std::string_view text, Values values, bool whole = true) {
    if (!handle_) MUSTER_TRY_VOID(connect());
    auto s = execute_once(text, values, whole);
    if (s || s.error().code != Errc::kAccountingUnavailable || in_transaction() || beginning_) return s;
    MUSTER_TRY_VOID(connect());
    return execute_once(text, values, whole);
  }
  bool in_transaction() const { return handle_ && (handle_->server_status & SERVER_STATUS_IN_TRANS); }

  Result<MYSQL_STMT*> execute_once(std::string_view text, Values values, bool whole) {
    MUSTER_TRY(statement, prepared(text));
    std::vector<MYSQL_BIND> binds(values.size());
    std::vector<int64_t> numbers(values.size());
    for (size_t index = 0; index < values.size(); ++index) {
      if (auto* n = std::get_if<int64_t>(&values[index])) {
        numbers[index] = *n;
        binds[index].buffer_type = MYSQL_TYPE_LONGLONG;
        binds[index].buffer = &numbers[index];
        continue;
      }
      auto* t = std::get_if<Text>(&values[index]);
      std::string_view bytes = t ? t->text : std::get<Bytes>(values[index]).bytes;
      binds[index].buffer_type = MYSQL_TYPE_LONG_BLOB;
      binds[index].buffer = const_cast<char*>(bytes.data() ? bytes.data() : "");  // null would be taken for NULL
      binds[index].buffer_length = bytes.size();
    }
    if ((!binds.empty() && mysql_stmt_bind_param(statement, binds.data()) != 0) || mysql_stmt_execute(statement) != 0)
      return std::unexpected(failed(statement));
    // The result is read as a whole: another statement may be needed before all rows of this one have been looked at.
    if (whole && mysql_stmt_field_count(statement) > 0 && mysql_stmt_store_result(statement) != 0)
      return std::unexpected(failed(statement));
    return statement;
  }

  Result<MYSQL_STMT*> prepared(std::string_view text) {
    auto at = statements_.find(text);
    if (at != statements_.end()) return at->second.get();
    if (statements_.size() >= kMaxStatements) statements_.clear();
    StatementHandle s(mysql_stmt_init(handle_.get()));
    if (mysql_stmt_prepare(s.get(), text.data(), text.size()) != 0) return std::unexpected(failed(s.get()));
    return statements_.emplace(std::string(text), std::move(s)).first->second.get();
  }

  static constexpr size_t kMaxStatements = 200;
  MariaDbOptions options_;
  std::string where_;
  Handle handle_;
  bool beginning_ = false;  // on_connected is being called
  bool denied_ = false;     // a server did not take the password
  std::map<std::string, StatementHandle, std::less<>> statements_;
};

}  // namespace

Result<std::unique_ptr<Connection>> open_mariadb(const MariaDbOptions& options) {
  auto c = std::make_unique<MariaDb>(options);
  MUSTER_TRY_VOID(c->connect());
  return std::unique_ptr<Connection>(std::move(c));
}

}  // namespace muster::sql
