// A request that is wrong for the partition as such, whatever the cluster has: make_shape refused it.
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

Hold holds(const JobQuestion& q, const Held&, Grant&) {
  const Error& wrong = *q.asked.never;
  return {wrong.code == Errc::kMemoryRequest ? Reason::kMaxMemPerLimit : Reason::kBadConstraints,
          std::string(wrong.message()) + (wrong.hint.empty() ? "" : ": " + wrong.hint)};
}

}  // namespace

constinit const JobRule kRequestItself{
    .name = "the request itself",
    .of = Of::kRequest,
    .same_for_class = true,
    .concerns = [](const RequestClass& c, const Partition&, const Params&) { return c.never.has_value(); },
    .holds = holds};

}  // namespace muster::sched
