#include "sql/record_filter.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "hostlist/hostlist.h"
#include "model/accounts.h"
#include "model/array_spec.h"
#include "sql/columns.h"

namespace muster::sql {
namespace {

constexpr size_t kMostNames = 500;  // in one list of a statement; longer ones are left to RecordRule

bool wanted(const std::vector<uint32_t>& sorted, uint32_t value) { return sorted.empty() || std::ranges::binary_search(sorted, value); }
bool wanted(const std::unordered_set<std::string_view>& names, std::string_view value) { return names.empty() || names.contains(value); }

bool any_of_list(const std::unordered_set<std::string_view>& names, std::string_view list, std::string_view separators) {
  if (names.empty()) return true;
  while (!list.empty()) {
    std::string_view item = list.substr(0, list.find_first_of(separators));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    if (names.contains(item)) return true;
  }
  return false;
}

template <class Id>
std::vector<uint32_t> sorted(const std::vector<Id>& ids) {
  std::vector<uint32_t> out;
  for (Id id : ids) out.push_back(id.value);
  std::ranges::sort(out);
  return out;
}

std::unordered_set<std::string_view> set_of(const std::vector<std::string>& names) { return {names.begin(), names.end()}; }

// Each part of a resized run has an id of its own, and the id of the run.
bool is_of_run(const JobRecord& record, Sluid run) { return run == record.sluid() || run == record.original_sluid(); }

bool within(uint32_t value, uint32_t least, uint32_t most) { return (!least || value >= least) && (!most || value <= most); }

class Builder {
 public:
  void numbers(const char* column, const std::vector<int64_t>& list) {
    if (list.empty() || list.size() > kMostNames) return;
    add(in(column, list.size()));
    for (int64_t n : list) out.values.emplace_back(n);
  }
  void names(const char* column, const std::vector<std::string>& list) {
    if (list.empty() || list.size() > kMostNames) return;
    add(in(column, list.size()));
    for (const std::string& n : list) out.values.emplace_back(Text{std::string_view(n).substr(0, kNameBytes)});
  }
  void jobs(const std::vector<rpc::JobSelector>& list) {
    if (list.empty() || list.size() > kMostNames) return;
    add("(" + in("job", list.size()) + " OR " + in("head", list.size()) + ")");
    for (int i = 0; i < 2; ++i)
      for (const auto& s : list) out.values.emplace_back(int64_t{s.job.value});
  }
  // What somebody may see, or more: in which cluster an account is his, each row is asked. `way` "+": another index finds the rows.
  void visible(const std::string& way, const RecordAudience& audience) {
    std::vector<std::string_view> accounts;
    for (const auto& [cluster, names] : audience.accounts) accounts.insert(accounts.end(), names.begin(), names.end());
    std::ranges::sort(accounts);
    const auto twice = std::ranges::unique(accounts);
    accounts.erase(twice.begin(), twice.end());
    if (accounts.size() > kMostNames) return;
    const std::string own = way + "uid = ?";
    add(accounts.empty() ? own : "(" + own + " OR " + in((way + "account").c_str(), accounts.size()) + ")");
    out.values.emplace_back(int64_t{audience.uid.value});
    for (std::string_view name : accounts) out.values.emplace_back(Text{name.substr(0, kNameBytes)});
  }
  void compare(const char* text, int64_t value) {
    add(text);
    out.values.emplace_back(value);
  }
  Where out;

 private:
  static std::string in(const char* column, size_t n) {
    std::string text = std::string(column) + " IN (?";
    for (size_t i = 1; i < n; ++i) text += ",?";
    return text + ")";
  }
  void add(const std::string& condition) { out.text += (out.text.empty() ? " WHERE " : " AND ") + condition; }
};

template <class Id>
std::vector<int64_t> numbers_of(const std::vector<Id>& ids) {
  std::vector<int64_t> out;
  for (Id id : ids) out.push_back(id.value);
  return out;
}

}  // namespace

bool was_in_state(const rpc::JobRecordFilter& filter, JobState state, Time submitted, Time started, Time ended) {
  Time from = filter.from, until = filter.until == kTimeUnset ? kTimeInfinite : filter.until;
  auto bit = [&](JobState s) { return !filter.states || (filter.states & (1u << static_cast<unsigned>(s))); };
  // A job cancelled while it waited has both times set to that moment.
  bool has_started = started != kTimeUnset && started != ended && state != JobState::kPending;
  // Whether [begin, end) and [from, until) overlap, where both may be a single moment.
  auto overlaps = [&](Time begin, Time end) { return begin <= std::max(from, until - Duration(1)) && end >= from; };
  Time over = ended == kTimeUnset ? kTimeInfinite : ended;
  if (bit(JobState::kPending) && (!has_started || started > submitted) && overlaps(submitted, has_started ? started - Duration(1) : over))
    return true;
  if (has_started && bit(JobState::kRunning) && overlaps(started, over)) return true;
  if (state == JobState::kSuspended && bit(state) && overlaps(started, over)) return true;
  return is_finished(state) && bit(state) && overlaps(over, over);
}

bool shows_waiting(const rpc::JobRecordFilter& f, JobState state, Time eligible) {
  const Time until = f.until == kTimeUnset ? kTimeInfinite : std::max(f.until, f.from);
  if (state != JobState::kPending || f.ineligible || (eligible != kTimeUnset && eligible <= until)) return true;
  return !f.jobs.empty() && !f.states && !f.state_flags;
}

RecordRule::RecordRule(const rpc::JobRecordFilter& filter)
    : filter_(&filter),
      users_(sorted(filter.users)),
      groups_(sorted(filter.groups)),
      clusters_(set_of(filter.clusters)),
      accounts_(set_of(filter.accounts)),
      names_(set_of(filter.names)),
      qos_(set_of(filter.qos)),
      wckeys_(set_of(filter.wckeys)),
      reservations_(set_of(filter.reservations)),
      partitions_(set_of(filter.partitions)),
      features_(set_of(filter.features)),
      reasons_(set_of(filter.reasons)) {}

Result<RecordRule> RecordRule::make(const rpc::JobRecordFilter& filter) {
  RecordRule rule(filter);
  size_t tasks = 0;
  for (const rpc::JobSelector& selector : filter.jobs) {
    Tasks named;
    named.run = selector.sluid;
    named.task = selector.array_task;
    named.component = selector.het_offset;
    named.whole = selector.array_task == kNoArrayTask && selector.array_tasks.empty();
    if (!selector.array_tasks.empty() && !Bitmap::parse_ranges(selector.array_tasks, named.list, kMaxArrayTaskId + 1))
      return fail(Errc::kInvalidArray,
                  "job tasks " + selector.array_tasks.substr(0, 100) + ": not a list of numbers up to " + std::to_string(kMaxArrayTaskId));
    tasks += named.list.size();
    if (tasks > kMostTasks)
      return fail(Errc::kInvalidArray, "job tasks: the lists are longer than " + std::to_string(kMostTasks) + " together");
    rule.jobs_.emplace(selector.job.value, std::move(named));
  }
  MUSTER_TRY(nodes, NodeRule::make(filter.nodes));
  rule.nodes_ = std::move(nodes);
  return rule;
}

bool RecordRule::selected(const JobRecord& record) const {
  if (jobs_.empty()) return true;
  Bitmap pending;  // "4-7%2", parsed when it is first needed
  bool read = false;
  auto meets = [&](const Tasks& t) {
    if (t.run) return is_of_run(record, t.run);
    if (t.component) return record.het ? record.het.offset == *t.component : *t.component == 0;
    if (t.whole || (record.array_task != kNoArrayTask && t.list.test(record.array_task))) return true;
    if (t.task != kNoArrayTask && record.array_task == t.task) return true;
    if (!std::exchange(read, true))
      (void)Bitmap::parse_ranges(std::string_view(record.array_tasks).substr(0, record.array_tasks.find('%')), pending,
                                 kMaxArrayTaskId + 1);
    return t.task == kNoArrayTask ? pending.intersects(t.list) : pending.test(t.task);
  };
  auto any = [&](JobId id) {
    auto [from, to] = jobs_.equal_range(id.value);
    return std::any_of(from, to, [&](const auto& one) { return meets(one.second); });
  };
  return any(record.key.id) || (record.array_job_id != record.key.id && any(record.array_job_id)) ||
         (record.het.offset && any(record.het.leader));
}

bool RecordRule::names_run(const JobRecord& record) const {
  auto [from, to] = jobs_.equal_range(record.key.id.value);
  return std::any_of(from, to, [&](const auto& one) { return one.second.run && is_of_run(record, one.second.run); });
}

Result<NodeRule> NodeRule::make(const std::vector<std::string>& lists) {
  NodeRule rule;
  for (const std::string& text : lists) {
    auto names = expand_hosts(text, kMaxHosts);
    if (!names) return fail(Errc::kInvalidNodeName, "nodes " + text.substr(0, 100) + ": " + std::string(names.error().message()));
    for (std::string& name : *names) rule.nodes_.insert(std::move(name));
    if (rule.nodes_.size() > kMaxHosts) return fail(Errc::kInvalidNodeName, "nodes: more than " + std::to_string(kMaxHosts) + " names");
  }
  return rule;
}

bool NodeRule::matches(const std::string& node_list) const {
  if (nodes_.empty()) return true;
  auto hosts = expand_hosts(node_list);
  return hosts && std::ranges::any_of(*hosts, [&](const std::string& host) { return nodes_.contains(host); });
}

bool RecordRule::matches(const JobRecord& record) const {
  const rpc::JobRecordFilter& filter = *filter_;
  if (!selected(record) || !wanted(users_, record.uid.value) || !wanted(groups_, record.gid.value) || !wanted(clusters_, record.cluster))
    return false;
  if (!wanted(accounts_, record.account) || !wanted(names_, record.name) || !wanted(qos_, record.qos) || !wanted(wckeys_, record.wckey))
    return false;
  if (!wanted(reservations_, record.reservation) || !any_of_list(partitions_, record.partition, ",")) return false;
  if (!any_of_list(features_, record.features, "&|,[]()*:! ") || !wanted(reasons_, reason_name(record.reason))) return false;
  if ((filter.started_by || filter.start_recorded) && !(filter.started_by & record.flags) &&
      !(filter.start_recorded && record.started > Time{}))
    return false;
  bool by_flag = filter.state_flags & record.flags;
  if (filter.state_flags && !filter.states && !by_flag) return false;
  rpc::JobRecordFilter window;
  window.from = filter.from;
  window.until = filter.until;
  window.states = by_flag ? 0 : filter.states;
  if (!was_in_state(window, record.state, record.key.submitted, record.started, record.ended)) return false;
  uint32_t cpus = record.cpus ? record.cpus : record.requested_cpus, nodes = record.nodes ? record.nodes : record.requested_nodes;
  if (!within(cpus, filter.min_cpus, filter.max_cpus) || !within(nodes, filter.min_nodes, filter.max_nodes)) return false;
  if (!within(record.time_limit_min, filter.min_limit_min, filter.max_limit_min)) return false;
  return nodes_.matches(record.node_list);
}

Where where_of(const rpc::JobRecordFilter& filter, const RecordAudience& audience) {
  // SQLite takes an index without knowing how many rows share its first column, and all jobs may be of one cluster. So only the column that tells most
  // apart may be looked up by an index: a column with a plus may not. MariaDB, which counts, passes over a plus.
  auto looked_up = [](const auto& list) { return !list.empty() && list.size() <= kMostNames; };
  const bool by_job = looked_up(filter.jobs), by_user = by_job || looked_up(filter.users),
             by_account = by_user || looked_up(filter.accounts);
  Builder builder;
  builder.jobs(filter.jobs);
  builder.numbers(by_job ? "+uid" : "uid", numbers_of(filter.users));
  builder.numbers("gid", numbers_of(filter.groups));
  builder.names(by_account || !audience.all ? "+cluster" : "cluster", filter.clusters);
  builder.names(by_user ? "+account" : "account", filter.accounts);
  if (!audience.all) builder.visible(by_account ? "+" : "", audience);
  builder.names("name", filter.names);
  builder.names("qos", filter.qos);
  builder.names("wckey", filter.wckeys);
  if (filter.from != kTimeUnset) builder.compare(by_job ? "+ended >= ?" : "ended >= ?", number_of(filter.from));
  if (filter.until != kTimeUnset) builder.compare("submitted <= ?", std::max(number_of(filter.until), number_of(filter.from)));
  return std::move(builder.out);
}

bool needs_record(const rpc::JobRecordFilter& filter) {
  auto special = [](const rpc::JobSelector& s) {
    return s.sluid || s.array_task != kNoArrayTask || !s.array_tasks.empty() || s.het_offset;
  };
  const std::vector<std::string>* lists[] = {&filter.clusters, &filter.accounts, &filter.names, &filter.qos, &filter.wckeys};
  // A column has no more of a name than that.
  auto cut_off = [](const std::string& name) { return name.size() >= kNameBytes; };
  for (const auto* list : lists)
    if (list->size() > kMostNames || std::ranges::any_of(*list, cut_off)) return true;
  if (std::max({filter.jobs.size(), filter.users.size(), filter.groups.size()}) > kMostNames || std::ranges::any_of(filter.jobs, special))
    return true;
  return !filter.partitions.empty() || !filter.reservations.empty() || !filter.nodes.empty() || !filter.reasons.empty() ||
         !filter.features.empty() || filter.state_flags || filter.started_by || filter.start_recorded || filter.min_cpus ||
         filter.max_cpus || filter.min_nodes || filter.max_nodes || filter.min_limit_min || filter.max_limit_min;
}

}  // namespace muster::sql
