// Environment: the variables of a task, later ones over earlier ones, and what a task prolog changes in them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster::slurmstepd {

class Environment {
 public:
  explicit Environment(const std::vector<std::string>& entries);
  void set(std::string_view entry);  // "NAME=value"
  void unset(std::string_view name);
  const std::vector<std::string>& entries() const { return entries_; }

  // Applies the "export NAME=value", "unset NAME" and "print text" lines of a task prolog; returns the texts to print.
  std::string apply_prolog_output(std::string_view output);

 private:
  std::vector<std::string> entries_;
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace muster::slurmstepd
