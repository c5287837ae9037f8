// For tests that what is printed stays as it is, to the byte: texts by what was printed, and files of testdata with a digest of each.
// MUSTER_UPDATE=1 writes the files anew: the diff shows which fields changed. MUSTER_DUMP=DIR writes the texts themselves, for a diff of
// two builds.
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "base/documented_test.h"
#include "fields/tree_sink.h"

namespace muster::fields {

using PrintedTexts = std::map<std::string, std::string>;  // by what was printed

inline void print_times_in_utc() {
  setenv("TZ", "UTC", 1);
  tzset();
}

inline void expect_kept(const std::string& name, const std::string& now) {
  const std::string path = "src/fields/testdata/" + name;
  if (std::getenv("MUSTER_UPDATE")) std::ofstream(path) << now;
  EXPECT_EQ(contents_of(path), now) << path;
}

inline void expect_digests_kept(const std::string& name, const PrintedTexts& texts) {
  std::string out;
  for (const auto& [what, text] : texts) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    char hex[20];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
    out += std::string(hex) + " " + what + "\n";
  }
  if (const char* dir = std::getenv("MUSTER_DUMP"))
    for (auto [what, text] : texts) {
      std::string file = what;
      std::ranges::replace(file, ' ', '_');
      std::ofstream(std::string(dir) + "/" + file) << text;
    }
  expect_kept(name, out);
}

// The document that `write` writes to a sink: YAML, or JSON on one line.
std::string document_of(TreeForm form, auto write) {
  std::string out;
  auto sink = make_tree_sink(form, form == TreeForm::kJson, out);
  write(*sink);
  return out + "\n";
}

// Adds each member of a JSON document to the text of "what member".
inline void add_members(PrintedTexts& texts, const std::string& what, const std::string& document) {
  rapidjson::Document doc;
  doc.Parse(document.c_str());
  ASSERT_FALSE(doc.HasParseError()) << document;
  for (const auto& m : doc.GetObject()) {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    m.value.Accept(writer);
    texts[what + " " + m.name.GetString()] += std::string(buffer.GetString()) + "\n";
  }
}

}  // namespace muster::fields
