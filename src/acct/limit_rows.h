// The table of limits: which of sacctmgr's kinds is held, whose it is, what it counts, when it is asked and the reason it gives. limits.h asks
// it; nobody else does. To add a row: docs/checklists/add-a-limit.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "acct/limits.h"
#include "model/accounts.h"

namespace muster::acct {

enum class On : uint8_t { kPartition, kQos, kJobQos, kAssociation, kAssociations };  // kAssociations: the job's and all above it
enum class Of : uint8_t { kAll, kUser, kAccount };                                   // of a QOS: whose jobs there count together
// kUsedWall, kUsedMinutes: what was used, decayed; kRunMinutes: what those who run may still use. kAccruing: jobs that grow in priority by
// waiting. kOneJob: what one job takes; kOneNode: what it takes on one node; kOneJobMinutes: what it takes times its time limit;
// kAtLeast: what one job has to take.
enum class Counts : uint8_t {
  kRunning,
  kSubmitted,
  kAccruing,
  kUsedWall,
  kHeld,
  kUsedMinutes,
  kRunMinutes,
  kOneJob,
  kOneNode,
  kOneJobMinutes,
  kAtLeast,
  kMinutes
};

// A limit on several TRES has a reason for each; any other TRES has the reason `any`.
struct Reasons {
  Reason any{};
  Reason cpu = any, mem = any, node = any, billing = any, gres = any, license = any;
  Reason of(const TresName& tres) const;
  bool has(Reason r) const;
};

struct LimitRow {
  LimitKind kind;
  On on;
  Of of;
  Counts counts;
  uint8_t asked;  // When
  Reasons reasons;
  std::optional<LimitKind> unless_qos = {};  // the QOS's limit that takes its place
  const char* called = nullptr;              // null: as sacctmgr(1) has the kind

  const char* name() const;
  bool of_one_job() const { return counts >= Counts::kOneJob; }
  bool per_tres() const { return counts >= Counts::kHeld && counts != Counts::kMinutes; }
  bool of_usage() const { return counts == Counts::kUsedMinutes || counts == Counts::kUsedWall; }
  // An amount that is there at one moment: LimitFactor and Relative of a QOS are about those.
  bool of_amount() const {
    return counts == Counts::kHeld || counts == Counts::kOneJob || counts == Counts::kOneNode || counts == Counts::kAtLeast;
  }
};

std::span<const LimitRow> limit_rows();

}  // namespace muster::acct
