#include "config/mcs.h"

#include "base/text.h"

namespace muster::config {
namespace {

using Plugin = McsRules::Plugin;
using Select = McsRules::Select;

Plugin plugin_of(std::string_view name) {
  if (iequals(name, "mcs/account")) return Plugin::kAccount;
  if (iequals(name, "mcs/group")) return Plugin::kGroup;
  if (iequals(name, "mcs/user")) return Plugin::kUser;
  if (iequals(name, "mcs/label")) return Plugin::kLabel;
  return Plugin::kNone;
}

bool take_word(std::string_view word, McsRules& m) {
  auto is = [&](std::string_view name) { return iequals(word, name); };
  if (is("ondemand")) m.enforced = false;
  else if (is("enforced")) m.enforced = true;
  else if (is("noselect")) m.select = Select::kNever;
  else if (is("select")) m.select = Select::kAlways;
  else if (is("ondemandselect")) m.select = Select::kOnDemand;
  else if (is("privatedata")) m.private_data = true;
  else return false;
  return true;
}

}  // namespace

McsRules parse_mcs(std::string_view plugin, std::string_view parameters, std::vector<std::string>& left_out) {
  McsRules rules;
  rules.plugin = plugin_of(plugin);
  const size_t colon = parameters.find(':');
  for (std::string_view word : split(parameters.substr(0, colon), ',')) {
    word = trim(word);
    if (!word.empty() && !take_word(word, rules)) left_out.push_back("\"" + std::string(word.substr(0, 80)) + "\" is no word of it");
  }
  if (colon == std::string_view::npos) return rules;
  if (rules.plugin != Plugin::kGroup && rules.plugin != Plugin::kNone) {
    left_out.push_back("only mcs/group has a list behind the colon");
    return rules;
  }
  for (std::string_view group : split(parameters.substr(colon + 1), '|'))
    if (!trim(group).empty()) rules.groups.emplace_back(trim(group));
  return rules;
}

}  // namespace muster::config
