// A table of a job file: columns of whole or fractional numbers, with a value for each sample, and the tables that samples of a step make.
// sh5util(1), Data Items per Series; names and types of columns are those that Debian's Slurm 22.05 writes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/step_profile.h"

namespace muster::cli {

struct Column {
  std::string name;
  bool real = false;
  std::vector<uint64_t> whole;    // where it is not real
  std::vector<double> fractions;  // where it is
  size_t rows() const { return real ? fractions.size() : whole.size(); }
  double value(size_t row) const { return real ? fractions[row] : static_cast<double>(whole[row]); }
  bool operator==(const Column&) const = default;
};

// All columns have as many rows. The first two are ElapsedTime and EpochTime.
struct Table {
  std::vector<Column> columns;
  size_t rows() const { return columns.empty() ? 0 : columns[0].rows(); }
  const Column* find(std::string_view name) const;  // exactly
  bool operator==(const Table&) const = default;
};

// What a node has recorded of a step.
struct NodeTables {
  ProfileHeader header;
  std::map<uint32_t, Table> tasks;  // by rank
  std::optional<Table> energy;
};

// A column by the name that it has in the file, or by that of the manual page ("Read_Megabytes", "power"), in any letter case; "" where the
// table has no such column.
std::string column_named(const Table& table, std::string_view name);

// Reads a recording (wire/profile_file.h), as far as it goes. `fault`: why not further; "": to its end.
struct Recording {
  NodeTables tables;
  std::string fault;
};
// kInvalidArgument: it is none.
Result<Recording> read_recording(std::string_view bytes);

}  // namespace muster::cli
