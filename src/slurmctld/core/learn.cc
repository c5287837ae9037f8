// Makes what slurmdbd says of accounts and QOS part of the state: only what differs becomes events, in parts of bounded size.
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

Events decide_learn(const View& v, const rpc::Entities& fetched) {
  Events out;
  if (!v.cluster.accounting) return out;  // switched off while it was on its way
  for (AccountChanges& part : changes_to(v.cluster.directory.get(), fetched))
    out.push_back(event::DirectoryLearned{std::make_shared<const AccountChanges>(std::move(part)), v.now});
  return out;
}

}  // namespace muster::slurmctld
