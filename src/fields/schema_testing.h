// Holds documents against the shapes of the OpenAPI description: every member that is written is described there with that type, and every
// property of the description is written. The shapes that tests ask for stand in test/documented.
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <set>
#include <string>

#include "base/documented_test.h"

namespace muster::fields {

using rapidjson::Value;

class Schema {
 public:
  explicit Schema(const std::string& text) { doc_.Parse(text.c_str()); }
  bool ok() const { return !doc_.HasParseError() && doc_.IsObject(); }
  const Value& named(const char* name) const { return doc_["components"]["schemas"][name]; }
  const Value& resolved(const Value& v) const {
    if (!v.HasMember("$ref")) return v;
    std::string ref = v["$ref"].GetString();
    return named(ref.substr(ref.rfind('/') + 1).c_str());
  }

  void check(const Value& value, const Value& description, const std::string& where) const {
    const Value& d = resolved(description);
    if (!d.HasMember("type")) return;  // "items": {} says nothing
    std::string type = d["type"].GetString();
    if (type == "string") {
      EXPECT_TRUE(value.IsString()) << where;
    }
    if (type == "boolean") {
      EXPECT_TRUE(value.IsBool()) << where;
    }
    if (type == "integer") {
      EXPECT_TRUE(value.IsInt64() || value.IsUint64()) << where;
    }
    if (type == "number") {
      EXPECT_TRUE(value.IsNumber()) << where;
    }
    if (type == "string" && d.HasMember("enum")) check_enum(value, d["enum"], where);
    if (type == "array") check_list(value, d, where);
    if (type == "object") check_object(value, d, where);
  }

 private:
  void check_enum(const Value& value, const Value& words, const std::string& where) const {
    bool found = false;
    for (const Value& w : words.GetArray()) found = found || w == value;
    EXPECT_TRUE(found) << where << " has " << value.GetString();
  }
  void check_list(const Value& value, const Value& d, const std::string& where) const {
    ASSERT_TRUE(value.IsArray()) << where;
    for (const Value& v : value.GetArray()) check(v, d["items"], where + "[]");
  }
  void check_object(const Value& value, const Value& d, const std::string& where) const {
    ASSERT_TRUE(value.IsObject()) << where;
    if (!d.HasMember("properties")) return;
    const Value& properties = d["properties"];
    for (const auto& m : value.GetObject()) {
      std::string name = where + "." + m.name.GetString();
      if (properties.HasMember(m.name)) check(m.value, properties[m.name], name);
      else ADD_FAILURE() << name << " is not described";
    }
    for (const auto& p : properties.GetObject())
      EXPECT_TRUE(value.HasMember(p.name)) << where << "." << p.name.GetString() << " is not written";
  }

  rapidjson::Document doc_;
};

// Of a description what names and types it has, without its texts.
inline void copy_shape(const Value& from, Value& to, rapidjson::Document::AllocatorType& memory) {
  to.SetObject();
  for (const auto& m : from.GetObject()) {
    const std::string_view name(m.name.GetString(), m.name.GetStringLength());
    Value value;
    if (name == "$ref" || name == "type" || name == "enum") {
      value.CopyFrom(m.value, memory);
    } else if (name == "items") {
      copy_shape(m.value, value, memory);
    } else if (name == "properties") {
      value.SetObject();
      for (const auto& p : m.value.GetObject()) {
        Value shape;
        copy_shape(p.value, shape, memory);
        value.AddMember(Value(p.name, memory), shape, memory);
      }
    } else {
      continue;
    }
    to.AddMember(Value(m.name, memory), value, memory);
  }
}

// Every name that a description leads to.
inline void collect(const Schema& schema, const Value& d, std::set<std::string>& names) {
  if (d.HasMember("$ref")) {
    const std::string ref = d["$ref"].GetString(), name = ref.substr(ref.rfind('/') + 1);
    if (names.insert(name).second) collect(schema, schema.named(name.c_str()), names);
  }
  if (d.HasMember("items")) collect(schema, d["items"], names);
  if (d.HasMember("properties"))
    for (const auto& p : d["properties"].GetObject()) collect(schema, p.value, names);
}

// The part of the published description that is about one answer, as it stands in test/documented.
inline std::string shape_of(const std::string& name) {
  std::string made;
  if (const std::string page = reference_page("openapi/openapi_spec_v44.json"); !page.empty()) {
    const Schema schema(page);
    std::set<std::string> names = {name};
    collect(schema, schema.named(name.c_str()), names);
    rapidjson::Document out;
    auto& memory = out.GetAllocator();
    Value schemas(rapidjson::kObjectType);
    for (const std::string& n : names) {
      Value shape;
      copy_shape(schema.named(n.c_str()), shape, memory);
      schemas.AddMember(Value(n.c_str(), memory), shape, memory);
    }
    out.SetObject();
    out.AddMember("components", Value(rapidjson::kObjectType), memory);
    out["components"].AddMember("schemas", schemas, memory);
    rapidjson::StringBuffer buffer;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
    writer.SetIndent(' ', 1);
    out.Accept(writer);
    made = std::string(buffer.GetString()) + "\n";
  }
  return documented_text(name + ".json", made);
}

struct SchemaWalk : testing::Test {
  void walk(const std::string& json, const char* name) {
    const Schema schema(shape_of(name));
    ASSERT_TRUE(schema.ok());
    rapidjson::Document doc;
    doc.Parse(json.c_str());
    ASSERT_FALSE(doc.HasParseError()) << json;
    schema.check(doc, schema.named(name), "");
  }
};

}  // namespace muster::fields
