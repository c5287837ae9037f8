#include "slurmctld/core/job_filter.h"

#include <algorithm>

namespace muster::slurmctld {
namespace {

constexpr size_t kFewEntries = 4;  // up to these any order will do

template <class T, class V>
bool wanted(const std::vector<T>& list, const V& value) {
  if (list.size() > kFewEntries) return std::ranges::binary_search(list, value);
  return list.empty() || std::ranges::find(list, value) != list.end();
}

// A name stands in what the job has of its own, away from the job; for few names their keys say of nearly all others that it is not theirs.
bool may_have_name(const Job& j, const std::vector<std::string>& names) {
  if (!j.name_key || names.size() > kFewEntries) return true;
  return std::ranges::any_of(names, [&](const std::string& n) { return key_of_name(n) == j.name_key; });
}

bool in_state(const Job& j, const rpc::JobFilter& f) {
  if (!f.states && !f.state_flags) return true;
  if (f.state_flags & j.flags) return true;
  // STOPPED is a state of its own to whoever asks for states.
  return !(j.flags & kJobStopped) && (f.states & (1u << static_cast<unsigned>(j.state)));
}

bool in_partition(const Cluster& c, const Job& j, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  const Partition* p = c.partitions.find(j.partition);
  if (p && wanted(names, p->name)) return true;
  return j.pending() && std::ranges::any_of(j.request->partitions, [&](const std::string& n) { return wanted(names, n); });
}

// A node goes by its NodeName or its NodeHostname.
bool on_nodes(const Cluster& c, const Job& j, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  return j.allocation && std::ranges::any_of(j.allocation->nodes, [&](const NodeShare& s) {
           const Node* n = c.nodes.find(s.node.value);
           return n && (wanted(names, n->spec->name) || (!n->spec->hostname.empty() && wanted(names, n->spec->hostname)));
         });
}

bool asks_licenses(const LicenseText& licenses, const std::vector<std::string>& names) {
  return names.empty() || std::ranges::any_of(licenses->list, [&](const LicenseShare& l) { return wanted(names, l.name); });
}

bool selected(const Job& j, const std::vector<rpc::JobSelector>& list) {
  if (list.empty()) return true;
  auto means = [&](const rpc::JobSelector& s) {
    if (s.sluid) return j.id == s.job && s.means_run(j.sluid());
    if (!s.means_job(j.id, j.het) && j.array_job_id != s.job) return false;
    if (s.array_task == kNoArrayTask) return true;
    return j.array_task == s.array_task || (j.array_tasks && j.array_tasks->pending.test(s.array_task));
  };
  if (list.size() <= kFewEntries) return std::ranges::any_of(list, means);
  auto of = [&](JobId id) { return std::ranges::any_of(std::ranges::equal_range(list, id, {}, &rpc::JobSelector::job), means); };
  return of(j.id) || (j.array_job_id && j.array_job_id != j.id && of(j.array_job_id)) || (j.het.offset && of(j.het.leader));
}

}  // namespace

void put_in_order(rpc::JobFilter& f) {
  std::ranges::stable_sort(f.jobs, {}, &rpc::JobSelector::job);
  std::ranges::sort(f.users);
  for (std::vector<std::string>* names : {&f.names, &f.accounts, &f.qos, &f.reservations, &f.wckeys, &f.licenses, &f.partitions, &f.nodes})
    std::ranges::sort(*names);
}

bool matches_filter(const Cluster& c, const Job& j, const rpc::JobFilter& f) {
  const RequestBody& r = *j.request;
  const auto named = [&] { return f.names.empty() || (may_have_name(j, f.names) && wanted(f.names, j.name())); };
  return in_state(j, f) && wanted(f.users, r.uid) && named() && wanted(f.accounts, r.account) && wanted(f.qos, r.qos) &&
         wanted(f.reservations, r.reservation.text()) && wanted(f.wckeys, r.wckey) && asks_licenses(r.licenses, f.licenses) &&
         selected(j, f.jobs) && in_partition(c, j, f.partitions) && on_nodes(c, j, f.nodes);
}

}  // namespace muster::slurmctld
