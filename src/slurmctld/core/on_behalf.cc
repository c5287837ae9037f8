#include "slurmctld/core/on_behalf.h"

namespace muster::slurmctld {
namespace {

bool may(const Settings& settings, const Caller& who, Right right) { return Rights(settings, nullptr, who).may(right); }

}  // namespace

bool served_unnamed(const Settings& settings, const Caller& who) { return may(settings, who, Right::kUnnamed); }

Result<> may_submit_for(const Settings& settings, const Caller& who, Uid user) {
  if (user == who.uid || may(settings, who, Right::kSubmitForOthers)) return {};
  return fail(Errc::kUserIdMissing, {}, "only root and SlurmUser may submit for another user");
}

Uid user_to_look_up(const Settings& settings, const Caller& who, const AskedRequest& asked) {
  return may_submit_for(settings, who, asked.uid) ? asked.uid : who.uid;
}

bool may_use_any_group(const Settings& settings, const Caller& who) { return may(settings, who, Right::kAnyGroup); }

Uid updating_user(const Settings& settings, const Caller& who, const rpc::UpdateJob& request) {
  return request.as_uid && may(settings, who, Right::kActForOthers) ? Uid(*request.as_uid) : who.uid;
}

}  // namespace muster::slurmctld
