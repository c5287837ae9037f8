// What the readers of YAML files share: positions, maps whose keys are rows, lists and texts. An error names file and line. Inside config/
// only.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/record.h"

namespace muster::config {

class YamlReader {
 public:
  YamlReader(const std::string& file, Findings& f) : f_(f), file_(std::make_shared<const std::string>(file)) {}

 protected:
  using Keys = std::vector<std::pair<std::string_view, std::function<void(const YAML::Node&)>>>;
  static constexpr size_t kMaxBytes = 16u << 20;

  // Calls f(entry) for each entry of the list that the file is; `what` says what they are, `begins` how one begins.
  void each_entry(const std::string& text, const std::string& what, const std::string& begins,
                  const std::function<void(const YAML::Node&)>& f);
  // Calls f(map) with the map that the file is.
  void whole_map(const std::string& text, const std::function<void(const YAML::Node&)>& f);
  SourcePos pos(const YAML::Node& n) const { return {file_, n.Mark().line >= 0 ? static_cast<uint32_t>(n.Mark().line + 1) : 0, 0}; }
  enum class Unknown : uint8_t { kError, kLeftOut };
  // Reads each key of the map by its row; keys without a row are errors, or left out with a notice.
  void each_key(const YAML::Node& map, const std::string& what, const Keys& keys, Unknown unknown = Unknown::kError);
  void each(const YAML::Node& list, const std::string& what, const std::function<void(const YAML::Node&)>& f);
  std::string text(const YAML::Node& n, const char* key);  // "" after an error
  bool yes(const YAML::Node& n, const char* key);

  Findings& f_;

 private:
  // Calls f(root) unless the text is none, too long or no YAML.
  void load(const std::string& text, const std::function<void(const YAML::Node&)>& f);
  std::shared_ptr<const std::string> file_;
};

}  // namespace muster::config
