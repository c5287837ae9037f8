#include "cli/common/print_environment.h"

#include "cli/common/command.h"
#include "os/clock.h"
#include "os/users.h"

namespace muster::cli {

std::string Names::user(Uid uid) {
  auto [it, fresh] = users_.try_emplace(uid.value);
  if (fresh)
    if (Result<os::User> u = os::find_user(uid)) it->second = u->name;
  return it->second;
}

std::string Names::group(Gid gid) {
  auto [it, fresh] = groups_.try_emplace(gid.value);
  if (fresh)
    if (Result<os::Group> g = os::find_group(gid)) it->second = g->name;
  return it->second;
}

fields::Environment print_environment(const ClientConf& conf, const QueryCommon& options, Names& names) {
  fields::Environment env;
  env.now = os::wall_now();
  env.cluster = conf.cluster_name;
  env.user_name = [&names](Uid uid) { return names.user(uid); };
  env.group_name = [&names](Gid gid) { return names.group(gid); };
  env.time_format = options.time_format;
  return env;
}

void show_query_error(const Error& e, const std::string& prefix) {
  put_error(prefix + std::string(e.message()) + (e.hint.empty() ? "" : "\n  " + e.hint));
}

}  // namespace muster::cli
