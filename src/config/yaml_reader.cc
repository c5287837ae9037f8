#include "config/yaml_reader.h"

#include <algorithm>

#include "base/text.h"

namespace muster::config {

void YamlReader::load(const std::string& text, const std::function<void(const YAML::Node&)>& f) {
  if (text.size() > kMaxBytes) return f_.error({file_, 0, 0}, "", "the file is larger than 16 MiB");
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsNull()) f(root);        // an empty file, or comments alone
  } catch (const YAML::Exception& e) {  // the library throws when the text is not YAML
    f_.error({file_, static_cast<uint32_t>(e.mark.line + 1), 0}, "", "not YAML: " + e.msg);
  }
}

void YamlReader::each_entry(const std::string& text, const std::string& what, const std::string& begins,
                            const std::function<void(const YAML::Node&)>& f) {
  load(text, [&](const YAML::Node& root) {
    if (!root.IsSequence()) return f_.error(pos(root), "", "must be a list of " + what, "each begins with \"" + begins + "\"");
    for (const YAML::Node& n : root) f(n);
  });
}

void YamlReader::whole_map(const std::string& text, const std::function<void(const YAML::Node&)>& f) {
  load(text, [&](const YAML::Node& root) {
    if (root.IsMap()) f(root);
    else f_.error(pos(root), "", "must be a map of keys and values");
  });
}

void YamlReader::each_key(const YAML::Node& map, const std::string& what, const Keys& keys, Unknown unknown) {
  if (!map.IsMap()) return f_.error(pos(map), what, "must be a map of keys and values");
  for (const auto& entry : map) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    auto row = std::ranges::find(keys, std::string_view(key), &Keys::value_type::first);
    if (row != keys.end()) {
      row->second(entry.second);
      continue;
    }
    std::vector<std::string_view> known;
    for (const auto& k : keys) known.push_back(k.first);
    const std::string_view near = did_you_mean(key, known);
    const std::string hint = near.empty() ? "" : "did you mean " + std::string(near) + "?";
    if (unknown == Unknown::kError) f_.error(pos(entry.first), key, "is not known in " + what, hint);
    else f_.odd(pos(entry.first), key, "is not known in " + what, "it is left out", hint);
  }
}

void YamlReader::each(const YAML::Node& list, const std::string& what, const std::function<void(const YAML::Node&)>& f) {
  if (!list.IsSequence()) return f_.error(pos(list), what, "must be a list");
  for (const YAML::Node& n : list) f(n);
}

std::string YamlReader::text(const YAML::Node& n, const char* key) {
  if (n.IsScalar()) return n.Scalar();
  f_.error(pos(n), key, "must be a text");
  return {};
}

bool YamlReader::yes(const YAML::Node& n, const char* key) {
  const std::string t = n.IsScalar() ? n.Scalar() : "";
  if (iequals(t, "true") || iequals(t, "yes") || iequals(t, "on")) return true;
  if (!iequals(t, "false") && !iequals(t, "no") && !iequals(t, "off")) f_.error(pos(n), key, "must be true or false");
  return false;
}

}  // namespace muster::config
