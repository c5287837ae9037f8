#include "sim/accounting_host.h"

#include <algorithm>

#include "sim/world.h"

namespace muster::sim {
namespace {

// All that there could be: each user of Scenario::request in each account, with both QOS.
rpc::Entities all_accounts() {
  rpc::Entities out;
  for (const char* name : {"normal", "fast"}) out.qos.emplace_back().name = name;
  uint32_t id = 0;
  for (const char* account : {"root", "team", "other"}) {
    out.accounts.emplace_back().name = account;
    const uint32_t own = ++id;
    for (const char* user : {"", "u1001", "u1002", "u1003"}) {
      AssociationRecord a;
      a.id = *user ? ++id : own;
      a.parent_id = *user ? own : own == 1 ? 0 : 1;
      a.account = account;
      a.user = user;
      a.is_default = a.account == "team" && *user;
      a.qos = {"normal", "fast"};
      out.associations.push_back(std::move(a));
    }
  }
  for (const char* name : {"u1001", "u1002", "u1003"}) {
    UserRecord u;
    u.name = name;
    u.default_account = "team";
    out.users.push_back(std::move(u));
  }
  return out;
}

}  // namespace

AccountingHost::AccountingHost(World& world) : world_(world), more_limits_(world.options.seed ^ 0x6c696d69), accounts_(all_accounts()) {}

template <class F>
void AccountingHost::later(Duration low, Duration high, F f) {
  world_.after(world_.span(world_.random.accounting, low, high), [this, f, i = incarnation_] {
    if (i == incarnation_ && world_.controller.up()) f();
  });
}

bool AccountingHost::breaks() { return !world_.calm() && (world_.options.faults & kFaultNetwork) && world_.random.accounting.chance(0.1); }

void AccountingHost::controller_started() {
  ++incarnation_;
  connect();
}

// Connects now, or after slurmdbd was away for a while.
void AccountingHost::connect() {
  bool away = !world_.calm() && world_.random.accounting.chance(0.3);
  later(milliseconds(1), away ? minutes(20) : seconds(5), [this] {
    world_.controller.post({[](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
                              c.records_stored(0);
                              return {};
                            },
                            [this](const Error&) { connect(); }});
    tell_accounts();
  });
}

void AccountingHost::schedule(Duration horizon) {
  Random& r = world_.random.accounting;
  set_limits();
  if (!world_.scenario.settings.config().enforce.associations && r.chance(0.5)) return;
  for (uint64_t n = r.uniform(0, 12); n > 0; --n)
    world_.after(world_.span(r, seconds(1), horizon), [this] {
      if (!world_.calm()) change_accounts();
    });
}

// Some of these limits are below what runs, or what a single job asks for.
void AccountingHost::set_limits() {
  if (!world_.scenario.settings.config().enforce.limits) return;
  Random& rng = world_.random.accounting;
  for (AssociationRecord& a : accounts_.associations) {
    if (rng.chance(0.3)) a.limits.push_back({LimitKind::kGrpTres, "cpu", rng.uniform(1, 24)});
    if (rng.chance(0.1)) a.limits.push_back({LimitKind::kGrpTres, "mem", rng.uniform(500, 20000)});
    if (rng.chance(0.1)) a.limits.push_back({LimitKind::kGrpTres, "node", rng.uniform(1, 5)});
    if (rng.chance(0.1)) a.limits.push_back({LimitKind::kGrpTres, rng.chance(0.5) ? "gres/gpu" : "gres/gpu:a100", rng.uniform(0, 6)});
    if (rng.chance(0.2)) a.limits.push_back({LimitKind::kGrpJobs, "", rng.uniform(1, 6)});
    if (rng.chance(0.1)) a.limits.push_back({LimitKind::kMaxTresPerNode, "cpu", rng.uniform(1, 8)});
    if (rng.chance(0.1)) a.limits.push_back({LimitKind::kGrpTresMins, "cpu", rng.uniform(1, 500)});
  }
  for (QosRecord& q : accounts_.qos) {
    if (rng.chance(0.2)) q.limits.push_back({LimitKind::kGrpTres, "cpu", rng.uniform(1, 24)});
    if (rng.chance(0.2)) q.limits.push_back({LimitKind::kMaxTresPerUser, "cpu", rng.uniform(1, 16)});
    if (rng.chance(0.1)) q.limits.push_back({LimitKind::kMaxJobsPerUser, "", rng.uniform(1, 6)});
    if (rng.chance(0.1)) q.limits.push_back({LimitKind::kMaxTresPerNode, rng.chance(0.5) ? "cpu" : "gres/gpu", rng.uniform(1, 6)});
    if (rng.chance(0.2)) q.flags.push_back("OverPartQOS");
  }
  set_more_limits();
}

namespace {

struct Draw {
  double chance;
  LimitKind kind;
  const char* tres;
  uint64_t low, high;
};

using enum LimitKind;
constexpr Draw kOfAssociations[] = {
    {0.05, kGrpTres, "license/tool", 1, 3},
    {0.05, kGrpTres, "billing", 2, 40},
    {0.10, kGrpTresRunMins, "cpu", 20, 900},
    {0.05, kGrpTresRunMins, "gres/gpu", 5, 200},
    {0.05, kGrpWall, "", 5, 300},
    {0.08, kMaxTresPerJob, "cpu", 1, 12},
    {0.05, kMaxTresPerJob, "license/tool", 1, 2},
    {0.05, kMaxTresPerJob, "node", 1, 3},
    {0.08, kMaxTresMinsPerJob, "cpu", 5, 300},
    {0.08, kMaxWall, "", 5, 60},
    {0.10, kMaxJobs, "", 1, 4},
    {0.05, kMaxSubmitJobs, "", 2, 20},
    {0.05, kGrpSubmitJobs, "", 5, 40},
};
constexpr Draw kOfQos[] = {
    {0.10, kGrpJobs, "", 1, 8},
    {0.05, kGrpTres, "gres/gpu", 0, 6},
    {0.10, kGrpTresMins, "cpu", 5, 900},
    {0.10, kGrpTresRunMins, "cpu", 20, 900},
    {0.05, kGrpWall, "", 5, 300},
    {0.05, kMaxTresPerJob, "cpu", 1, 12},
    {0.05, kMaxTresMinsPerJob, "cpu", 5, 300},
    {0.05, kMaxWall, "", 5, 60},
    {0.10, kMinTresPerJob, "cpu", 1, 3},
    {0.10, kMaxTresPerAccount, "cpu", 1, 16},
    {0.05, kMaxTresPerAccount, "mem", 500, 20000},
    {0.10, kMaxJobsPerAccount, "", 1, 6},
    {0.10, kMaxTresRunMinsPerUser, "cpu", 20, 500},
    {0.10, kMaxTresRunMinsPerAccount, "cpu", 20, 500},
    {0.05, kMaxTresPerUser, "billing", 2, 30},
    {0.05, kMaxTresPerUser, "node", 1, 4},
    {0.05, kMaxSubmitJobsPerUser, "", 2, 20},
    {0.05, kMaxSubmitJobsPerAccount, "", 4, 30},
    {0.05, kGrpSubmitJobs, "", 8, 60},
};

}  // namespace

void AccountingHost::set_more_limits() {
  auto draw = [&](std::vector<Limit>& limits, const Draw& d) {
    const bool set = more_limits_.chance(d.chance);
    const uint64_t value = more_limits_.uniform(d.low, d.high);
    if (set && !find_limit(limits, d.kind, d.tres)) limits.push_back({d.kind, d.tres, value});
  };
  for (AssociationRecord& a : accounts_.associations)
    for (const Draw& d : kOfAssociations) draw(a.limits, d);
  for (QosRecord& q : accounts_.qos)
    for (const Draw& d : kOfQos) draw(q.limits, d);
}

// What an admin does with sacctmgr: of all that there could be, something is taken away or changed. At times associations get new ids, as
// slurmdbd gives them.
void AccountingHost::change_accounts() {
  Random& rng = world_.random.accounting;
  const uint32_t again = rng.chance(0.3) ? static_cast<uint32_t>(rng.uniform(1, 5)) * 100 : 0;
  accounts_ = all_accounts();
  for (AssociationRecord& a : accounts_.associations) {
    if (a.user.empty()) continue;
    a.id += again;
    if (rng.chance(0.2)) a.qos = {"normal"};
    if (rng.chance(0.2)) a.default_qos = rng.pick(a.qos);
    if (rng.chance(0.1)) a.partition = rng.pick(world_.scenario.partitions);
  }
  std::erase_if(accounts_.associations, [&](const AssociationRecord& a) { return !a.user.empty() && rng.chance(0.2); });
  if (rng.chance(0.2)) accounts_.qos.pop_back();
  for (UserRecord& u : accounts_.users) {
    if (rng.chance(0.2)) u.default_account = "other";
    if (rng.chance(0.1)) u.admin_level = AdminLevel::kOperator;
    if (rng.chance(0.2)) u.coordinator_of = {"team"};
  }
  set_limits();
  world_.journal.note("accounts are changed");
  tell_accounts();
}

void AccountingHost::heal() {
  accounts_ = all_accounts();
  tell_accounts();
}

void AccountingHost::tell_accounts() {
  later(milliseconds(1), seconds(2), [this] {
    world_.controller.post({[accounts = accounts_](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
                              c.learn_directory(accounts);
                              return {};
                            },
                            [this](const Error&) { tell_accounts(); }});
  });
}

void AccountingHost::upload(const slurmctld::UploadRecords& batch) {
  later(Duration(100), seconds(2), [this, batch] { deliver(batch); });
}

void AccountingHost::deliver(const slurmctld::UploadRecords& batch) {
  auto lost = [this] {
    world_.controller.post({[](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
                              c.records_link_lost();
                              return {};
                            },
                            {}});
    connect();
  };
  if (breaks()) return lost();
  store(slurmctld::make_upload(world_.controller.core().cluster(), batch));
  if (breaks()) return lost();
  later(Duration(100), seconds(2), [this, position = batch.position] {
    world_.controller.post({[position](slurmctld::Core& c, store::EventLog&) -> slurmctld::Reply {
                              c.records_stored(position);
                              return {};
                            },
                            [this](const Error&) { connect(); }});
  });
}

void AccountingHost::store(const rpc::StoreRecords& m) {
  for (const JobRecord& r : m.jobs) {
    auto [at, fresh] = jobs_.try_emplace(r.key, r);
    if (!fresh && at->second.position < r.position) at->second = r;
  }
  for (const StepRecord& s : m.steps) {
    auto [at, fresh] = steps_.try_emplace({s.job, s.id}, s);
    if (!fresh && at->second.position < s.position) at->second = s;
  }
}

const JobRecord* AccountingHost::job(JobId id, uint32_t restarts) const {
  const JobRecord* last = nullptr;
  for (auto at = jobs_.lower_bound({id, Time::min(), 0}); at != jobs_.end() && at->first.id == id; ++at)
    if (at->first.restarts == restarts) last = &at->second;
  return last;
}

const JobRecord* AccountingHost::last_run(JobId id) const {
  const JobRecord* last = nullptr;
  for (auto at = jobs_.lower_bound({id, Time::min(), 0}); at != jobs_.end() && at->first.id == id; ++at)
    if (!last || at->first.restarts >= last->key.restarts) last = &at->second;
  return last;
}

}  // namespace muster::sim
