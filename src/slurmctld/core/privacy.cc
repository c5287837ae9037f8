#include "slurmctld/core/privacy.h"

#include <algorithm>

#include "base/text.h"
#include "slurmctld/core/reservations.h"

namespace muster::slurmctld {

using Plugin = config::McsRules::Plugin;

Privacy::Privacy(const Settings& settings, std::shared_ptr<const AccountDirectory> directory, Caller who)
    : directory_(std::move(directory)), who_(std::move(who)) {
  const config::Config& config = settings.config();
  const Rights rights(settings, directory_, who_);
  if (rights.may(Right::kSeeHidden)) return;
  auto hidden = [&](const char* what) { return std::ranges::find(config.private_data, what) != config.private_data.end(); };
  jobs_ = hidden("jobs");
  nodes_ = hidden("nodes");
  partitions_ = hidden("partitions");
  reservations_ = hidden("reservations");
  users_ = hidden("users") || hidden("usage");
  by_label_ = config.mcs.private_data && config.mcs.plugin != Plugin::kNone;
  labels_ = config.mcs.plugin;
  if (jobs_) rights_ = rights;
}

// With labels, single nodes are hidden instead.
Result<> Privacy::may_ask_for_nodes() const {
  if (!nodes_ || by_label_) return {};
  return fail(Errc::kAccessDenied, {}, "PrivateData=nodes: only operators see the state of nodes");
}

Result<> Privacy::may_ask_for_partitions() const {
  if (!partitions_) return {};
  return fail(Errc::kAccessDenied, {}, "PrivateData=partitions: only operators see the state of partitions");
}

bool Privacy::shows(const Job& job) const {
  return !jobs_ || rights_->may(Right::kSeeJob, job) || (by_label_ && may_read(job.request->mcs_label));
}

bool Privacy::shows(const Node& node) const { return !nodes_ || (by_label_ && (node.mcs_label.empty() || may_read(node.mcs_label))); }

bool Privacy::shows(const Cluster& cluster, const Reservation& r) const { return !reservations_ || is_for_caller(cluster, r, who_); }

bool Privacy::shows_user(Uid uid) const { return !users_ || uid == who_.uid; }

bool Privacy::shows_user_of(const AssociationRecord& association) const {
  return !users_ || association.user == who_.name || association.user == to_lower(who_.name) ||
         (directory_ && directory_->coordinates(who_.name, association.account));
}

bool Privacy::shows_user(const std::string& name) const { return !users_ || name == who_.name || name == to_lower(who_.name); }

bool Privacy::shows_account(const std::string& account) const {
  if (!users_) return true;
  if (!directory_) return false;
  const std::vector<std::string> own = directory_->accounts_of(who_.name);
  return std::ranges::find(own, account) != own.end() || directory_->coordinates(who_.name, account);
}

Errc refusal(const View& v, const Job& job, Errc usual) {
  return Privacy(v.settings, v.cluster.directory, v.caller).shows(job) ? usual : Errc::kInvalidJobId;
}

// Whether the caller may see what has this label. With mcs/label everybody is taken to have access to all labels.
bool Privacy::may_read(const std::string& label) const {
  if (who_.through.kind == SubjectKind::kNode) return false;  // labels are the user's on all nodes
  switch (labels_) {
    case Plugin::kUser: return !label.empty() && label == who_.name;
    case Plugin::kGroup: return std::ranges::find(who_.groups, label) != who_.groups.end();
    case Plugin::kLabel: return true;
    case Plugin::kAccount: return directory_ && !label.empty() && directory_->association(who_.name, label, "");  // one for all partitions
    default: return false;
  }
}

}  // namespace muster::slurmctld
