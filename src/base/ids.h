// Distinct types for numbers that must not be mixed up. No cost at run time.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace muster {

template <class Tag, class Rep>
struct StrongId {
  using rep = Rep;
  Rep value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep v) : value(v) {}
  constexpr auto operator<=>(const StrongId&) const = default;
  constexpr explicit operator bool() const { return value != Rep{}; }
};

using JobId = StrongId<struct JobIdTag, uint32_t>;    // 0 = none; 1 … MaxJobId
using NodeId = StrongId<struct NodeIdTag, uint32_t>;  // index into Cluster::nodes, never reused while jobs hold it
using Uid = StrongId<struct UidTag, uint32_t>;
using Gid = StrongId<struct GidTag, uint32_t>;

// Step numbers count from 0; the special steps of a job have the numbers Slurm gives them.
using StepId = StrongId<struct StepIdTag, uint32_t>;
inline constexpr StepId kBatchStep{0xfffffffbu};
inline constexpr StepId kExternStep{0xfffffffcu};
inline constexpr StepId kInteractiveStep{0xfffffffau};

inline constexpr uint32_t kNoArrayTask = 0xfffffffeu;

}  // namespace muster

template <class Tag, class Rep>
struct std::hash<muster::StrongId<Tag, Rep>> {
  size_t operator()(muster::StrongId<Tag, Rep> id) const noexcept { return std::hash<Rep>()(id.value); }
};
