// The rows of every configuration file: one KeyRow for each documented key, in the tables key_table_*.cc. The loader checks a value by its
// row, `scontrol show config` prints it by its row, and the documentation and "did you mean" are made from the rows. Which typed value a
// row of slurm.conf feeds is bound in slurm_bind.cc. Not here: reading of files (parser.h), typed values (slurm_conf.h). Manual pages:
// slurm.conf(5), gres.conf(5), topology.conf(5), cgroup.conf(5), acct_gather.conf(5), burst_buffer.conf(5), helpers.conf(5),
// job_container.conf(5), mpi.conf(5), oci.conf(5), slurmdbd.conf(5).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster::config {

enum class ConfFile : uint8_t {
  kSlurm,
  kGres,
  kTopology,
  kCgroup,
  kAcctGather,
  kBurstBuffer,
  kHelpers,
  kJobContainer,
  kMpi,
  kOci,
  kSlurmdbd,
};
inline constexpr int kConfFileCount = 11;
std::string_view file_name(ConfFile file);  // "slurm.conf"

// What the key belongs to: the file as a whole or one kind of record line.
enum class Section : uint8_t {
  kGlobal,
  kNode,
  kPartition,
  kNodeSet,
  kDownNodes,
  kPowerAction,
  kSwitch,
  kBlock,
  kRing,
  kGresLine,
  kFeature,
  kContainer,
};
std::string_view section_name(Section section);  // "NodeName", "" for kGlobal

// How the text of a value is checked and, for numbers, in which unit `scontrol show config` prints it.
enum class KeyType : uint8_t {
  kString,
  kPath,  // anything; %n and %h are replaced by slurmd
  kInt,   // decimal or 0x…, within [min, max]
  kFloat,
  kBool,  // yes/no, true/false, up/down, 1/0
  kSeconds,
  kMinutes,
  kMicroseconds,
  kMilliseconds,  // a number, or INFINITE/UNLIMITED where `infinite_ok`
  kTimeSpan,      // minutes, [days-]hours:minutes:seconds …
  kMemMb,         // number with optional K, M, G, T; default unit M
  kCount,         // number with optional K, M, G, T, P of 1024
  kHosts,         // host list expression
  kList,          // comma list of words
  kEnum,          // one of `choices`
  kFlags,         // comma list out of `choices`
  kPort,
  kPortRange,
  kDebugLevel,  // quiet … debug5 or 0 … 9
  kGres,        // name[:type][:no_consume]:count,…
  kPercent,
  kPurgeAge,  // number with hours, days or months; default unit months (purge_age.h)
};

enum class KeyStatus : uint8_t {
  kWorks,
  kNotYet,    // accepted; the log says in one line that its feature (`needs`) is not there yet
  kRefused,   // an error that says why (`needs`)
  kNoEffect,  // accepted; its purpose does not arise here, and the log says in one line why (`needs`)
};

struct KeyRow {
  const char* name = "";
  KeyType type = KeyType::kString;
  const char* default_text = nullptr;  // nullptr: unset, printed as (null)
  const char* doc = "";
  ConfFile file = ConfFile::kSlurm;
  Section section = Section::kGlobal;
  int64_t min_value = 0;
  int64_t max_value = INT64_MAX;
  const char* choices_text = "";  // "a|b|c"
  KeyStatus state = KeyStatus::kWorks;
  const char* needs = "";
  bool restart_needed = false;  // `scontrol reconfigure` does not apply a change
  bool repeatable = false;      // several lines add up
  bool infinite_ok = false;
  bool misleads = false;           // a word or number that cannot be used is an error: ignoring it would misplace work
  bool secret = false;             // never printed
  const char* alias_of = nullptr;  // an older spelling of this key

  // These functions make the tables read as sentences: seconds("KillWait", "30", "…").max(65533).
  constexpr KeyRow in(Section s) const {
    KeyRow r = *this;
    r.section = s;
    return r;
  }
  constexpr KeyRow of(ConfFile f) const {
    KeyRow r = *this;
    r.file = f;
    return r;
  }
  constexpr KeyRow min(int64_t v) const {
    KeyRow r = *this;
    r.min_value = v;
    return r;
  }
  constexpr KeyRow max(int64_t v) const {
    KeyRow r = *this;
    r.max_value = v;
    return r;
  }
  constexpr KeyRow choices(const char* c) const {
    KeyRow r = *this;
    r.choices_text = c;
    return r;
  }
  constexpr KeyRow not_yet(const char* feature) const {
    KeyRow r = *this;
    r.state = KeyStatus::kNotYet;
    r.needs = feature;
    return r;
  }
  constexpr KeyRow no_effect(const char* why) const {
    KeyRow r = *this;
    r.state = KeyStatus::kNoEffect;
    r.needs = why;
    return r;
  }
  constexpr KeyRow refused(const char* why) const {
    KeyRow r = *this;
    r.state = KeyStatus::kRefused;
    r.needs = why;
    return r;
  }
  constexpr KeyRow restart() const {
    KeyRow r = *this;
    r.restart_needed = true;
    return r;
  }
  constexpr KeyRow repeat() const {
    KeyRow r = *this;
    r.repeatable = true;
    return r;
  }
  constexpr KeyRow infinite() const {
    KeyRow r = *this;
    r.infinite_ok = true;
    return r;
  }
  // Marks a key whose unusable values stop the daemons instead of being left out with a notice: going on without the value would misplace
  // work, or let in somebody who is to stay out.
  constexpr KeyRow strict() const {
    KeyRow r = *this;
    r.misleads = true;
    return r;
  }
  constexpr KeyRow hidden() const {
    KeyRow r = *this;
    r.secret = true;
    return r;
  }
  constexpr KeyRow alias(const char* of) const {
    KeyRow r = *this;
    r.alias_of = of;
    return r;
  }
};

namespace rows {  // the functions that the tables are written with
constexpr KeyRow row(KeyType t, const char* name, const char* def, const char* doc) {
  KeyRow r;
  r.name = name;
  r.type = t;
  r.default_text = def;
  r.doc = doc;
  return r;
}
constexpr KeyRow text(const char* n, const char* def, const char* doc) { return row(KeyType::kString, n, def, doc); }
constexpr KeyRow path(const char* n, const char* def, const char* doc) { return row(KeyType::kPath, n, def, doc); }
constexpr KeyRow number(const char* n, const char* def, const char* doc) { return row(KeyType::kInt, n, def, doc).max(UINT32_MAX); }
constexpr KeyRow yesno(const char* n, const char* def, const char* doc) { return row(KeyType::kBool, n, def, doc); }
constexpr KeyRow seconds(const char* n, const char* def, const char* doc) { return row(KeyType::kSeconds, n, def, doc).max(65533); }
constexpr KeyRow mins(const char* n, const char* def, const char* doc) { return row(KeyType::kMinutes, n, def, doc).max(65533); }
constexpr KeyRow span(const char* n, const char* def, const char* doc) { return row(KeyType::kTimeSpan, n, def, doc); }
constexpr KeyRow mem(const char* n, const char* def, const char* doc) { return row(KeyType::kMemMb, n, def, doc); }
constexpr KeyRow hosts(const char* n, const char* def, const char* doc) { return row(KeyType::kHosts, n, def, doc); }
constexpr KeyRow list(const char* n, const char* def, const char* doc) { return row(KeyType::kList, n, def, doc); }
constexpr KeyRow one_of(const char* n, const char* c, const char* def, const char* doc) {
  return row(KeyType::kEnum, n, def, doc).choices(c);
}
constexpr KeyRow flags(const char* n, const char* c, const char* def, const char* doc) {
  return row(KeyType::kFlags, n, def, doc).choices(c);
}
constexpr KeyRow level(const char* n, const char* def, const char* doc) { return row(KeyType::kDebugLevel, n, def, doc); }
constexpr KeyRow percent(const char* n, const char* def, const char* doc) { return row(KeyType::kPercent, n, def, doc).max(INT64_MAX); }
}  // namespace rows

// All rows of a file in the order of its tables. Cost: building the list.
std::vector<const KeyRow*> rows_of(ConfFile file);
std::vector<const KeyRow*> rows_of(ConfFile file, Section section);
// The row of a key, in any case of letters; nullptr if there is none. An alias gives the row it stands for. O(log rows).
const KeyRow* find_row(ConfFile file, Section section, std::string_view key);

// A key that older releases knew and this one does not. It is taken with a notice; `advice` says what to write instead ("" = it has no
// effect any more).
struct RetiredKey {
  const char* name;
  Section section;
  const char* advice;
};
const RetiredKey* find_retired(ConfFile file, Section section, std::string_view key);

// A value, or a word of a list, that only older releases knew: `now` is taken in its place ("" = nothing), and `advice` says why.
struct RetiredWord {
  const char* key;
  const char* word;
  const char* now;
  const char* advice;
};
const RetiredWord* find_retired_word(const KeyRow& row, std::string_view word);

// Why `text` is not a valid value for `row`; nullopt when it is valid. Only syntax and bounds are looked at.
struct ValueProblem {
  std::string message;  // "must be a number from 1 to 65533"
  std::string hint;     // "did you mean …", may be empty
};
std::optional<ValueProblem> check_value(const KeyRow& row, std::string_view text);

// These read a value by its type. Callers have checked the text with check_value; a bad text gives nullopt.
std::optional<bool> parse_yes_no(std::string_view text);
std::optional<int64_t> parse_integer(std::string_view text);       // decimal, 0x…, INFINITE/UNLIMITED = -1
std::optional<int64_t> parse_span_seconds(std::string_view text);  // slurm.conf time strings; -1 = INFINITE
std::optional<int> parse_debug_level(std::string_view text);       // 0 quiet, 1 fatal, 2 error, 3 info … 9 debug5
std::string_view debug_level_name(int level);
bool is_infinite(std::string_view text);  // INFINITE, UNLIMITED, -1
std::vector<std::string_view> choice_list(const KeyRow& row);

}  // namespace muster::config
