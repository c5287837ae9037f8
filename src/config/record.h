// One record line (NodeName=…, SwitchName=…), checked against the rows of its section and merged with the DEFAULT lines before it. Inside
// config/ only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/key_table.h"
#include "config/parser.h"

namespace muster::config {

// Where the builders put the errors and notices they find. Sites' files hold slips that nobody has noticed for years, and their daemons
// start. So something odd is a notice that says what is done instead; an error is only what would lose or misplace work or makes no sense
// at all.
struct Findings {
  std::vector<ConfigError>& errors;
  std::vector<ConfigNotice>& notices;
  bool strict = false;  // someone at a command waits for the answer: what is odd is an error, too
  void error(const SourcePos& pos, std::string key, std::string message, std::string hint = {}) {
    if (errors.size() < 100) errors.push_back(error_at(pos, std::move(key), std::move(message), std::move(hint)));
  }
  void notice(const SourcePos& pos, std::string key, std::string message, std::string hint = {}) {
    if (notices.size() < 1000) notices.push_back(error_at(pos, std::move(key), std::move(message), std::move(hint)));
  }
  // `rule` is the rule that the value breaks, `follows` what is done instead.
  void odd(const SourcePos& pos, std::string key, std::string rule, const std::string& follows, std::string hint = {}) {
    if (strict) return error(pos, std::move(key), std::move(rule), std::move(hint));
    notice(pos, std::move(key), std::move(rule) + "; " + follows, std::move(hint));
  }
  void without_effect(const SourcePos& pos, const KeyRow& row);  // of a row that is kNotYet or kNoEffect
};

// The text that results when `+=` or `-=` (lists only) is applied to `before`.
std::string apply_assign(std::string_view before, const KeyValue& kv);
// Looks up kv.key and checks the value. Gives the row and the value to use: unknown words are left out, numbers beyond the bounds brought
// back into them. Everything worth reporting goes to `findings`, also that a row has no effect, here or yet. nullopt when the value cannot be
// used.
struct CheckedPair {
  const KeyRow* row = nullptr;
  KeyValue kv;
};
std::optional<CheckedPair> check_pair(ConfFile file, Section section, const KeyValue& kv, Findings& findings);

class Record {
 public:
  Record(ConfFile file, Section section) : file_(file), section_(section) {}
  // Takes over the pairs of `line` (later ones win over those already there).
  void add(const Line& line, Findings& findings);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The text given, else the row's default, else "".
  std::string_view text(std::string_view key) const;
  std::optional<int64_t> number(std::string_view key) const;  // -1 = infinite; nullopt = unset without default
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
