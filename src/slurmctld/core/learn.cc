// Makes what slurmdbd says of accounts and QOS part of the state: only what differs becomes events, in parts of bounded size.
#include <algorithm>

#include "slurmctld/core/decide.h"

namespace muster::slurmctld {

namespace {

// sacctmgr … set rawusage=0: slurmdbd has the moment in the record. What was told before this controller heard of the association for the
// first time is over.
void reset_where_told(const View& v, const rpc::Entities& fetched, Events& out) {
  if (!v.cluster.directory) return;
  const AccountDirectory& known = *v.cluster.directory;
  for (const AssociationRecord& a : fetched.associations)
    if (const AssociationRecord* was = known.associations.find(a.id); was && a.usage_reset > was->usage_reset)
      out.push_back(event::UsageReset{a.id, {}, v.now});
  for (const QosRecord& q : fetched.qos)
    if (const QosRecord* was = known.qos.find(q.name); was && q.usage_reset > was->usage_reset)
      out.push_back(event::UsageReset{0, q.name, v.now});
}

}  // namespace

// Guide licenses, "Dynamic Licenses": of those that the licence server says are in use, the ones that are neither for other clusters nor held
// by jobs here. Worked out when slurmdbd tells of a change, with what is held at that moment.
static uint32_t missing(const View& v, const RemoteLicense& l) {
  const uint64_t known = uint64_t{l.elsewhere} + v.cluster.license_used(l.name);
  return static_cast<uint32_t>(std::min<uint64_t>(l.last_consumed - std::min<uint64_t>(l.last_consumed, known), l.total));
}

Events decide_learn(const View& v, const rpc::Entities& fetched) {
  Events out;
  if (!v.cluster.accounting) return out;  // switched off while it was on its way
  for (AccountChanges& part : changes_to(v.cluster.directory.get(), fetched)) {
    for (RemoteLicense& l : part.licenses) l.deficit = missing(v, l);
    out.push_back(event::DirectoryLearned{std::make_shared<const AccountChanges>(std::move(part)), v.now});
  }
  reset_where_told(v, fetched, out);
  return out;
}

}  // namespace muster::slurmctld
