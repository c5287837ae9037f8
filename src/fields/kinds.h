// The kinds of values that fields have, and how each form of output spells them. A field names its kind once; its column in squeue, its
// key in scontrol's records, its member in --json and what it sorts by follow. A new kind is for a value that is spelled in a new way;
// values made of several (job_composites.h) have none. All pure; nothing here knows what a job is.
//
// A kind K has, for a value v as the row or the request has it:
//
//   K::empty(v)                    there is no value: K::kColumnNone or K::kShownNone stands for it, unless the field has a word of its own
//   K::column(out, v, env)         appends the value as squeue prints it
//   K::shown(out, v, env)          appends it as scontrol does
//   K::json(members, key, v, env)  writes it as a member of K::kShape
//   K::kOurs                       true where column() and shown() write nothing that a user chose, so nothing has to be made plain
//   K::order(v)                    what columns are sorted by; a kind without it sorts by its text
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/parsed.h"
#include "base/text.h"
#include "fields/environment.h"
#include "fields/json_parts.h"
#include "fields/json_values.h"
#include "fields/values.h"
#include "model/tres_amounts.h"

namespace muster::fields {

// What a member of a --json document is.
enum class Shape : uint8_t {
  kText,
  kInteger,
  kFlag,
  kNumber,  // {"set", "infinite", "number"}
  kReal,    // a number with a fraction
  kTexts,   // list of texts
  kObject,
  kObjects,  // list of objects
};

// Rows and requests have texts of several types: a text, a literal, or a text that was parsed.
template <class T>
std::string_view text_of(const T& value) {
  if constexpr (TextMember<T>) return value.text();
  else return value;
}
// … and numbers: plain, an id, or a number that may be missing.
template <class T>
constexpr auto number_of(const T& value) {
  if constexpr (std::integral<T>) return value;
  else if constexpr (requires { value.has_value(); }) return value.value_or(0);
  else return value.value;
}

struct Text {
  static constexpr bool kOurs = false;
  static constexpr std::string_view kColumnNone = "(null)", kShownNone = "(null)";
  static constexpr Shape kShape = Shape::kText;
  static bool empty(const auto& value) { return text_of(value).empty(); }
  static void column(std::string& out, const auto& value, const Environment&) { put(out, text_of(value)); }
  static void shown(std::string& out, const auto& value, const Environment&) { put(out, text_of(value)); }
  static void json(Members& m, std::string_view key, const auto& value, const Environment&) { m.text(key, text_of(value)); }
};

// Words with commas between them; a list in documents.
struct Words : Text {
  static constexpr Shape kShape = Shape::kTexts;
  static void json(Members& m, std::string_view key, const auto& value, const Environment&) { m.words(key, text_of(value)); }
};

// Texts in a list, with commas between them where there is no list.
struct List {
  static constexpr bool kOurs = false;
  static constexpr std::string_view kColumnNone = "(null)", kShownNone = "(null)";
  static constexpr Shape kShape = Shape::kTexts;
  static bool empty(const std::vector<std::string>& texts) { return texts.empty(); }
  static void column(std::string& out, const std::vector<std::string>& texts, const Environment&) { put(out, join(texts, ",")); }
  static void shown(std::string& out, const std::vector<std::string>& texts, const Environment&) { put(out, join(texts, ",")); }
  static void json(Members& m, std::string_view key, const std::vector<std::string>& texts, const Environment&) { m.list(key, texts); }
};

// The same where documents have them in one text, too.
struct JoinedList : List {
  static constexpr Shape kShape = Shape::kText;
  static void json(Members& m, std::string_view key, const std::vector<std::string>& texts, const Environment&) {
    m.text(key, join(texts, ","));
  }
};

// A list of hosts as the user wrote it; scontrol prints it sorted and short.
struct Hosts : Text {
  static constexpr std::string_view kColumnNone = "";
  static void shown(std::string& out, const auto& value, const Environment&) { put_sorted(out, text_of(value)); }

 private:
  static void put_sorted(std::string& out, std::string_view list);
};

// A number that is always known.
struct Number {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kInteger;
  static bool empty(const auto&) { return false; }
  static void column(std::string& out, const auto& value, const Environment&) { put_number(out, number_of(value)); }
  static void shown(std::string& out, const auto& value, const Environment&) { put_number(out, number_of(value)); }
  static void json(Members& m, std::string_view key, const auto& value, const Environment&) {
    m.number(key, static_cast<int64_t>(number_of(value)));
  }
  static int64_t order(const auto& value) { return static_cast<int64_t>(number_of(value)); }
};

// The same where documents have room for "not set" and "infinite"; only a missing value (std::optional) is not set.
struct Quantity : Number {
  static constexpr Shape kShape = Shape::kNumber;
  template <class T>
  static void json(Members& m, std::string_view key, const T& value, const Environment&) {
    bool set = true;
    if constexpr (requires { value.has_value(); }) set = value.has_value();
    m.maybe(key, set, static_cast<uint64_t>(number_of(value)));
  }
};

// A number that somebody may have asked for; 0: nobody did.
struct Asked {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "N/A", kShownNone = "*";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(const auto& value) { return number_of(value) == 0; }
  static void column(std::string& out, const auto& value, const Environment&) { put_number(out, number_of(value)); }
  static void shown(std::string& out, const auto& value, const Environment&) { put_number(out, number_of(value)); }
  static void json(Members& m, std::string_view key, const auto& value, const Environment&) {
    m.maybe(key, number_of(value) != 0, static_cast<uint64_t>(number_of(value)));
  }
};

// Yes or no: 1 or 0.
struct Flag {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kFlag;
  static bool empty(bool) { return false; }
  static void column(std::string& out, bool value, const Environment&) { out += value ? '1' : '0'; }
  static void shown(std::string& out, bool value, const Environment&) { out += value ? '1' : '0'; }
  static void json(Members& m, std::string_view key, bool value, const Environment&) { m.flag(key, value); }
  static int64_t order(bool value) { return value; }
};

// The same where it is said in words.
struct YesNo {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kFlag;
  static bool empty(bool) { return false; }
  static void column(std::string& out, bool value, const Environment&) { out += value ? "yes" : "no"; }
  static void shown(std::string& out, bool value, const Environment&) { out += value ? "YES" : "NO"; }
  static void json(Members& m, std::string_view key, bool value, const Environment&) { m.flag(key, value); }
};

// Memory or disk in MiB: 2G, 1500M.
struct MemMb {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(uint64_t) { return false; }
  static void column(std::string& out, uint64_t mb, const Environment& env) { put_mem(out, mb, env.noconvert); }
  static void shown(std::string& out, uint64_t mb, const Environment& env) { put_mem(out, mb, env.noconvert); }
  static void json(Members& m, std::string_view key, uint64_t mb, const Environment&) { m.maybe(key, true, mb); }
  static int64_t order(uint64_t mb) { return static_cast<int64_t>(mb); }
};

// A point in time.
struct Moment {
  static constexpr bool kOurs = false;
  static constexpr std::string_view kColumnNone = "N/A", kShownNone = "Unknown";
  static constexpr Shape kShape = Shape::kNumber;
  static constexpr int64_t kLast = std::numeric_limits<int64_t>::max();  // unknown times come last
  static bool empty(Time t) { return t == kTimeUnset || t == kTimeInfinite; }
  static void column(std::string& out, Time t, const Environment& env) { put_time(out, t, env); }
  static void shown(std::string& out, Time t, const Environment& env) { put_time(out, t, env); }
  static void json(Members& m, std::string_view key, Time t, const Environment&) { m.time(key, t); }
  static int64_t order(Time t) { return t == kTimeUnset ? kLast : unix_seconds(t); }
};

// A length of time: squeue 5:00, scontrol 00:05:00, documents seconds.
struct Span {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(Duration) { return false; }
  static void column(std::string& out, Duration span, const Environment&) { put_span(out, span); }
  static void shown(std::string& out, Duration span, const Environment&) { put_span_full(out, span); }
  static void json(Members& m, std::string_view key, Duration span, const Environment&) {
    m.maybe(key, true, static_cast<uint64_t>(to_seconds(span)));
  }
  static int64_t order(Duration span) { return to_seconds(span); }
};

// A length of time in minutes, as somebody asked for it; 0: nobody did. Documents have the minutes.
struct Minutes {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "0:00", kShownNone = "N/A";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(uint32_t min) { return min == 0; }
  static void column(std::string& out, uint32_t min, const Environment&) { put_span(out, minutes(min)); }
  static void shown(std::string& out, uint32_t min, const Environment&) { put_span_full(out, minutes(min)); }
  static void json(Members& m, std::string_view key, uint32_t min, const Environment&) { m.maybe(key, true, min); }
  static int64_t order(uint32_t min) { return min; }
};

// A limit in minutes; kUnlimited32: there is none.
struct Limit {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "UNLIMITED", kShownNone = "UNLIMITED";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(uint32_t min) { return min == kUnlimited32; }
  static void column(std::string& out, uint32_t min, const Environment&) { put_span(out, minutes(min)); }
  static void shown(std::string& out, uint32_t min, const Environment&) { put_span_full(out, minutes(min)); }
  static void json(Members& m, std::string_view key, uint32_t min, const Environment&) { m.limit(key, min); }
  static int64_t order(uint32_t min) { return min; }
};

// A number of things at most; kUnlimited32: there is no bound.
struct Bound {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "UNLIMITED", kShownNone = "UNLIMITED";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(uint32_t most) { return most == kUnlimited32; }
  static void column(std::string& out, uint32_t most, const Environment&) { put_number(out, most); }
  static void shown(std::string& out, uint32_t most, const Environment&) { put_number(out, most); }
  static void json(Members& m, std::string_view key, uint32_t most, const Environment&) { m.limit(key, most); }
};

// A user, by name where the name is known: scontrol prints name(uid).
struct UserNamed {
  Uid uid{};
  std::string_view name;  // "": whoever prints it looks it up
};
struct Owner {
  static constexpr bool kOurs = false;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kText;
  static bool empty(const UserNamed&) { return false; }
  static void column(std::string& out, const UserNamed& user, const Environment& env) { put_user(out, user.uid, user.name, env); }
  static void shown(std::string& out, const UserNamed& user, const Environment& env);
  static void json(Members& m, std::string_view key, const UserNamed& user, const Environment& env);
};
// The same where there may be none.
struct Someone : Owner {
  static bool empty(const std::optional<UserNamed>& user) { return !user; }
  static void column(std::string& out, const std::optional<UserNamed>& user, const Environment& env) { Owner::column(out, *user, env); }
  static void shown(std::string& out, const std::optional<UserNamed>& user, const Environment& env) { Owner::shown(out, *user, env); }
  static void json(Members& m, std::string_view key, const std::optional<UserNamed>& user, const Environment& env) {
    if (user) Owner::json(m, key, *user, env);
    else m.text(key, "");
  }
};
struct Group {
  static constexpr bool kOurs = false;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kText;
  static bool empty(Gid) { return false; }
  static void column(std::string& out, Gid gid, const Environment& env) { put_group(out, gid, env); }
  static void shown(std::string& out, Gid gid, const Environment& env);
  static void json(Members& m, std::string_view key, Gid gid, const Environment& env);
};

// How something ended: code:signal.
struct Ending {
  int32_t status = 0;  // of wait(2)
  JobState state{};
};
struct Exit {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "", kShownNone = "";
  static constexpr Shape kShape = Shape::kObject;
  static bool empty(const Ending&) { return false; }
  static void column(std::string& out, const Ending& ending, const Environment&) { put_exit_status(out, ending.status); }
  static void shown(std::string& out, const Ending& ending, const Environment&) { put_exit_status(out, ending.status); }
  static void json(Members& m, std::string_view key, const Ending& ending, const Environment&) {
    json_exit_code(m, key, ending.status, ending.state);
  }
};

// Amounts of TRES: cpu=4,mem=8G.
struct Amounts {
  static constexpr bool kOurs = false;
  static constexpr std::string_view kColumnNone = "N/A", kShownNone = "(null)";
  static constexpr Shape kShape = Shape::kText;
  static bool empty(const TresAmounts& tres) { return tres.empty(); }
  static void column(std::string& out, const TresAmounts& tres, const Environment&) { put(out, tres_text(tres)); }
  static void shown(std::string& out, const TresAmounts& tres, const Environment&) { put(out, tres_text(tres)); }
  static void json(Members& m, std::string_view key, const TresAmounts& tres, const Environment&) { m.text(key, tres_text(tres)); }
};

}  // namespace muster::fields
