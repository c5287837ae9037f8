// Reads configuration text into lines of key=value pairs: comments, quotes, continuation lines, Include.
// Knows nothing of which keys exist. Any bytes are safe input: sizes, depth and counts are bounded (Limits).
//
//   key=value  key = value  key="a b"  key+=value  key-=value
//   # to the end of the line is a comment, except after a backslash (\# is a #) and inside double quotes
//   a backslash at the end of a line joins the next one; CR LF and a missing last newline do not matter
//   Include file          a relative name is looked for beside the top file, else beside the including one; %c is the ClusterName read so far
//
// Cost: O(bytes). slurm.conf(5) DESCRIPTION and INCLUDE MODIFIERS.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::config {

// Where text comes from: the daemons read the disk, tests a map.
class FileSource {
 public:
  virtual ~FileSource() = default;
  virtual std::optional<std::string> read(const std::string& path) = 0;  // nullopt: there is no such file
  // Whether the file exists, even if we may not read it (a cluster key is not for everybody).
  virtual bool exists(const std::string& path) { return read(path).has_value(); }
};

// Files held in memory, for tests and the simulator.
class MemoryFiles : public FileSource {
 public:
  MemoryFiles() = default;
  MemoryFiles(std::initializer_list<std::pair<std::string, std::string>> files) : files_(files) {}
  void put(std::string path, std::string text) { files_.emplace_back(std::move(path), std::move(text)); }
  std::optional<std::string> read(const std::string& path) override;

 private:
  std::vector<std::pair<std::string, std::string>> files_;  // the last entry of a path counts
};

struct SourcePos {
  std::shared_ptr<const std::string> file;  // the name it was opened by
  uint32_t line = 0;                        // from 1
  uint32_t column = 0;                      // from 1; 0 = the line as a whole
  std::string text() const;                 // "slurm.conf:12"; "" when unknown
};

struct ConfigError {
  std::string file;
  uint32_t line = 0;
  std::string key;
  std::string message;
  std::string hint;          // what was probably meant; may be empty
  std::string text() const;  // "slurm.conf:12: KillWait: must be … (hint)"
};
// Something worth one line in the log that does not stop the load.
using ConfigNotice = ConfigError;
std::string to_text(const std::vector<ConfigError>& errors);  // one per line

ConfigError error_at(const SourcePos& pos, std::string key, std::string message, std::string hint = {});

enum class Assign : uint8_t { kSet, kAppend, kRemove };  // = += -=

struct KeyValue {
  std::string key, value;
  Assign op = Assign::kSet;
  bool quoted = false;
  SourcePos pos;
};

// One logical line (continuations joined).
struct Line {
  SourcePos pos;
  std::vector<KeyValue> values;
  const KeyValue* find(std::string_view key) const;  // the key in any case of letters; the last one given
};

struct Limits {
  size_t max_bytes = 64u << 20;  // of one file, and of all files together
  size_t max_lines = 1u << 20;
  size_t max_values_per_line = 1024;
  int max_include_depth = 16;
  size_t max_errors = 100;
};

struct ParsedFile {
  std::vector<Line> lines;
  std::vector<ConfigError> errors;
  bool missing = false;  // the top file is not there
};

ParsedFile parse_file(FileSource& source, const std::string& path, const Limits& limits = {});
// Parses a text without opening files; an Include in it is an error.
ParsedFile parse_text(std::string_view text, std::string_view name, const Limits& limits = {});

}  // namespace muster::config
