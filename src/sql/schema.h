// The tables of the accounting database, the same for every kind of database, and their version. README.md describes them.
#pragma once

#include "sql/connection.h"

namespace muster::sql {

inline constexpr int kSchemaVersion = 6;

// Reads only. Returns 0 if there are no tables yet.
Result<int64_t> schema_version(Connection& connection);

// Creates what is missing. kStateNotSaved: the tables were made by a newer Muster.
Result<> prepare_schema(Connection& connection);

}  // namespace muster::sql
