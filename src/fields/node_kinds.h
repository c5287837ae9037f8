// The kinds of values (kinds.h) that only nodes have, and those of a line of sinfo, which counts several nodes (sinfo_view.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fields/kinds.h"
#include "fields/sinfo_view.h"

namespace muster::fields {

// A state with its flags, "IDLE+DRAIN"; sinfo prints it in lower case, documents list its words. Each of them is a name of the description,
// too.
struct StateWords : Text {
  static constexpr bool kOurs = true;
  static constexpr Shape kShape = Shape::kTexts;
  static void column(std::string& out, std::string_view state, const Environment&) { put(out, to_lower(state)); }
  static void json(Members& m, std::string_view key, std::string_view state, const Environment&) { m.words(key, state, '+'); }
};

// The system's load in hundredths: 0.55. From 0xfffffffe on it is not known.
struct Load {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "N/A", kShownNone = "N/A";
  static constexpr Shape kShape = Shape::kInteger;
  static bool empty(uint64_t hundredths) { return hundredths >= 0xfffffffeu; }
  static void column(std::string& out, uint64_t hundredths, const Environment&) {
    put_fixed(out, static_cast<double>(hundredths) / 100.0, 2);
  }
  static void shown(std::string& out, uint64_t hundredths, const Environment& env) { column(out, hundredths, env); }
  static void json(Members& m, std::string_view key, uint64_t hundredths, const Environment&) {
    m.number(key, empty(hundredths) ? 0 : static_cast<int64_t>(hundredths));
  }
};

// Memory in MiB that the system says is free. From 0xfffffffffffffffe on it is not known.
struct FreeMb {
  static constexpr bool kOurs = true;
  static constexpr std::string_view kColumnNone = "N/A", kShownNone = "N/A";
  static constexpr Shape kShape = Shape::kNumber;
  static bool empty(uint64_t mb) { return mb >= 0xfffffffffffffffeull; }
  static void column(std::string& out, uint64_t mb, const Environment&) { put_number(out, mb); }
  static void shown(std::string& out, uint64_t mb, const Environment&) { put_number(out, mb); }
  static void json(Members& m, std::string_view key, uint64_t mb, const Environment&) { m.maybe(key, !empty(mb), empty(mb) ? 0 : mb); }
};

// ---- of a line of sinfo

// The least of the line's nodes, with "+" where another has more: 4+.
struct Least {
  static constexpr std::string_view kColumnNone = "0";
  static constexpr Shape kShape = Shape::kObject;
  static bool empty(const Extent& e) { return e.min > e.max; }
  static void column(std::string& out, const Extent& e, const Environment&) {
    put_number(out, e.min);
    if (e.max > e.min) out += '+';
  }
  static void json(Members& m, std::string_view key, const Extent& e, const Environment&) {
    const bool any = !empty(e);
    m.begin(key).number("minimum", any ? static_cast<int64_t>(e.min) : 0).number("maximum", any ? static_cast<int64_t>(e.max) : 0).end();
  }
  static int64_t order(const Extent& e) { return empty(e) ? 0 : static_cast<int64_t>(e.min); }
};

// From the least to the most, each as a value of the kind K: 0.10-1.25.
template <class K>
struct Between : Least {
  static constexpr std::string_view kColumnNone = "N/A";
  static void column(std::string& out, const Extent& e, const Environment& env) {
    one(out, e.min, env);
    if (e.max == e.min) return;
    out += '-';
    one(out, e.max, env);
  }

 private:
  static void one(std::string& out, uint64_t value, const Environment& env) {
    if (K::empty(value)) out += K::kColumnNone;
    else K::column(out, value, env);
  }
};

// How many are allocated and idle: 3/1.
struct AllocatedIdle {
  static constexpr std::string_view kColumnNone = "";
  static bool empty(const StateCounts&) { return false; }
  static void column(std::string& out, const StateCounts& counts, const Environment&) {
    put_number(out, counts.allocated);
    out += '/';
    put_number(out, counts.idle);
  }
  static int64_t order(const StateCounts& counts) { return counts.allocated; }
};
// The same with others and all: 3/1/0/4.
struct Counts : AllocatedIdle {
  static void column(std::string& out, const StateCounts& counts, const Environment& env) {
    AllocatedIdle::column(out, counts, env);
    out += '/';
    put_number(out, counts.other);
    out += '/';
    put_number(out, counts.total());
  }
};

}  // namespace muster::fields
