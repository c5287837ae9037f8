#include "slurmctld/core/passed_on.h"

#include <algorithm>

#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

constexpr PassedOnRow kRows[] = {
#define MUSTER_PASSED_ON(request, reach, why) {number_of<rpc::request>, NodeReach::reach, why},
#include "slurmctld/core/passed_on.def"
#undef MUSTER_PASSED_ON
};

constexpr size_t rows_of(uint16_t number) {
  size_t count = 0;
  for (const PassedOnRow& row : kRows) count += row.number == number;
  return count;
}
#define MUSTER_COMMAND(request, first, of_job, kind, handler)                                                                           \
  static_assert(rows_of(number_of<rpc::request>) == 1, "passed_on.def says what " #request " counts for that a node passes on, in one " \
                                                       "row");
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND

Caller nobody(Caller who) {
  who.uid = kNobody;
  who.gid = Gid{kNobody.value};
  who.name.clear();
  who.groups.clear();
  return who;
}

}  // namespace

const PassedOnRow& passed_on_row(const CommandRow& row) { return *std::ranges::find(kRows, row.number, &PassedOnRow::number); }

bool has_job_on(const Cluster& cluster, const Indexes& indexes, NodeId node, Uid user) {
  return std::ranges::any_of(indexes.jobs_on(node), [&](JobId id) {
    const Job* job = cluster.jobs.find(id.value);
    return job && job->request->uid == user && job->holds_nodes();
  });
}

bool is_more_than_a_user(const Settings& settings, const std::shared_ptr<const AccountDirectory>& directory, Uid user,
                         const std::string& name) {
  Caller direct;
  direct.uid = user;
  direct.name = name;
  if (Rights(settings, directory, direct).is_privileged()) return true;
  return directory ? name.empty() : keeps_records(settings.config());  // nobody can say now that he is not
}

bool by_key_alone(const Cluster& cluster, const Settings& settings, const Job& job, Uid asks) {
  return asks != job.request->uid || is_more_than_a_user(settings, cluster.directory, job.request->uid, job.request->user_name);
}

Result<Caller> passed_on(const Settings& settings, const std::shared_ptr<const AccountDirectory>& directory, const CommandRow& row,
                         Caller who, bool has_job) {
  const auto refuse = [&](const std::string& why) {
    return fail(Errc::kAccessDenied, {}, who.through.text() + " has no cluster key" + why);
  };
  const PassedOnRow& of_node = passed_on_row(row);
  const bool login = who.through.kind == SubjectKind::kLogin, privileged = is_more_than_a_user(settings, directory, who.uid, who.name);
  const bool believed = !privileged && (login || has_job);
  if (believed && (login || of_node.reach == NodeReach::kCounts)) return who;
  if (!believed && (row.kind == CommandKind::kChange || row.number == number_of<rpc::AskDatabase>))
    return refuse(privileged ? ": root, SlurmUser, operators and administrators use a host that has"
                             : ", and its word for a user who has no job there does not count");
  if (!login && of_node.reach == NodeReach::kRefused) return refuse(std::string(", and that is not passed on from there: ") + of_node.why);
  return nobody(std::move(who));
}

}  // namespace muster::slurmctld
