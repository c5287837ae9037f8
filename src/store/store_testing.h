// Helpers shared by the tests and the benchmark of this folder.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "store/event_log.h"

namespace muster::store {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-store-XXXXXX").string();
    MUSTER_CHECK(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

using Records = std::vector<std::string>;
using Seen = std::vector<std::pair<Position, std::string>>;

inline Result<Seen> read_all(EventLog& log, Position after = 0) {
  Seen seen;
  Result<> done = log.read(after, [&](Position p, std::string_view r) -> Result<> {
    seen.emplace_back(p, r);
    return {};
  });
  if (!done) return std::unexpected(done.error());
  return seen;
}

// Copies the files that a machine which loses power now would find on its disk, as far as they were written: the database and its
// write-ahead log, without the index, which lives in shared memory.
inline void copy_as_after_crash(const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  fs::create_directories(to);
  for (const char* name : {"muster.db", "muster.db-wal"}) {
    fs::remove(to + "/" + name);
    if (fs::exists(from + "/" + name)) fs::copy_file(from + "/" + name, to + "/" + name);
  }
}

}  // namespace muster::store
