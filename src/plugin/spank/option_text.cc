#include "plugin/spank/option_text.h"

namespace muster::spank {
namespace {

void append_name(std::string& out, std::string_view name) {
  for (char c : name) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += plain ? c : '_';
  }
}

}  // namespace

std::string option_key(std::string_view plugin, std::string_view option) {
  std::string out(kOptionPrefix);
  append_name(out, plugin);
  out += '_';
  append_name(out, option);
  return out;
}

bool is_entry_of(std::string_view entry, std::string_view key) {
  return entry.size() > key.size() && entry[key.size()] == '=' && entry.starts_with(key);
}

std::string_view value_of(std::string_view entry) { return entry.substr(std::min(entry.size(), entry.find('=') + 1)); }

}  // namespace muster::spank
