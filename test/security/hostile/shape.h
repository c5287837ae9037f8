// What the hostile client does with any described value: print it as lines, set one of its fields by name, and make one
// variant of it for each field and each hostile value. All of it from the descriptions, so that a message or a field is
// covered the day it is written.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/rpc.h"
#include "wire/codec.h"

namespace muster::hostile {

using wire::IsStrongId;
using wire::IsVariant;
using wire::IsVector;
using wire::Pointee;

// "\n" as \n, other bytes that are not printable as \xNN: one value is one line.
inline std::string quoted(std::string_view text) {
  std::string out;
  for (unsigned char c : text) {
    static constexpr char kHex[] = "0123456789abcdef";
    if (c == '\\') out += "\\\\";
    else if (c == '\n') out += "\\n";
    else if (c < 0x20 || c >= 0x7f) out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    else out += static_cast<char>(c);
  }
  return out;
}

// The way back.
inline std::string unquoted(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) out += text[i];
    else if (text[i + 1] == 'n') out += '\n', ++i;
    else if (text[i + 1] == 'x' && i + 3 < text.size())
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 2, 2)), nullptr, 16)), i += 3;
    else out += text[++i];
  }
  return out;
}

// ---- printing: "path=value" for every field that is not zero or empty
template <class T>
void print(std::string& out, const std::string& path, const T& value);

struct Printer {
  std::string& out;
  const std::string& path;
  template <class M>
  void operator()(unsigned, const char* name, const M& m) const {
    print(out, path.empty() ? name : path + "." + name, m);
  }
};

template <class T>
void print(std::string& out, const std::string& path, const T& value) {
  using P = typename Pointee<T>::type;
  auto line = [&](const std::string& text) { out += path + "=" + text + "\n"; };
  if constexpr (IsStrongId<T>::value) {
    print(out, path, value.value);
  } else if constexpr (wire::kIsScalar<T>) {
    if (value == T{}) return;
    if constexpr (std::is_signed_v<T> || std::is_same_v<T, Time> || std::is_same_v<T, Duration>)
      line(std::to_string(wire::unzigzag(wire::to_wire(value))));
    else line(std::to_string(wire::to_wire(value)));
  } else if constexpr (std::is_same_v<T, double>) {
    if (value != 0) line(std::to_string(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!value.empty()) line(quoted(value));
  } else if constexpr (TextMember<T>) {
    if (!value.empty()) line(quoted(value.text()));
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    if (value.any()) line(value.to_ranges());
  } else if constexpr (IsVector<T>::value) {
    if constexpr (std::is_same_v<T, std::vector<bool>>) return;
    else
      for (size_t i = 0; i < value.size(); ++i) print(out, path + "." + std::to_string(i), value[i]);
  } else if constexpr (wire::Carried<T>) {
    if (value) print(out, path, *value.whole());
  } else if constexpr (std::is_same_v<T, std::optional<P>>) {
    if (value) line("set"), print(out, path, *value);
  } else if constexpr (!std::is_void_v<P>) {
    if (value) print(out, path, *value);
  } else if constexpr (IsVariant<T>::value) {
    std::visit([&](const auto& v) { print(out, path + "." + std::to_string(std::decay_t<decltype(v)>::kNumber), v); }, value);
  } else {
    Printer p{out, path};
    T::describe(value, p);
  }
}

// ---- setting one field: "changes.0.key" to a text. False where there is no such field or the text does not fit.
template <class T>
bool assign(T& value, std::string_view path, const std::string& text);

struct Assigner {
  std::string_view name, rest;
  const std::string& text;
  bool done = false;
  template <class M>
  void operator()(unsigned, const char* field, M& m) {
    if (!done && name == field) done = assign(m, rest, text);
  }
};

template <class T>
bool assign(T& value, std::string_view path, const std::string& text) {
  using P = typename Pointee<T>::type;
  const size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot), rest = dot == path.npos ? std::string_view() : path.substr(dot + 1);
  if constexpr (IsStrongId<T>::value) {
    return assign(value.value, path, text);
  } else if constexpr (wire::kIsScalar<T>) {
    const bool minus = text.starts_with('-');
    uint64_t n = std::strtoull(text.c_str() + (minus ? 1 : 0), nullptr, 0);
    if constexpr (std::is_same_v<T, bool>) value = n != 0;
    else if constexpr (std::is_same_v<T, Time>) value = Time(Duration(static_cast<int64_t>(n)));
    else if constexpr (std::is_same_v<T, Duration>) value = Duration(static_cast<int64_t>(n));
    else value = static_cast<T>(minus ? -static_cast<int64_t>(n) : static_cast<int64_t>(n));
    return path.empty();
  } else if constexpr (std::is_same_v<T, std::string> || TextMember<T>) {
    value = text;
    return path.empty();
  } else if constexpr (std::is_same_v<T, Bitmap>) {
    return path.empty() && Bitmap::parse_ranges(text, value);
  } else if constexpr (IsVector<T>::value) {
    const size_t index = std::strtoul(std::string(name).c_str(), nullptr, 10);
    if (index > 100000) return false;
    if (index >= value.size()) value.resize(index + 1);
    return assign(value[index], rest, text);
  } else if constexpr (wire::Carried<T> || std::is_same_v<T, double>) {
    return false;
  } else if constexpr (std::is_same_v<T, std::optional<P>>) {
    if (!value) value.emplace();
    return assign(*value, path, text);
  } else if constexpr (!std::is_void_v<P>) {
    auto fresh = value ? std::make_shared<P>(*value) : std::make_shared<P>();
    const bool ok = assign(*fresh, path, text);
    value = std::move(fresh);
    return ok;
  } else if constexpr (IsVariant<T>::value) {
    return false;
  } else {
    Assigner a{name, rest, text};
    T::describe(value, a);
    return a.done;
  }
}

// ---- variants
struct Values {
  std::vector<uint64_t> numbers;   // of others' jobs and users, and the ends of what fits
  std::vector<std::string> texts;  // names, hashes, paths, what terminals obey
  std::vector<std::string> keys;   // of `scontrol update`
};

// How many fields a value of this type has, counting those of one element of each list and of what may be absent. A field
// that nothing can be set in has one, too: it is visited.
template <class T>
size_t leaves();

struct LeafCounter {
  size_t count = 0;
  template <class M>
  void operator()(unsigned, const char*, M&) {
    count += leaves<std::remove_const_t<M>>();
  }
};

template <class T>
struct Alternatives;
template <class... Ts>
struct Alternatives<std::variant<Ts...>> {
  static size_t count() { return (leaves<Ts>() + ...); }
  template <class F>
  static void each(F f) {
    (f.template operator()<Ts>(), ...);
  }
};

template <class T>
size_t leaves() {
  using P = typename Pointee<T>::type;
  if constexpr (wire::kIsScalar<T> || std::is_same_v<T, double> || std::is_same_v<T, std::string> || TextMember<T> ||
                std::is_same_v<T, Bitmap> || wire::Carried<T> || std::is_same_v<T, std::vector<rpc::KeyValue>>) {
    return 1;
  } else if constexpr (IsVector<T>::value) {
    return 1 + leaves<typename T::value_type>();  // the list itself: many of them
  } else if constexpr (!std::is_void_v<P>) {
    return leaves<P>();
  } else if constexpr (IsVariant<T>::value) {
    return Alternatives<T>::count();
  } else {
    static const size_t kCount = [] {
      T fresh{};
      LeafCounter c;
      T::describe(fresh, c);
      return c.count;
    }();
    return kCount;
  }
}

// Sets field `leaf` (counted as above) of a value to hostile value number `choice`. `told` says how many choices there are.
class Mutator {
 public:
  Mutator(const Values& values, size_t leaf, size_t choice) : values_(values), leaf_(leaf), choice_(choice) {}
  size_t told = 0;
  std::string name;  // of the field

  template <class T>
  void visit(T& v) {
    using P = typename Pointee<T>::type;
    const size_t mine = leaves<T>();
    if (leaf_ < at_ || leaf_ >= at_ + mine) {
      at_ += mine;
      return;
    }
    if constexpr (IsStrongId<T>::value) {
      visit(v.value);
    } else if constexpr (std::is_same_v<T, bool>) {
      told = 2;
      v = choice_ == 0;
      ++at_;
    } else if constexpr (std::is_enum_v<T>) {
      told = 18;
      v = static_cast<T>(choice_ < 16 ? choice_ : std::numeric_limits<std::underlying_type_t<T>>::max() - (choice_ - 16));
      ++at_;
    } else if constexpr (wire::kIsScalar<T>) {
      told = values_.numbers.size();
      const uint64_t n = values_.numbers[choice_ % told];
      if constexpr (std::is_same_v<T, Time>) v = Time(Duration(static_cast<int64_t>(n)));
      else if constexpr (std::is_same_v<T, Duration>) v = Duration(static_cast<int64_t>(n));
      else v = static_cast<T>(n);
      ++at_;
    } else if constexpr (std::is_same_v<T, double>) {
      told = 2;
      v = choice_ ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
      ++at_;
    } else if constexpr (std::is_same_v<T, std::string> || TextMember<T>) {
      told = values_.texts.size();
      v = values_.texts[choice_ % told];
      ++at_;
    } else if constexpr (std::is_same_v<T, Bitmap>) {
      told = 2;
      v = Bitmap(choice_ ? 1 : 100000, true);
      ++at_;
    } else if constexpr (wire::Carried<T>) {
      told = 1;
      ++at_;
    } else if constexpr (std::is_same_v<T, std::vector<rpc::KeyValue>>) {
      key_values(v);
      ++at_;
    } else if constexpr (IsVector<T>::value) {
      if (leaf_ == at_) {
        told = 2;
        if (v.empty()) v.resize(1);
        v.resize(choice_ ? 3 : 600, v.front());
        at_ += mine;
        return;
      }
      ++at_;
      if (v.empty()) v.resize(1);
      visit(v.front());
    } else if constexpr (std::is_same_v<T, std::optional<P>>) {
      if (!v) v.emplace();
      visit(*v);
    } else if constexpr (!std::is_void_v<P>) {
      auto fresh = v ? std::make_shared<P>(*v) : std::make_shared<P>();
      visit(*fresh);
      v = std::move(fresh);
    } else if constexpr (IsVariant<T>::value) {
      Alternatives<T>::each([&]<class A>() {
        if (leaf_ >= at_ && leaf_ < at_ + leaves<A>()) visit(v.template emplace<A>());
        else at_ += leaves<A>();
      });
    } else {
      T::describe(v, *this);
    }
  }
  template <class M>
  void operator()(unsigned, const char* field, M& m) {
    const size_t before = at_;
    const bool here = leaf_ >= before && leaf_ < before + leaves<M>();
    if (here) name += (name.empty() ? "" : ".") + std::string(field);
    visit(m);
  }

 private:
  // Every key that an update knows, each with every text.
  void key_values(std::vector<rpc::KeyValue>& v) {
    static constexpr const char* kOps[] = {"=", "+=", "-="};
    const size_t texts = values_.texts.size();
    told = values_.keys.size() * texts;
    if (told == 0) return void(told = 1);
    const size_t key = choice_ / texts % values_.keys.size(), text = choice_ % texts;
    v = {{values_.keys[key], kOps[choice_ % 7 < 2 ? choice_ % 7 + 1 : 0], values_.texts[text]}};
  }

  const Values& values_;
  size_t leaf_, choice_, at_ = 0;
};

// f(variant, name of the field) for each field and each hostile value, from `base`.
template <class M, class F>
void for_each_variant(const M& base, const Values& values, F f) {
  for (size_t leaf = 0; leaf < leaves<M>(); ++leaf) {
    size_t choices = 1;
    for (size_t choice = 0; choice < choices; ++choice) {
      M m = base;
      Mutator mutator(values, leaf, choice);
      mutator.visit(m);
      choices = mutator.told;
      f(std::move(m), mutator.name);
    }
  }
}

// All fields at once, each with the value that `choice` stands for.
template <class M>
M all_at_once(const M& base, const Values& values, size_t choice) {
  M m = base;
  for (size_t leaf = 0; leaf < leaves<M>(); ++leaf) Mutator(values, leaf, choice).visit(m);
  return m;
}

}  // namespace muster::hostile
