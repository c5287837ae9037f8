// TaskHint: --hint, what the tasks are bound by and whether two may share a core. srun(1) --hint. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace muster {

struct TaskHint {
  enum class Kind : uint8_t { kNone, kComputeBound, kMemoryBound, kMultithread, kNoMultithread };
  Kind kind = Kind::kNone;

  // Every word that is no hint is none: the option table refuses it where it is typed.
  static Result<TaskHint> parse(std::string_view text);
  // Tasks use one thread of a core.
  bool one_thread() const { return kind == Kind::kComputeBound || kind == Kind::kMemoryBound || kind == Kind::kNoMultithread; }
};

}  // namespace muster
