// The file muster.db: its tables, its version, and the decision whether a file found on disk is one of ours.
// Internal to store/; the tables are described in README.md.
#pragma once

#include <string>

#include "store/sqlite_db.h"

namespace muster::store {

constexpr int kSchemaVersion = 1;
constexpr int kApplicationId = 0x4d535452;  // "MSTR"

std::string database_path(const std::string& directory);
// Opens or creates the file for its one writer: write-ahead log, a sync per commit.
Result<Database> open_for_writing(const std::string& directory);
// Opens an existing file beside the writer.
Result<Database> open_for_reading(const std::string& directory);

}  // namespace muster::store
