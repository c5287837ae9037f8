#include "slurmctld/daemon/relay_places.h"

#include "slurmctld/core/on_behalf.h"
#include "slurmctld/core/passed_on.h"

namespace muster::slurmctld {

// The word of a host for root is not worth a place in the reserve, unless the host has the cluster key.
Result<RelayPlace> RelayPlaces::take(const Caller& who, size_t bytes) const {
  const bool certified = who.through.kind != SubjectKind::kUser;
  MUSTER_TRY(place, certified && served_unnamed(*ports_.settings(), Caller{who.uid, {}}) ? ports_.at_host(who.through, bytes)
                                                                                         : ports_.at_user(who.uid, bytes));
  return RelayPlace{std::move(place), false};
}

Result<> RelayPlaces::take_by_node(const Caller& who, size_t bytes, std::function<void(Result<RelayPlace>)> then) const {
  MUSTER_TRY(meanwhile, ports_.at_host(who.through, bytes));
  core_.post({[this, who, bytes, then, meanwhile](Core& core, store::EventLog&) -> Reply {
                const bool has_job = who.through_node && has_job_on(core.cluster(), core.indexes(), *who.through_node, who.uid);
                return [this, who, bytes, then, meanwhile, has_job] {
                  if (!has_job) return then(RelayPlace{meanwhile, false});
                  auto place = take(who, bytes);
                  if (place) place->has_job = true;
                  then(std::move(place));
                };
              },
              [then](const Error& e) { then(std::unexpected(e)); }});
  return {};
}

}  // namespace muster::slurmctld
