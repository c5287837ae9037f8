// Where the tests find the manual pages and the OpenAPI description: MUSTER_REFERENCE, or beside the
// repository.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace muster::fields {

// "" when the file is not there.
inline std::string reference_file(const std::string& name) {
  const char* given = std::getenv("MUSTER_REFERENCE");
  std::string path = (given ? std::string(given) : std::string("../shared/reference")) + "/" + name;
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace muster::fields
