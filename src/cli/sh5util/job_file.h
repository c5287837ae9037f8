// The HDF5 file of a job: Steps/STEP/Nodes/NODE/Energy and …/Tasks/RANK, each a table, with who and how many as attributes of the groups.
// sh5util(1) and the guide on profiles; attributes, names and types are those that Debian's Slurm 22.05 writes. The one place that knows
// the HDF5 library. What is read is bounded: kMostRows of a table, kMostNames in a group.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/sh5util/table.h"

namespace muster::cli {

class JobFileWriter {
 public:
  // Writes into the open file `fd`, from its beginning.
  static Result<JobFileWriter> create(int fd, const std::string& path);
  JobFileWriter(JobFileWriter&&) noexcept;
  ~JobFileWriter();
  // A step's nodes come one after the other; `step` and `node` hold no '/'.
  Result<> add(const std::string& step, const std::string& node, const NodeTables& tables);
  Result<> finish();  // the file is complete

 private:
  struct State;
  explicit JobFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class JobFile {
 public:
  static constexpr size_t kMostRows = 4u << 20, kMostColumns = 64, kMostNames = 1u << 20;
  // kNotFound, kInvalidArgument: it is no such file.
  static Result<JobFile> open(const std::string& path);
  JobFile(JobFile&&) noexcept;
  ~JobFile();
  std::vector<std::string> steps() const;
  std::vector<std::string> nodes(const std::string& step) const;
  // "Energy", "Network", … and "Tasks/0", "Tasks/1", …
  std::vector<std::string> series(const std::string& step, const std::string& node) const;
  Result<Table> read(const std::string& step, const std::string& node, const std::string& series) const;

 private:
  struct State;
  explicit JobFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Numbers before words, and by their value: 0, 2, 10, batch.
bool name_before(const std::string& a, const std::string& b);

}  // namespace muster::cli
