// Parses what --cpu-bind, --mem-bind and --tres-bind ask for. What becomes of it on a node is in slurmd/core/cpu_bind.h, mem_bind.h and
// gres_bind.h. srun(1). Pure; lists of at most kMaxBindList entries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bitmap.h"
#include "base/result.h"

namespace muster {

inline constexpr size_t kMaxBindList = 65536;

struct CpuBind {
  enum class Kind : uint8_t { kDefault, kNone, kThreads, kCores, kSockets, kLdoms, kRank, kMap, kMask, kRankLdom, kMapLdom, kMaskLdom };
  Kind kind = Kind::kDefault;
  bool verbose = false;
  std::vector<Bitmap> list;  // for the first task of a node, the second …, again from the start: the kernel's
                             // CPU numbers, or NUMA nodes
  std::string list_text;     // "0,1*4", masks without 0x

  static Result<CpuBind> parse(std::string_view text);
};

struct MemBind {
  enum class Kind : uint8_t { kDefault, kNone, kLocal, kRank, kMap, kMask };
  Kind kind = Kind::kDefault;
  bool verbose = false, prefer = false;
  bool sort = false;         // sort pages at startup: known, without effect on today's machines
  std::vector<Bitmap> list;  // NUMA nodes
  std::string list_text;

  static Result<MemBind> parse(std::string_view text);
};

struct TresBind {
  enum class Kind : uint8_t { kDefault, kNone, kClosest, kSingle, kPerTask, kMap, kMask };
  Kind kind = Kind::kDefault;
  bool verbose = false;
  uint32_t count = 0;        // kSingle: tasks per device; kPerTask: devices per task
  std::vector<Bitmap> list;  // device numbers
};

// "gres/gpu:verbose,closest+gres/nic:map:0,1": a part for each TRES.
struct TresBinds {
  struct Part {
    std::string tres;  // "gres/gpu"
    TresBind bind;
  };
  std::vector<Part> parts;  // in the order of the text

  // Errors: kInvalidReq, with the part that is wrong.
  static Result<TresBinds> parse(std::string_view text);
  // The last part for the TRES; nullptr: the text has none.
  const TresBind* find(std::string_view tres) const;
};

}  // namespace muster
