#include "slurmctld/core/privacy.h"

#include <algorithm>

namespace muster::slurmctld {

using Plugin = config::McsRules::Plugin;

Privacy::Privacy(const Settings& settings, Caller who) : who_(std::move(who)) {
  const config::Config& c = settings.config();
  if (who_.uid == Uid{0} || who_.uid == settings.slurm_user) return;
  auto hidden = [&](const char* what) { return std::ranges::find(c.private_data, what) != c.private_data.end(); };
  jobs_ = hidden("jobs");
  nodes_ = hidden("nodes");
  partitions_ = hidden("partitions");
  by_label_ = c.mcs.private_data && c.mcs.plugin != Plugin::kNone;
  labels_ = c.mcs.plugin;
}

// With labels it is the single nodes that are hidden.
Result<> Privacy::may_ask_for_nodes() const {
  if (!nodes_ || by_label_) return {};
  return fail(Errc::kAccessDenied, {}, "PrivateData=nodes: only root and SlurmUser see the state of nodes");
}

Result<> Privacy::may_ask_for_partitions() const {
  if (!partitions_) return {};
  return fail(Errc::kAccessDenied, {}, "PrivateData=partitions: only root and SlurmUser see the state of partitions");
}

bool Privacy::shows(const Job& job) const {
  return !jobs_ || job.request->uid == who_.uid || (by_label_ && may_read(job.request->mcs_label));
}

bool Privacy::shows(const Node& node) const { return !nodes_ || (by_label_ && (node.mcs_label.empty() || may_read(node.mcs_label))); }

// Whose label it may be. With mcs/label everybody is taken to have access to all of them.
bool Privacy::may_read(const std::string& label) const {
  switch (labels_) {
    case Plugin::kUser: return !label.empty() && label == who_.name;
    case Plugin::kGroup: return std::ranges::find(who_.groups, label) != who_.groups.end();
    case Plugin::kLabel: return true;
    default: return false;   // mcs/account: who is in which account is known to slurmdbd alone
  }
}

}  // namespace muster::slurmctld
