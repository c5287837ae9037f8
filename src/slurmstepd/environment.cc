#include "slurmstepd/environment.h"

#include "base/text.h"

namespace muster::slurmstepd {

Environment::Environment(const std::vector<std::string>& entries) {
  entries_.reserve(entries.size() + 16);
  for (const std::string& e : entries) set(e);
}

void Environment::set(std::string_view entry) {
  size_t eq = entry.find('=');
  if (eq == std::string_view::npos || eq == 0) return;
  auto [at, fresh] = places_.try_emplace(std::string(entry.substr(0, eq)), entries_.size());
  if (fresh) entries_.emplace_back(entry);
  else entries_[at->second] = entry;
}

void Environment::unset(std::string_view name) {
  auto at = places_.find(std::string(name));
  if (at == places_.end()) return;
  size_t place = at->second;
  places_.erase(at);
  if (place + 1 < entries_.size()) {
    entries_[place] = std::move(entries_.back());
    places_[entries_[place].substr(0, entries_[place].find('='))] = place;
  }
  entries_.pop_back();
}

std::string Environment::apply_prolog_output(std::string_view output) {
  std::string printed;
  for (std::string_view line : split(output, '\n')) {
    if (line.starts_with("export ")) set(trim(line.substr(7)));
    else if (line.starts_with("unset ")) unset(trim(line.substr(6)));
    else if (line.starts_with("print ")) printed.append(line.substr(6)).push_back('\n');
  }
  return printed;
}

}  // namespace muster::slurmstepd
