// Finds a node's place in Config::nodes by its name. Lookup O(1); iteration is never needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace muster::config {

class NodeIndex {
 public:
  void reserve(size_t n) { places_.reserve(n); }
  // The place `name` already has, or nullopt after adding it.
  std::optional<uint32_t> add(const std::string& name, uint32_t place) {
    auto [it, fresh] = places_.try_emplace(name, place);
    if (fresh) return std::nullopt;
    return it->second;
  }
  std::optional<uint32_t> find(std::string_view name) const {
    auto it = places_.find(name);
    if (it == places_.end()) return std::nullopt;
    return it->second;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };
  std::unordered_map<std::string, uint32_t, Hash, Equal> places_;
};

}  // namespace muster::config
