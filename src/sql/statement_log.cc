#include "sql/statement_log.h"

#include <chrono>
#include <cstdio>
#include <iterator>
#include <utility>

#include "model/accounts.h"

namespace muster::sql {
namespace {

constexpr std::string_view kNames[kStatementSubjects] = {"DB_ARCHIVE", "DB_ASSOC", "DB_EVENT",       "FEDERATION",  "DB_JOB",
                                                         "DB_QOS",     "DB_QUERY", "DB_RESERVATION", "DB_RESOURCE", "DB_STEP",
                                                         "DB_TRES",    "DB_USAGE", "DB_WCKEY"};

// The first that a statement names counts: one that joins jobs and steps is there for the steps.
constexpr std::pair<std::string_view, StatementSubject> kTables[] = {
    {"muster_steps", StatementSubject::kStep},
    {"muster_usage", StatementSubject::kUsage},
    {"muster_reservations", StatementSubject::kReservation},
    {"muster_events", StatementSubject::kEvent},
    {"muster_purged", StatementSubject::kArchive},
    {"muster_job", StatementSubject::kJob},
    {"muster_content", StatementSubject::kJob},
};

StatementSubject subject_of_noun(Values values) {
  const int64_t* kind = values.empty() ? nullptr : std::get_if<int64_t>(&values[0]);
  if (!kind) return StatementSubject::kQuery;  // all nouns at once
  switch (static_cast<Entity>(*kind)) {
    case Entity::kAccount:
    case Entity::kAssociation:
    case Entity::kCluster:
    case Entity::kCoordinator:
    case Entity::kUser: return StatementSubject::kAssociation;
    case Entity::kQos: return StatementSubject::kQos;
    case Entity::kTres: return StatementSubject::kTres;
    case Entity::kWckey: return StatementSubject::kWckey;
    case Entity::kResource: return StatementSubject::kResource;
    case Entity::kFederation: return StatementSubject::kFederation;
    case Entity::kTransaction: break;
  }
  return StatementSubject::kQuery;
}

constexpr size_t kMostValues = 20, kMostOfText = 100;

void append_value(const Value& value, std::string& out) {
  if (const auto* number = std::get_if<int64_t>(&value)) out += std::to_string(*number);
  else if (const auto* text = std::get_if<Text>(&value))
    out.append("'").append(text->text.substr(0, kMostOfText)).append(text->text.size() > kMostOfText ? "…'" : "'");
  else out += std::to_string(std::get<Bytes>(value).bytes.size()) + " bytes";
}

std::string text_of(std::string_view statement, Values values, double milliseconds, size_t rows, bool failed) {
  char took[64];
  std::snprintf(took, sizeof took, "%.3f ms, %zu row%s: ", milliseconds, rows, rows == 1 ? "" : "s");
  std::string out = took + std::string(statement);
  for (size_t i = 0; i < values.size() && i < kMostValues; ++i) {
    out += i ? ", " : " [";
    append_value(values[i], out);
  }
  if (values.size() > kMostValues) out += ", and " + std::to_string(values.size() - kMostValues) + " more";
  if (!values.empty()) out += ']';
  return failed ? out + " failed" : out;
}

class Watched final : public Connection {
 public:
  Watched(std::unique_ptr<Connection> inner, StatementWatch& watch) : inner_(std::move(inner)), watch_(watch) {}

  Result<> run(std::string_view statement, Values values) override {
    return told(statement, values, [&](size_t&) { return inner_->run(statement, values); });
  }
  Result<> query(std::string_view statement, Values values, const EachRow& row) override {
    if (!watch_.watching()) return inner_->query(statement, values, row);
    return told(statement, values, [&](size_t& rows) { return inner_->query(statement, values, counted(row, rows)); });
  }
  Result<> scan(std::string_view statement, Values values, const EachRow& row) override {
    if (!watch_.watching()) return inner_->scan(statement, values, row);
    return told(statement, values, [&](size_t& rows) { return inner_->scan(statement, values, counted(row, rows)); });
  }
  Result<> begin() override {
    return told("BEGIN", {}, [&](size_t&) { return inner_->begin(); });
  }
  Result<> commit() override {
    return told("COMMIT", {}, [&](size_t&) { return inner_->commit(); });
  }
  void rollback() override {
    (void)told("ROLLBACK", {}, [&](size_t&) {
      inner_->rollback();
      return Result<>();
    });
  }
  int64_t last_id() override { return inner_->last_id(); }
  Result<bool> has_table(std::string_view name) override { return inner_->has_table(name); }
  std::string name() const override { return inner_->name(); }
  std::string spelled(std::string_view create) const override { return inner_->spelled(create); }

 private:
  static EachRow counted(const EachRow& row, size_t& rows) {
    return [&row, &rows](const Row& r) {
      ++rows;
      return row(r);
    };
  }
  template <class Work>
  Result<> told(std::string_view statement, Values values, Work work) {
    size_t rows = 0;
    if (!watch_.watching()) return work(rows);
    const StatementSubject subject = is_archiving() ? StatementSubject::kArchive : subject_of(statement, values);
    if (!watch_.wants(subject)) return work(rows);
    const auto began = std::chrono::steady_clock::now();
    Result<> done = work(rows);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    watch_.ran(subject, text_of(statement, values, took.count(), rows, !done));
    return done;
  }

  std::unique_ptr<Connection> inner_;
  StatementWatch& watch_;
};

}  // namespace

std::string_view name_of(StatementSubject subject) { return kNames[static_cast<size_t>(subject)]; }

StatementSubject subject_of(std::string_view statement, Values values) {
  if (statement.contains("muster_entities")) return subject_of_noun(values);
  for (const auto& [table, subject] : kTables)
    if (statement.contains(table)) return subject;
  return StatementSubject::kQuery;
}

std::unique_ptr<Connection> watched(std::unique_ptr<Connection> connection, StatementWatch& watch) {
  return std::make_unique<Watched>(std::move(connection), watch);
}

}  // namespace muster::sql
