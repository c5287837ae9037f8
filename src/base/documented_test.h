// What Slurm's documentation names (options, keys, columns, reasons …), for tests that hold our tables against it. The names stand in
// test/documented, one file a topic and one line a name, so that such a test runs in every clone. Where the pages themselves are at hand
// (MUSTER_REFERENCE, or beside the repository) a file is held against them; MUSTER_UPDATE=1 writes it anew from them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace muster {

// "" when the file is not there.
inline std::string contents_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// A page of the reference, as "man/squeue.1.txt"; "" when it is not at hand.
inline std::string reference_page(const std::string& name) {
  const char* given = std::getenv("MUSTER_REFERENCE");
  return contents_of((given ? std::string(given) : std::string("../shared/reference")) + "/" + name);
}

// A file of test/documented as text. `made` is what the pages say; "" where they are not at hand.
inline std::string documented_text(const std::string& topic, const std::string& made) {
  const std::string path = "test/documented/" + topic;
  if (!made.empty() && std::getenv("MUSTER_UPDATE")) {
    std::filesystem::create_directories("test/documented");
    std::ofstream(path) << made;
  }
  std::string stored = contents_of(path);
  EXPECT_FALSE(stored.empty()) << path << " is not there (tests are started in the repository's root)";
  if (!made.empty()) {
    EXPECT_EQ(stored, made) << path << " is not what the pages say: MUSTER_UPDATE=1 writes it";
  }
  return stored;
}

// The names of a topic, in the order of the page. `read` takes them from a page that is at hand.
inline std::vector<std::string> documented_names(const std::string& topic, const std::string& page,
                                                 const std::function<std::vector<std::string>(const std::string& text)>& read) {
  std::string made;
  if (const std::string text = reference_page(page); !text.empty())
    for (const std::string& name : read(text)) made += name + "\n";
  std::istringstream lines(documented_text(topic + ".txt", made));
  std::vector<std::string> out;
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

}  // namespace muster
