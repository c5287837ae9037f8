#include "wire/schema.h"

#include <set>

#include "model/accounting.h"
#include "model/archive.h"
#include "model/cluster.h"
#include "wire/accounting_instances.h"
#include "wire/instances.h"

namespace muster {
namespace {
using namespace wire;

template <class T>
constexpr std::string_view scalar_type() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_enum_v<T>) return "uint32";
  else if constexpr (IsStrongId<T>::value) return scalar_type<typename T::rep>();
  else if constexpr (std::is_same_v<T, Time> || std::is_same_v<T, Duration>) return "sint64";
  else if constexpr (std::is_signed_v<T>) return sizeof(T) > 4 ? "sint64" : "sint32";
  else return sizeof(T) > 4 ? "uint64" : "uint32";
}

template <class T>
std::string remark() {
  if constexpr (std::is_same_v<T, Time>) return "microseconds since 1970, 0 = not set";
  else if constexpr (std::is_same_v<T, Duration>) return "microseconds";
  else if constexpr (std::is_enum_v<T>) return "enum " + std::string(type_name<T>());
  else if constexpr (std::is_same_v<T, Bitmap>) return "bitmap: varint size, then its 64-bit words";
  else return {};
}

std::string snake(std::string_view camel) {
  std::string out;
  for (char c : camel) {
    if (c >= 'A' && c <= 'Z') {
      if (!out.empty()) out += '_';
      c = static_cast<char>(c - 'A' + 'a');
    }
    out += c;
  }
  return out;
}

class Schema {
 public:
  template <Described T>
  void message() {
    if (!done_.insert(type_name<T>()).second) return;
    std::string body;
    const T& d = default_of<T>();
    T::describe(d, [&](uint32_t number, const char* name, const auto& member) { body += field(number, name, member); });
    emit(type_name<T>(), body);
  }

  template <class... Ts>
  void one_of(std::string_view name, std::type_identity<std::variant<Ts...>>) {
    std::string body = "  oneof kind {\n";
    auto add = [&]<class T>(std::type_identity<T>) {
      message<T>();
      body += "    " + std::string(type_name<T>()) + ' ' + snake(type_name<T>()) + " = " + std::to_string(T::kNumber) + ";\n";
    };
    (add(std::type_identity<Ts>{}), ...);
    emit(name, body + "  }\n");
  }

  std::string take() { return std::move(out_); }

 private:
  void emit(std::string_view name, std::string_view body) {
    out_ += "\nmessage ";
    out_ += name;
    out_ += " {\n";
    out_ += body;
    out_ += "}\n";
  }

  template <class T>
  std::string_view type_of() {
    if constexpr (kIsScalar<T>) return scalar_type<T>();
    else if constexpr (std::is_same_v<T, double>) return "double";
    else if constexpr (std::is_same_v<T, std::string> || TextMember<T> || std::is_same_v<T, Bitmap>) return "bytes";
    else {
      message<T>();
      return type_name<T>();
    }
  }

  template <class M>
  std::string field(uint32_t number, const char* name, const M& member) {
    std::string_view label, type;
    std::string note;
    if constexpr (IsVector<M>::value) {
      using E = typename M::value_type;
      label = "repeated ";
      type = type_of<E>();
      note = remark<E>();
    } else if constexpr (!std::is_void_v<typename Pointee<M>::type>) {
      using P = typename Pointee<M>::type;
      type = type_of<P>();
      label = Described<P> ? "" : "optional ";
      note = remark<P>();
    } else {
      type = type_of<M>();
      note = remark<M>();
      // Where the default is not zero, zero has to be told from absence.
      if constexpr (kIsScalar<M>)
        if (member != M{}) {
          label = "optional ";
          const uint64_t w = to_wire(member);
          note += std::string(note.empty() ? "" : ", ") + "absent = ";
          note += std::is_signed_v<M> ? std::to_string(unzigzag(w)) : std::to_string(w);
        }
    }
    std::string line = "  ";
    line += label;
    line += type;
    line += ' ';
    line += name;
    line += " = " + std::to_string(number) + ";";
    if (!note.empty()) line += "  // " + note;
    return line + '\n';
  }

  std::set<std::string_view> done_;
  std::string out_;
};

}  // namespace

std::string proto_schema() {
  Schema schema;
  schema.one_of("Event", std::type_identity<Event>{});
  schema.message<Node>();
  schema.message<Job>();
  schema.message<ArrayGroup>();
  schema.message<KeptRecord>();
  schema.message<ArchivePart>();
  return "// Muster's events and snapshot records. Written by the schema test from the descriptions in "
         "src/model; do not edit.\n"
         "// Numbers are append-only.\n"
         "syntax = \"proto3\";\n"
         "package muster;\n" +
         schema.take();
}

}  // namespace muster
