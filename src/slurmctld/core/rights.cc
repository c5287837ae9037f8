#include "slurmctld/core/rights.h"

#include <algorithm>

namespace muster::slurmctld {
namespace {

constexpr RightRow kRows[] = {
#define MUSTER_RIGHT(name, level, page, words) {&#name[1], RightLevel::level, page, words},
#include "slurmctld/core/rights.def"
#undef MUSTER_RIGHT
};

}  // namespace

const RightRow& right_row(Right right) { return kRows[static_cast<size_t>(right)]; }
std::span<const RightRow> right_rows() { return kRows; }

std::string_view who_has(RightLevel level) {
  switch (level) {
    case RightLevel::kAnyone: return "everybody";
    case RightLevel::kOwner: return "the job's owner and root";
    case RightLevel::kOwnerOrOperator: return "the job's owner and operators";
    case RightLevel::kManager: return "the job's owner, coordinators of its account and operators";
    case RightLevel::kCoordinator: return "coordinators of the job's account and operators";
    case RightLevel::kOperator: return "operators";
    case RightLevel::kAdministrator: return "administrators";
    case RightLevel::kRoot: return "root and SlurmUser";
  }
  return {};
}

Rights::Rights(const Settings& settings, std::shared_ptr<const AccountDirectory> directory, const Caller& who)
    : directory_(std::move(directory)), uid_(who.uid), name_(who.name), through_(who.through), through_node_(who.through_node) {
  if (through_.kind != SubjectKind::kUser) return;
  if (uid_ == Uid{0} || uid_ == settings.slurm_user) {
    standing_ = Standing::kRoot;
  } else if (directory_ && !name_.empty()) {
    const AdminLevel said = directory_->level_of(name_);
    if (said == AdminLevel::kAdministrator) standing_ = Standing::kAdministrator;
    else if (said == AdminLevel::kOperator) standing_ = Standing::kOperator;
  }
}

bool Rights::within_reach(const Job& job) const {
  if (through_.kind != SubjectKind::kNode || job.request->alloc_node == through_.name) return true;
  return through_node_ && job.allocation &&
         std::ranges::any_of(job.allocation->nodes, [&](const NodeShare& s) { return s.node == *through_node_; });
}

bool Rights::coordinates(const Job& job) const {
  return through_.kind != SubjectKind::kNode && directory_ && !name_.empty() && !job.request->account.empty() &&
         directory_->coordinates(name_, job.request->account);
}

bool Rights::may(Right right) const {
  switch (right_row(right).level) {
    case RightLevel::kAnyone: return true;
    case RightLevel::kOwnerOrOperator:
    case RightLevel::kManager:
    case RightLevel::kCoordinator:
    case RightLevel::kOperator: return standing_ >= Standing::kOperator;
    case RightLevel::kAdministrator: return standing_ >= Standing::kAdministrator;
    case RightLevel::kOwner:
    case RightLevel::kRoot: return standing_ == Standing::kRoot;
  }
  return false;
}

bool Rights::may(Right right, const Job& job) const {
  if (may(right)) return true;
  switch (right_row(right).level) {
    case RightLevel::kOwner:
    case RightLevel::kOwnerOrOperator: return owns(job);
    case RightLevel::kManager: return owns(job) || coordinates(job);
    case RightLevel::kCoordinator: return coordinates(job);
    default: return false;
  }
}

}  // namespace muster::slurmctld
