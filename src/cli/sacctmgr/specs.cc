#include "cli/sacctmgr/specs.h"

#include <algorithm>

#include "base/text.h"

namespace muster::cli {
namespace {

bool quote(char c) { return c == '\'' || c == '"'; }

std::string_view unquoted(std::string_view text) {
  if (text.size() >= 2 && quote(text.front()) && text.back() == text.front()) return text.substr(1, text.size() - 2);
  return text;
}

Spec spec_of(const std::string& word, Spec::Part part) {
  Spec spec;
  spec.part = part;
  spec.text = word;
  const size_t equals = word.find('=');
  if (equals == word.npos || equals == 0) {
    spec.value = word;
    return spec;
  }
  size_t end = equals;
  if (word[end - 1] == '+' || word[end - 1] == '-') {
    spec.op = word[end - 1] == '+' ? ChangeOp::kAdd : ChangeOp::kSubtract;
    --end;
  }
  spec.key = word.substr(0, end);
  spec.value = word.substr(equals + 1);
  return spec;
}

}  // namespace

std::vector<Spec> parse_specs(std::span<const std::string> words) {
  std::vector<Spec> out;
  Spec::Part part = Spec::Part::kFirst;
  for (const std::string& word : words) {
    if (iequals(word, "where")) part = Spec::Part::kWhere;
    else if (iequals(word, "set")) part = Spec::Part::kSet;
    else out.push_back(spec_of(word, part));
  }
  return out;
}

bool has_set(std::span<const Spec> specs) {
  return std::ranges::any_of(specs, [](const Spec& s) { return s.part == Spec::Part::kSet; });
}

std::vector<std::string> split_names(std::string_view value) {
  std::vector<std::string> out;
  size_t from = 0;
  char open = 0;
  for (size_t index = 0; index <= value.size(); ++index) {
    const bool end = index == value.size();
    if (!end && open) {
      if (value[index] == open) open = 0;
      continue;
    }
    if (!end && quote(value[index])) open = value[index];
    if (!end && value[index] != ',') continue;
    std::string_view name = trim(value.substr(from, index - from));
    std::string_view inner = unquoted(name);
    if (!inner.empty() || inner.size() != name.size()) out.emplace_back(inner);  // '' is a name that is empty
    from = index + 1;
  }
  return out;
}

}  // namespace muster::cli
