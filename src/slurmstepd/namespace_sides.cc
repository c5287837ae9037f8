#include "slurmstepd/namespace_sides.h"

namespace muster::slurmstepd {

Result<NamespaceSides> sides_of(const step_rpc::StepdNamespace& own) {
  MUSTER_TRY(space, os::open_job_namespace(own.file));
  NamespaceSides out;
  if (!own.whole_step) {
    out.inside = std::move(space);
    return out;
  }
  MUSTER_TRY(node, os::own_namespace());
  MUSTER_TRY_VOID(os::enter_job_namespace(space));
  out.outside = std::move(node);
  return out;
}

}  // namespace muster::slurmstepd
