// A fact of a job, a step, a node …, declared once: what it is, where its value comes from, of which kind it is (kinds.h), and where it is
// printed:
//
//   field<Text, &ShownRequest::account>("Account that is charged",
//       column('a', "Account", "ACCOUNT"), shown("Account", at(30, 30)), member("account", 10)),
//
//   column(letter of -o, name of -O, header)   in squeue; 0 and "": none
//   shown(key, at(line, place))                in scontrol show: lines, and keys in a line, stand in the order of these numbers
//   member(key, place)                         in --json and --yaml; members stand in the order of these numbers. "time.start" is the
//                                              member start of the object time
//
// Places are counted by tens, so that there is room between them; two facts at one place do not compile. The value is a member of the
// view's row or request, or a function of one of these or of the view; it costs nothing but the call. A form that takes the value from
// elsewhere, or spells it as another kind, says so: member<Number, &JobRow::eligible>(…). What is made of several values is written by
// hand, and seen to be: .written(function).
//
// The forms of each noun, and what is special about them, stand where its facts do: job_fact.h, step_fields.cc, node_fields.cc ….
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fields/columns.h"
#include "fields/field_table.h"
#include "fields/kinds.h"
#include "fields/show.h"

namespace muster::fields {

// ---- what a row is made of

// A key in scontrol's record.
template <class View>
struct ShownKey {
  std::string_view key = "";
  uint16_t line = 0, place = 0;         // line 0: it is not shown
  std::string_view none = "";           // stands for a value that is not there
  SpelledKey spelled{};                 // the key, and `none`
  bool if_any = false;                  // it is left out where the value is not there,
  std::string_view instead = "";        // … and this stands in its place
  std::string_view after = "";          // stands behind the value
  bool details = false;                 // with -d only
  bool (*when)(const View&) = nullptr;  // it is left out where this is false
  void (*print)(const View&, const ShownKey&, Record&) = nullptr;
  void (*value)(const View&, std::string& out) = nullptr;  // written by hand; appends
  constexpr bool is_there() const { return line != 0; }
  constexpr uint32_t order() const { return uint32_t{line} << 16 | place; }
};

// A member of the object in documents.
template <class ViewOf>
struct ObjectMember {
  using View = ViewOf;
  std::string_view key = "";
  uint16_t place = 0;  // 0: there is none
  Shape shape = Shape::kText;
  void (*write)(const View&, std::string_view key, Members&) = nullptr;
  constexpr bool is_there() const { return place != 0; }
  constexpr uint32_t order() const { return place; }
};

// `Row` is the row of the table that the columns are in; its view may hold more than the fact is about: a line of sinfo has several nodes.
template <class ViewOf, class RowOf = FieldRow<ViewOf>>
struct Fact {
  using View = ViewOf;
  using Row = RowOf;
  Row column{};  // its doc says what the fact is
  ShownKey<View> shown{};
  ObjectMember<View> member{};
  ObjectMember<typename Row::View> second{};  // in a second object, of what the columns see: a line of sinfo --json
  constexpr bool has_column() const { return column.text != nullptr; }
};

// ---- where a value comes from

struct SameAsField {};  // the kind or the getter of the field itself

// `Get` is a member or a function of the view itself, or of one of the things in it.
template <auto Get, class View>
decltype(auto) value_of(const View& v) {
  if constexpr (std::is_invocable_v<decltype(Get), const View&>) return std::invoke(Get, v);
  else if constexpr (requires { std::invoke(Get, v.row); }) return std::invoke(Get, v.row);
  else if constexpr (requires { std::invoke(Get, v.request); }) return std::invoke(Get, v.request);
  else if constexpr (requires { std::invoke(Get, v.row.partition); }) return std::invoke(Get, v.row.partition);
  else if constexpr (requires { std::invoke(Get, v.job); }) return std::invoke(Get, v.job);
  else if constexpr (requires { std::invoke(Get, *v.step); }) return std::invoke(Get, *v.step);
  else return std::invoke(Get, v.line);
}

// Where the form's view holds what the fact is about, `Of` gives that: a pointer or an optional, empty where the view has none.
struct Itself {
  template <class View>
  constexpr const View* operator()(const View& v) const {
    return &v;
  }
};
template <class View, auto Of>
bool is_there(const View& v) {
  return bool(Of(v));
}

template <class View, class K, auto Get, auto Of>
void column_text(const View& v, std::string& out) {
  const auto of = Of(v);
  if (!of) return;
  decltype(auto) value = value_of<Get>(*of);
  if (!K::empty(value)) K::column(out, value, v.env);
}
template <class View, class K, auto Get, auto Of>
int64_t column_order(const View& v) {
  const auto of = Of(v);
  return of ? K::order(value_of<Get>(*of)) : 0;
}
template <class View, class K, auto Get>
void print_key(const View& view, const ShownKey<View>& key, Record& record) {
  decltype(auto) value = value_of<Get>(view);
  const bool empty = K::empty(value);
  if (empty && key.if_any) {
    record.out() += key.instead;
    return;
  }
  std::string& out = record.key_on(key.line, key.spelled, empty);
  if (!empty) K::shown(out, value, view.env);
  if (!key.after.empty()) out += key.after;
  if (K::kOurs) record.value_is_plain();
}
template <class View, class K, auto Get, auto Of>
void write_member(const View& v, std::string_view key, Members& m) {
  K::json(m, key, value_of<Get>(*Of(v)), v.env);
}
template <class View>
void print_written_key(const View& v, const ShownKey<View>& k, Record& r) {
  k.value(v, r.key_on(k.line, k.spelled, false));
}

// ---- the forms, as rows write them

template <class FactOf, class K = SameAsField, auto Get = SameAsField{}, auto Of = Itself{}>
struct Column {
  using Fact = FactOf;
  using Row = typename Fact::Row;
  using View = typename Row::View;
  Row field;
  std::optional<std::string_view> word;
  bool sorts_as_text = false;

  constexpr Column none(std::string_view text) const {
    return with([&](Column& c) { c.word = text; });
  }
  constexpr Column alias(std::string_view name) const {
    return with([&](Column& c) { c.field.alias = name; });
  }
  constexpr Column aliases(std::string_view names) const {
    return with([&](Column& c) { c.field.aliases = names; });
  }
  constexpr Column fit(Fit rule) const {
    return with([&](Column& c) { c.field.fit = rule; });
  }
  constexpr Column cut(uint8_t bits) const {
    return with([&](Column& c) { c.field.cut = bits; });
  }
  constexpr Column parts(uint32_t bits) const {
    return with([&](Column& c) { c.field.parts = bits; });
  }
  constexpr Column split(Split apart) const {
    return with([&](Column& c) { c.field.split = apart; });
  }
  constexpr Column order(int64_t (*number)(const View&)) const {
    return with([&](Column& c) { c.field.number = number; });
  }
  constexpr Column by_text() const {
    return with([](Column& c) { c.sorts_as_text = true; });
  }
  constexpr Column written(void (*text)(const View&, std::string&)) const {
    return with([&](Column& c) { c.field.text = text; });
  }

 private:
  constexpr Column with(auto change) const {
    Column c = *this;
    change(c);
    return c;
  }
};
template <class FactOf, class K = SameAsField, auto Get = SameAsField{}, auto Of = Itself{}>
constexpr Column<FactOf, K, Get, Of> column_of(char letter, std::string_view name, std::string_view header) {
  return {{letter, name, "", header, 0, FieldStatus::kWorks, "", nullptr}, {}};
}

struct At {
  uint16_t line, place;
};
constexpr At at(uint16_t line, uint16_t place) { return {line, place}; }

template <class FactOf, class K = SameAsField, auto Get = SameAsField{}>
struct Shown {
  using Fact = FactOf;
  using View = typename Fact::View;
  ShownKey<View> key;
  std::optional<std::string_view> word;

  constexpr Shown none(std::string_view text) const {
    return with([&](Shown& s) { s.word = text; });
  }
  constexpr Shown if_any(std::string_view instead = "") const {
    return with([&](Shown& s) { s.key.if_any = true, s.key.instead = instead; });
  }
  constexpr Shown then(std::string_view after) const {
    return with([&](Shown& s) { s.key.after = after; });
  }
  constexpr Shown details() const {
    return with([](Shown& s) { s.key.details = true; });
  }
  constexpr Shown when(bool (*condition)(const View&)) const {
    return with([&](Shown& s) { s.key.when = condition; });
  }
  constexpr Shown written(void (*value)(const View&, std::string&)) const {
    return with([&](Shown& s) { s.key.value = value; });
  }

 private:
  constexpr Shown with(auto change) const {
    Shown s = *this;
    change(s);
    return s;
  }
};
template <class FactOf, class K = SameAsField, auto Get = SameAsField{}>
constexpr Shown<FactOf, K, Get> shown_of(std::string_view key, At place) {
  return {{.key = key, .line = place.line, .place = place.place}, {}};
}

// `In` says in which of the fact's objects it is a member.
template <class FactOf, auto In, class K = SameAsField, auto Get = SameAsField{}, auto Of = Itself{}>
struct Member {
  using Fact = FactOf;
  using Object = std::remove_cvref_t<decltype(std::declval<Fact>().*In)>;
  using View = typename Object::View;
  Object member;

  constexpr Member written(Shape shape, void (*write)(const View&, std::string_view, Members&)) const {
    Member m = *this;
    m.member.shape = shape;
    m.member.write = write;
    return m;
  }
};
template <class FactOf, class K = SameAsField, auto Get = SameAsField{}>
constexpr Member<FactOf, &FactOf::member, K, Get> member_of(std::string_view key, uint16_t place) {
  return {{.key = key, .place = place}};
}
template <class FactOf, class K = SameAsField, auto Get = SameAsField{}, auto Of = Itself{}>
constexpr Member<FactOf, &FactOf::second, K, Get, Of> second_of(std::string_view key, uint16_t place) {
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

template <class FieldKind, auto FieldGet, class F, class K, auto Get, auto Of>
constexpr void add(F& fact, Column<F, K, Get, Of> form) {
  using View = typename F::Row::View;
  form.field.doc = fact.column.doc;
  fact.column = form.field;
  fact.column.none = form.word.value_or("");
  if constexpr (!std::is_same_v<std::remove_const_t<decltype(Of)>, Itself>) fact.column.there = is_there<View, Of>;
  using Kind = KindOf<K, FieldKind>;
  if constexpr (!std::is_same_v<Kind, SameAsField>) {
    constexpr auto get = getter_of<Get, FieldGet>();
    if (!form.field.text) fact.column.text = column_text<View, Kind, get, Of>;
    if (!form.word) fact.column.none = Kind::kColumnNone;
    if constexpr (requires {
                    fact.column.number;
                    Kind::order(value_of<get>(*Of(std::declval<const View&>())));
                  })
      if (!form.field.number && !form.sorts_as_text) fact.column.number = column_order<View, Kind, get, Of>;
  }
}
template <class FieldKind, auto FieldGet, class F, class K, auto Get>
constexpr void add(F& fact, Shown<F, K, Get> form) {
  using View = typename F::View;
  fact.shown = form.key;
  fact.shown.none = form.word.value_or("");
  fact.shown.print = print_written_key<View>;
  using Kind = KindOf<K, FieldKind>;
  if constexpr (!std::is_same_v<Kind, SameAsField>)
    if (!form.key.value) {
      fact.shown.print = print_key<View, Kind, getter_of<Get, FieldGet>()>;
      if (!form.word) fact.shown.none = Kind::kShownNone;
    }
  fact.shown.spelled = {fact.shown.key, fact.shown.none};
}
template <class FieldKind, auto FieldGet, class F, auto In, class K, auto Get, auto Of>
constexpr void add(F& fact, Member<F, In, K, Get, Of> m) {
  auto& member = fact.*In;
  member = m.member;
  using Kind = KindOf<K, FieldKind>;
  if constexpr (!std::is_same_v<Kind, SameAsField>) {
    if (m.member.write) return;
    member.shape = Kind::kShape;
    member.write = write_member<typename decltype(m)::View, Kind, getter_of<Get, FieldGet>(), Of>;
  }
}

// A fact of one value.
template <class Kind, auto Get, class Form, class... Forms>
constexpr typename Form::Fact field(std::string_view doc, Form form, Forms... forms) {
  typename Form::Fact fact;
  fact.column.doc = doc;
  add<Kind, Get>(fact, form);
  (add<Kind, Get>(fact, forms), ...);
  return fact;
}
// A fact whose forms are written by hand.
constexpr auto composite(std::string_view doc, auto... forms) { return field<SameAsField, SameAsField{}>(doc, forms...); }
// Lines of scontrol's record, with -d, that are not keys with one value each: `print` writes all of them.
template <class View>
constexpr Fact<View> block(std::string_view doc, At place, void (*print)(const View&, const ShownKey<View>&, Record&)) {
  Fact<View> fact;
  fact.column.doc = doc;
  fact.shown = {.line = place.line, .place = place.place, .details = true, .print = print};
  return fact;
}
// A fact of a feature that Muster does not have: what is printed is what Slurm prints where the feature is not in use. `needs` names the
// feature that will fill it; "": nothing will.
template <class Kind, auto Get>
constexpr auto absent_field(std::string_view needs, std::string_view doc, auto... forms) {
  auto fact = field<Kind, Get>(doc, forms...);
  fact.column.status = FieldStatus::kConstant;
  fact.column.needs = needs;
  return fact;
}

// ---- all facts of a noun, in lists by subject

// Every fact's part of one form, sorted by where it stands in it. Two at one place are an error of compilation.
template <const auto& kSubjects, auto Part>
consteval auto in_order() {
  using First = std::remove_cvref_t<decltype(kSubjects[0][0])>;
  using Form = std::remove_cvref_t<decltype(std::declval<First>().*Part)>;
  constexpr size_t kCount = [] {
    size_t n = 0;
    for (std::span<const First> facts : kSubjects)
      for (const First& fact : facts) n += (fact.*Part).is_there();
    return n;
  }();
  std::array<const Form*, kCount> out{};
  size_t n = 0;
  for (std::span<const First> facts : kSubjects)
    for (const First& fact : facts)
      if ((fact.*Part).is_there()) out[n++] = &(fact.*Part);
  std::ranges::sort(out, {}, [](const Form* form) { return form->order(); });
  if (std::ranges::adjacent_find(out, {}, [](const Form* form) { return form->order(); }) != out.end())
    throw "two facts stand at one place";
  return out;
}

// The columns, in the order of the rows.
template <const auto& kSubjects>
consteval auto columns_of() {
  using First = std::remove_cvref_t<decltype(kSubjects[0][0])>;
  constexpr size_t kCount = [] {
    size_t n = 0;
    for (std::span<const First> facts : kSubjects)
      for (const First& fact : facts) n += fact.has_column();
    return n;
  }();
  std::array<std::remove_cvref_t<decltype(First::column)>, kCount> out{};
  size_t n = 0;
  for (std::span<const First> facts : kSubjects)
    for (const First& fact : facts)
      if (fact.has_column()) out[n++] = fact.column;
  return out;
}

// scontrol's record of a noun. A queue has very many, so print() is compiled as one function over all of its keys.
template <class View>
struct ShownRecord {
  std::span<const ShownKey<View>* const> keys;
  void (*print)(const View& view, bool details, Record& record);
};

// The object of a noun in documents. The caller of write() begins and ends it.
template <class View>
struct DocumentObject {
  std::span<const ObjectMember<View>* const> members;
  void (*write)(const View& view, Members& members);
};

template <const auto& kKeys, size_t kAt, class View>
void print_key_at(const View& view, bool details, Record& record) {
  constexpr const ShownKey<View>& key = *kKeys[kAt];
  if (key.details && !details) return;
  if constexpr (key.when != nullptr)
    if (!key.when(view)) return;
  key.print(view, key, record);
}

// The path of the object that the member `path` is in: "time" of "time.start".
constexpr std::string_view outer(std::string_view path) {
  const size_t dot = path.rfind('.');
  return dot == path.npos ? std::string_view() : path.substr(0, dot);
}
// Ends the objects of the path `open`, and begins others, until that of the path `wanted` is open.
void go_into(Members& members, std::string_view open, std::string_view wanted);

template <const auto& kMembers, size_t kAt, class View>
void write_member_at(const View& view, Members& members) {
  constexpr const ObjectMember<View>& member = *kMembers[kAt];
  constexpr std::string_view open = kAt ? outer(kMembers[kAt ? kAt - 1 : 0]->key) : std::string_view(), wanted = outer(member.key);
  if constexpr (open != wanted) go_into(members, open, wanted);
  member.write(view, member.key.substr(wanted.empty() ? 0 : wanted.size() + 1), members);
}

// Of keys and members as in_order() has them.
template <class View, const auto& kKeys>
constexpr ShownRecord<View> record_of() {
  return {kKeys, [](const View& view, bool details, Record& record) {
            [&]<size_t... kAt>(std::index_sequence<kAt...>) { (print_key_at<kKeys, kAt>(view, details, record), ...); }
            (std::make_index_sequence<kKeys.size()>());
          }};
}
template <class View, const auto& kMembers>
constexpr DocumentObject<View> object_of() {
  return {kMembers, [](const View& view, Members& members) {
            [&]<size_t... kAt>(std::index_sequence<kAt...>) { (write_member_at<kMembers, kAt>(view, members), ...); }
            (std::make_index_sequence<kMembers.size()>());
            go_into(members, outer(kMembers.back()->key), "");
          }};
}

}  // namespace muster::fields
