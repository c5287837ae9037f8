// StatementWatch: is told of the statements that a connection has run, by what they are about: the DB_… words of DebugFlags. Values that are
// bytes (records, scripts) are told by their length alone. slurmdbd.conf(5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sql/connection.h"

namespace muster::sql {

enum class StatementSubject : uint8_t {
  kArchive,
  kAssociation,  // clusters, accounts and users, too
  kEvent,
  kFederation,
  kJob,
  kQos,
  kQuery,  // transactions, and whatever is about none of the others
  kReservation,
  kResource,
  kStep,
  kTres,
  kUsage,
  kWckey,
};
inline constexpr size_t kStatementSubjects = 13;
std::string_view name_of(StatementSubject subject);  // "DB_ARCHIVE"

// By the statement's table; where that holds all kinds of nouns, by the first value, which is the kind.
StatementSubject subject_of(std::string_view statement, Values values);

class StatementWatch {
 public:
  virtual ~StatementWatch() = default;
  virtual bool watching() const = 0;  // whether it wants anything at all; asked before each statement
  virtual bool wants(StatementSubject subject) const = 0;
  // "0.412 ms, 3 rows: SELECT … WHERE job = ? [17]". On the connection's thread.
  virtual void ran(StatementSubject subject, const std::string& text) = 0;
};

// The same connection, watched. `watch` outlives it.
std::unique_ptr<Connection> watched(std::unique_ptr<Connection> connection, StatementWatch& watch);

}  // namespace muster::sql
