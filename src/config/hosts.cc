#include "config/hosts.h"

#include "base/text.h"
#include "hostlist/hostlist.h"

namespace muster::config {

Result<std::vector<std::string>> expand_hosts(std::string_view text, size_t limit) {
  Result<std::vector<std::string>> names = muster::expand_hosts(text, limit);
  if (names) return names;
  const Error& e = names.error();
  return fail(e.code, std::string(e.message()) + (e.hint.empty() ? "" : ", " + e.hint));
}

Result<std::vector<uint16_t>> expand_ports(std::string_view text, size_t limit) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<uint16_t> out;
  for (std::string_view range : split(text, ',')) {
    size_t dash = range.find('-');
    std::string_view a = range.substr(0, dash), b = dash == std::string_view::npos ? a : range.substr(dash + 1);
    auto first = parse_number<uint16_t>(a, 1), last = parse_number<uint16_t>(b, 1);
    if (!first || !last || *first > *last) return fail("must be a port or first-last, each from 1 to 65535");
    for (uint32_t p = *first; p <= *last && out.size() < limit; ++p) out.push_back(static_cast<uint16_t>(p));
  }
  if (out.empty()) return fail("must be a port or first-last, each from 1 to 65535");
  return out;
}

std::string substitute_node(std::string_view pattern, std::string_view node_name, std::string_view host_name) {
  std::string out;
  out.reserve(pattern.size() + node_name.size());
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' && i + 1 < pattern.size() && (pattern[i + 1] == 'n' || pattern[i + 1] == 'h')) {
      out += pattern[++i] == 'n' ? node_name : host_name.substr(0, host_name.find('.'));
      continue;
    }
    out += pattern[i];
  }
  return out;
}

}  // namespace muster::config
