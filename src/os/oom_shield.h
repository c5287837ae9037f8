// How ready the kernel is to end a process for want of memory: proc(5), oom_score_adj, from -1000 (never) to 1000 (first).
//
// The kernel keeps one score for one memory. A child that borrows ours until its program replaces it (launch.h) therefore has ours, and keeps
// it when it runs its program: a job of a daemon that is never ended would never be ended. So a daemon with a score of its own lays that down
// for as long as such children are on their way. For one thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace muster::os {

// What SLURMD_OOM_ADJ or SLURMSTEPD_OOM_ADJ says: -17 to 15 as in the kernel's old oom_adj (-17: never), beyond that a score. nullopt: neither.
std::optional<int> oom_score_of(std::string_view text);
int own_oom_score();  // 0 where nobody says
// Lowering it needs CAP_SYS_RESOURCE.
Result<> set_oom_score(int score);

class OomShield {
 public:
  // Errors: `own` may not be set.
  Result<> raise(int own, int childrens);
  void lay_down();  // as often as take_up()
  void take_up();

 private:
  bool raised_ = false;
  int own_ = 0, childrens_ = 0;
  int on_their_way_ = 0;
};

// Lays it down while it lives. May be of nobody's.
class ShieldDown {
 public:
  explicit ShieldDown(OomShield* shield) : shield_(shield) {
    if (shield_) shield_->lay_down();
  }
  ~ShieldDown() {
    if (shield_) shield_->take_up();
  }
  ShieldDown(const ShieldDown&) = delete;
  ShieldDown& operator=(const ShieldDown&) = delete;

 private:
  OomShield* shield_;
};

}  // namespace muster::os
