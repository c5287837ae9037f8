// A fact of a job, declared once: what it is, where its value comes from, of which kind it is (kinds.h), and where it is printed:
//
//   field<Text, &ShownRequest::account>("Account that is charged",
//       column('a', "Account", "ACCOUNT"), shown("Account", at(30, 30)), member("account", 10)),
//
//   column(letter of -o, name of -O, header)   in squeue; 0 and "": none
//   shown(key, at(line, place))                in scontrol show job: lines, and keys in a line, stand in the order of these numbers
//   member(key, place)                         in --json and --yaml; members stand in the order of these numbers
//
// Places are counted by tens, so that there is room between them; two facts at one place do not compile (job_fields.cc). The value is a
// member of JobRow or of ShownRequest, or a function of one of these or of a JobView; it costs nothing but the call. A form that takes
// the value from elsewhere, or spells it as another kind, says so: member<Number, &JobRow::eligible>(…). What is made of several values
// is written by hand, and seen to be: .written(function).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "fields/field_table.h"
#include "fields/kinds.h"
#include "fields/show.h"

namespace muster::fields {

// ---- what a row is made of

// A key in scontrol's record.
struct ShownKey {
  std::string_view key = "";
  uint16_t line = 0, place = 0;            // line 0: it is not shown
  std::string_view none = "";              // stands for a value that is not there
  bool if_any = false;                     // it is left out where the value is not there
  bool details = false;                    // with -d only
  bool (*when)(const JobView&) = nullptr;  // it is left out where this is false
  void (*print)(const JobView&, const ShownKey&, Record&) = nullptr;
  void (*value)(const JobView&, std::string& out) = nullptr;  // written by hand; appends
  constexpr bool is_there() const { return line != 0; }
  constexpr uint32_t order() const { return uint32_t{line} << 16 | place; }
};

// A member of a job's object in documents.
struct ObjectMember {
  std::string_view key = "";
  uint16_t place = 0;  // 0: there is none
  Shape shape = Shape::kText;
  void (*write)(const JobView&, std::string_view key, Members&) = nullptr;
  constexpr bool is_there() const { return place != 0; }
  constexpr uint32_t order() const { return place; }
};

struct JobFact {
  JobField column{};  // of squeue; its doc says what the fact is
  ShownKey shown{};
  ObjectMember member{};
  constexpr bool has_column() const { return column.letter || !column.name.empty(); }
};

// ---- where a value comes from

struct SameAsField {};  // the kind or the getter of the field itself

template <auto Get>
decltype(auto) value_of(const JobView& v) {
  if constexpr (std::is_invocable_v<decltype(Get), const JobView&>) return std::invoke(Get, v);
  else if constexpr (std::is_invocable_v<decltype(Get), const JobRow&>) return std::invoke(Get, v.row);
  else return std::invoke(Get, v.request);
}

template <class K, auto Get>
void column_text(const JobView& v, std::string& out) {
  decltype(auto) value = value_of<Get>(v);
  if (!K::empty(value)) K::column(out, value, v.env);
}
template <class K, auto Get>
int64_t column_order(const JobView& v) {
  return K::order(value_of<Get>(v));
}
template <class K, auto Get>
void print_key(const JobView& v, const ShownKey& k, Record& r) {
  decltype(auto) value = value_of<Get>(v);
  const bool empty = K::empty(value);
  if (empty && k.if_any) return;
  std::string& out = r.key_on(k.line, k.key);
  if (empty) out += k.none;
  else K::shown(out, value, v.env);
  if (K::kOurs || empty) r.value_is_plain();
}
template <class K, auto Get>
void write_member(const JobView& v, std::string_view key, Members& m) {
  K::json(m, key, value_of<Get>(v), v.env);
}
inline void print_written_key(const JobView& v, const ShownKey& k, Record& r) { k.value(v, r.key_on(k.line, k.key)); }

// ---- the forms, as rows write them

template <class K = SameAsField, auto Get = SameAsField{}>
struct Column {
  JobField field;
  std::optional<std::string_view> word;

  constexpr Column none(std::string_view text) const {
    return with([&](Column& c) { c.word = text; });
  }
  constexpr Column cut(uint8_t bits) const {
    return with([&](Column& c) { c.field.cut = bits; });
  }
  constexpr Column parts(uint32_t bits) const {
    return with([&](Column& c) { c.field.parts = bits; });
  }
  constexpr Column order(int64_t (*number)(const JobView&)) const {
    return with([&](Column& c) { c.field.number = number; });
  }
  constexpr Column written(void (*text)(const JobView&, std::string&)) const {
    return with([&](Column& c) { c.field.text = text; });
  }

 private:
  constexpr Column with(auto change) const {
    Column c = *this;
    change(c);
    return c;
  }
};
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr Column<K, Get> column(char letter, std::string_view name, std::string_view header) {
  return {{letter, name, "", header, 0, FieldStatus::kWorks, "", nullptr}, {}};
}

struct At {
  uint16_t line, place;
};
constexpr At at(uint16_t line, uint16_t place) { return {line, place}; }

template <class K = SameAsField, auto Get = SameAsField{}>
struct Shown {
  ShownKey key;
  std::optional<std::string_view> word;

  constexpr Shown none(std::string_view text) const {
    return with([&](Shown& s) { s.word = text; });
  }
  constexpr Shown if_any() const {
    return with([](Shown& s) { s.key.if_any = true; });
  }
  constexpr Shown details() const {
    return with([](Shown& s) { s.key.details = true; });
  }
  constexpr Shown when(bool (*condition)(const JobView&)) const {
    return with([&](Shown& s) { s.key.when = condition; });
  }
  constexpr Shown written(void (*value)(const JobView&, std::string&)) const {
    return with([&](Shown& s) { s.key.value = value; });
  }

 private:
  constexpr Shown with(auto change) const {
    Shown s = *this;
    change(s);
    return s;
  }
};
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr Shown<K, Get> shown(std::string_view key, At place) {
  return {{.key = key, .line = place.line, .place = place.place}, {}};
}

template <class K = SameAsField, auto Get = SameAsField{}>
struct Member {
  ObjectMember member;

  constexpr Member written(Shape shape, void (*write)(const JobView&, std::string_view, Members&)) const {
    Member m = *this;
    m.member.shape = shape;
    m.member.write = write;
    return m;
  }
};
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr Member<K, Get> member(std::string_view key, uint16_t place) {
  return {{.key = key, .place = place}};
}

// ---- rows

template <class Own, class Fields>
using KindOf = std::conditional_t<std::is_same_v<Own, SameAsField>, Fields, Own>;
template <auto Own, auto Fields>
constexpr auto getter_of() {
  if constexpr (std::is_same_v<std::remove_const_t<decltype(Own)>, SameAsField>) return Fields;
  else return Own;
}

template <class FieldKind, auto FieldGet, class K, auto Get>
constexpr void add(JobFact& fact, Column<K, Get> c) {
  c.field.doc = fact.column.doc;
  fact.column = c.field;
  fact.column.none = c.word.value_or("");
  using Kind = KindOf<K, FieldKind>;
  if constexpr (!std::is_same_v<Kind, SameAsField>) {
    constexpr auto get = getter_of<Get, FieldGet>();
    if (!c.field.text) fact.column.text = column_text<Kind, get>;
    if (!c.word) fact.column.none = Kind::kColumnNone;
    if constexpr (requires {
                    column_order<Kind, get>;
                    Kind::order(value_of<get>(std::declval<const JobView&>()));
                  })
      if (!c.field.number) fact.column.number = column_order<Kind, get>;
  }
}
template <class FieldKind, auto FieldGet, class K, auto Get>
constexpr void add(JobFact& fact, Shown<K, Get> s) {
  fact.shown = s.key;
  fact.shown.none = s.word.value_or("");
  fact.shown.print = print_written_key;
  using Kind = KindOf<K, FieldKind>;
  if constexpr (!std::is_same_v<Kind, SameAsField>) {
    if (s.key.value) return;
    fact.shown.print = print_key<Kind, getter_of<Get, FieldGet>()>;
    if (!s.word) fact.shown.none = Kind::kShownNone;
  }
}
template <class FieldKind, auto FieldGet, class K, auto Get>
constexpr void add(JobFact& fact, Member<K, Get> m) {
  fact.member = m.member;
  using Kind = KindOf<K, FieldKind>;
  if constexpr (!std::is_same_v<Kind, SameAsField>) {
    if (m.member.write) return;
    fact.member.shape = Kind::kShape;
    fact.member.write = write_member<Kind, getter_of<Get, FieldGet>()>;
  }
}

// A fact of one value.
template <class Kind, auto Get>
constexpr JobFact field(std::string_view doc, auto... forms) {
  JobFact fact;
  fact.column.doc = doc;
  (add<Kind, Get>(fact, forms), ...);
  return fact;
}
// A fact whose forms are written by hand.
constexpr JobFact composite(std::string_view doc, auto... forms) { return field<SameAsField, SameAsField{}>(doc, forms...); }
// Lines of scontrol's record, with -d, that are not keys with one value each: `print` writes all of them.
constexpr JobFact block(std::string_view doc, At place, void (*print)(const JobView&, const ShownKey&, Record&)) {
  JobFact fact;
  fact.column.doc = doc;
  fact.shown = {.line = place.line, .place = place.place, .details = true, .print = print};
  return fact;
}
// A fact of a feature that Muster does not have: what is printed is what Slurm prints where the feature is not in use. `needs` names the
// feature that will fill it; "": nothing will.
template <class Kind, auto Get>
constexpr JobFact absent_field(std::string_view needs, std::string_view doc, auto... forms) {
  JobFact fact = field<Kind, Get>(doc, forms...);
  fact.column.status = FieldStatus::kConstant;
  fact.column.needs = needs;
  return fact;
}

}  // namespace muster::fields
