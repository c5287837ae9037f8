// One record line (NodeName=…, SwitchName=…) checked against the rows of its section, and the collection of
// DEFAULT lines before it. Inside config/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/key_table.h"
#include "config/parser.h"

namespace muster::config {

// Where the builders put what they find.
struct Findings {
  std::vector<ConfigError>& errors;
  std::vector<ConfigNotice>& notices;
  void error(const SourcePos& pos, std::string key, std::string message, std::string hint = {}) {
    if (errors.size() < 100)
      errors.push_back(error_at(pos, std::move(key), std::move(message), std::move(hint)));
  }
  void notice(const SourcePos& pos, std::string key, std::string message, std::string hint = {}) {
    if (notices.size() < 1000)
      notices.push_back(error_at(pos, std::move(key), std::move(message), std::move(hint)));
  }
  void not_yet(const SourcePos& pos, const KeyRow& row);
};

// The text of a value after `+=` and `-=` (lists only) on `before`.
std::string apply_assign(std::string_view before, const KeyValue& kv);
// Looks up kv.key, checks the value; reports and gives nullptr when it cannot be used. Reports a kNotYet row
// too.
const KeyRow* check_pair(ConfFile file, Section section, const KeyValue& kv, Findings& findings);

class Record {
 public:
  Record(ConfFile file, Section section) : file_(file), section_(section) {}
  // Takes over the pairs of `line` (later ones win over those already there).
  void add(const Line& line, Findings& findings);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The text, or the row's default, or "".
  std::string_view text(std::string_view key) const;
  std::optional<int64_t> number(
      std::string_view key) const;  // -1 = infinite; nullopt = unset without default
  bool yes(std::string_view key) const;
  std::optional<uint64_t> mem_mb(std::string_view key) const;  // nullopt: unset, 0 or UNLIMITED
  const SourcePos& pos(std::string_view key) const;            // of the value, or of the line
  const SourcePos& where() const { return where_; }

 private:
  struct Entry {
    const KeyRow* row;
    std::string value;
    SourcePos pos;
  };
  const Entry* find(std::string_view key) const;

  ConfFile file_;
  Section section_;
  std::vector<Entry> entries_;
  SourcePos where_;
};

}  // namespace muster::config
