#include "acct/limits.h"

#include <algorithm>

#include "base/saturating.h"

namespace muster::acct {
namespace {

enum class On : uint8_t { kPartition, kQos, kAssociation, kAssociations };  // kAssociations: the job's and all above it
enum class Of : uint8_t { kAll, kUser, kAccount };                          // of a QOS: whose jobs there count together
// kUsedWall, kUsedMinutes: what was used, decayed; kRunMinutes: what those who run may still use.
// kOneJob: what one job takes; kOneJobMinutes: the same times its time limit; kAtLeast: what one job has to take.
enum class Counts : uint8_t {
  kRunning,
  kSubmitted,
  kUsedWall,
  kHeld,
  kUsedMinutes,
  kRunMinutes,
  kOneJob,
  kOneJobMinutes,
  kAtLeast,
  kMinutes
};

// A limit on several TRES has a reason for each; any other TRES has the reason `any`.
struct Reasons {
  Reason any{};
  Reason cpu = any, mem = any, node = any, billing = any, gres = any, license = any;
};

}  // namespace

struct LimitRow {
  LimitKind kind;
  On on;
  Of of;
  Counts counts;
  uint8_t asked;  // When
  Reasons reasons;
  std::optional<LimitKind> unless_qos = {};  // the QOS's limit that takes its place
  const char* called = nullptr;              // null: as sacctmgr(1) has the kind
};

namespace {

constexpr Reasons kAssocGrp{Reason::kAssocGrpUnknown, Reason::kAssocGrpCpuLimit, Reason::kAssocGrpMemLimit, Reason::kAssocGrpNodeLimit,
                            Reason::kAssocGrpBilling, Reason::kAssocGrpGRES,     Reason::kAssocGrpLicense};
constexpr Reasons kAssocPerJob{Reason::kAssocMaxUnknownPerJob,   Reason::kAssocMaxCpuPerJobLimit, Reason::kAssocMaxMemPerJob,
                               Reason::kAssocMaxNodePerJobLimit, Reason::kAssocMaxBillingPerJob,  Reason::kAssocMaxGRESPerJob,
                               Reason::kAssocMaxLicensePerJob};
constexpr Reasons kQosGrp{Reason::kQOSGrpUnknown, Reason::kQOSGrpCpuLimit, Reason::kQOSGrpMemLimit, Reason::kQOSGrpNodeLimit,
                          Reason::kQOSGrpBilling, Reason::kQOSGrpGRES,     Reason::kQOSGrpLicense};
constexpr Reasons kQosPerJob{Reason::kQOSMaxUnknownPerJob,   Reason::kQOSMaxCpuPerJobLimit, Reason::kQOSMaxMemoryPerJob,
                             Reason::kQOSMaxNodePerJobLimit, Reason::kQOSMaxBillingPerJob,  Reason::kQOSMaxGRESPerJob,
                             Reason::kQOSMaxLicensePerJob};
constexpr Reasons kQosPerUser{Reason::kQOSMaxUnknownPerUser,   Reason::kQOSMaxCpuPerUserLimit, Reason::kQOSMaxMemoryPerUser,
                              Reason::kQOSMaxNodePerUserLimit, Reason::kQOSMaxBillingPerUser,  Reason::kQOSMaxGRESPerUser,
                              Reason::kQOSMaxLicensePerUser};

constexpr Reasons kQosPerAccount{Reason::kMaxUnknownPerAccount, Reason::kMaxCpuPerAccount,     Reason::kMaxMemoryPerAccount,
                                 Reason::kMaxNodePerAccount,    Reason::kMaxBillingPerAccount, Reason::kMaxGRESPerAccount,
                                 Reason::kMaxLicensePerAccount};
constexpr Reasons kAssocMinutesPerJob{Reason::kAssocMaxUnknownMinutesPerJob, Reason::kAssocMaxCpuMinutesPerJobLimit,
                                      Reason::kAssocMaxMemMinutesPerJob,     Reason::kAssocMaxNodeMinutesPerJob,
                                      Reason::kAssocMaxBillingMinutesPerJob, Reason::kAssocMaxGRESMinutesPerJob,
                                      Reason::kAssocMaxLicenseMinutesPerJob};
constexpr Reasons kQosMinutesPerJob{Reason::kQOSMaxUnknownMinutesPerJob, Reason::kQOSMaxCpuMinutesPerJobLimit,
                                    Reason::kQOSMaxMemoryMinutesPerJob,  Reason::kQOSMaxNodeMinutesPerJob,
                                    Reason::kQOSMaxBillingMinutesPerJob, Reason::kQOSMaxGRESMinutesPerJob,
                                    Reason::kQOSMaxLicenseMinutesPerJob};
constexpr Reasons kAssocGrpMinutes{Reason::kAssocGrpUnknownMinutes, Reason::kAssocGrpCPUMinutesLimit, Reason::kAssocGrpMemMinutes,
                                   Reason::kAssocGrpNodeMinutes,    Reason::kAssocGrpBillingMinutes,  Reason::kAssocGrpGRESMinutes,
                                   Reason::kAssocGrpLicenseMinutes};
constexpr Reasons kAssocGrpRunMinutes{Reason::kAssocGrpUnknownRunMinutes, Reason::kAssocGrpCPURunMinutesLimit,
                                      Reason::kAssocGrpMemRunMinutes,     Reason::kAssocGrpNodeRunMinutes,
                                      Reason::kAssocGrpBillingRunMinutes, Reason::kAssocGrpGRESRunMinutes,
                                      Reason::kAssocGrpLicenseRunMinutes};
constexpr Reasons kQosGrpMinutes{Reason::kQOSGrpUnknownMinutes, Reason::kQOSGrpCPUMinutesLimit, Reason::kQOSGrpMemoryMinutes,
                                 Reason::kQOSGrpNodeMinutes,    Reason::kQOSGrpBillingMinutes,  Reason::kQOSGrpGRESMinutes,
                                 Reason::kQOSGrpLicenseMinutes};
constexpr Reasons kQosGrpRunMinutes{Reason::kQOSGrpUnknownRunMinutes, Reason::kQOSGrpCPURunMinutesLimit, Reason::kQOSGrpMemoryRunMinutes,
                                    Reason::kQOSGrpNodeRunMinutes,    Reason::kQOSGrpBillingRunMinutes,  Reason::kQOSGrpGRESRunMinutes,
                                    Reason::kQOSGrpLicenseRunMinutes};
constexpr Reasons kQosMin{Reason::kQOSMinUnknown, Reason::kQOSMinCpuNotSatisfied, Reason::kQOSMinMemory,
                          Reason::kQOSMinNode,    Reason::kQOSMinBilling,         Reason::kQOSMinGRES,
                          Reason::kQOSMinLicense};

using enum LimitKind;
using enum On;
using enum Of;
using enum Counts;

// The first limit that a job would exceed names its reason, so rows stand in the order of the guide: partition, QOS, associations from
// below. A start knows only the nodes, so limits on time are asked before.
constexpr uint8_t kWhileTimeIsKnown = kBeforeNodes | kWithNodes;
constexpr LimitRow kRows[] = {
    // This limit bounds what is asked for: a job that gets more, because it has whole cores or nodes, may have it.
    {kMaxTresPerUser, kPartition, kUser, kHeld, kBeforeNodes, {Reason::kQOSMaxCpuPerUserLimit}, {}, "MaxCPUsPerUser"},

    {kGrpSubmitJobs, kQos, kAll, kSubmitted, kAtSubmission, {Reason::kQOSGrpSubmitJobsLimit}},
    {kMaxSubmitJobsPerUser, kQos, kUser, kSubmitted, kAtSubmission, {Reason::kQOSMaxSubmitJobPerUserLimit}},
    {kMaxSubmitJobsPerAccount, kQos, kAccount, kSubmitted, kAtSubmission, {Reason::kMaxSubmitJobsPerAccount}},
    {kGrpJobs, kQos, kAll, kRunning, kWhileItWaits, {Reason::kQOSGrpJobsLimit}},
    {kGrpTres, kQos, kAll, kHeld, kWhileItWaits, kQosGrp},
    {kGrpTresMins, kQos, kAll, kUsedMinutes, kWhileTimeIsKnown, kQosGrpMinutes},
    {kGrpTresRunMins, kQos, kAll, kRunMinutes, kWhileTimeIsKnown, kQosGrpRunMinutes},
    {kGrpWall, kQos, kAll, kUsedWall, kBeforeNodes, {Reason::kQOSGrpWallLimit}},
    {kMaxJobsPerUser, kQos, kUser, kRunning, kWhileItWaits, {Reason::kQOSMaxJobsPerUserLimit}},
    {kMaxTresPerUser, kQos, kUser, kHeld, kWhileItWaits, kQosPerUser},
    {kMaxJobsPerAccount, kQos, kAccount, kRunning, kWhileItWaits, {Reason::kMaxJobsPerAccount}},
    {kMaxTresPerAccount, kQos, kAccount, kHeld, kWhileItWaits, kQosPerAccount},
    {kMinTresPerJob, kQos, kAll, kAtLeast, kWhileItWaits, kQosMin},
    {kMaxTresPerJob, kQos, kAll, kOneJob, kWhileItWaits, kQosPerJob},
    {kMaxTresMinsPerJob, kQos, kAll, kOneJobMinutes, kWhileTimeIsKnown, kQosMinutesPerJob},
    {kMaxWall, kQos, kAll, kMinutes, kBeforeNodes, {Reason::kQOSMaxWallDurationPerJobLimit}},

    {kGrpSubmitJobs, kAssociations, kAll, kSubmitted, kAtSubmission, {Reason::kAssocGrpSubmitJobsLimit}, kGrpSubmitJobs},
    {kMaxSubmitJobs, kAssociation, kAll, kSubmitted, kAtSubmission, {Reason::kAssocMaxSubmitJobLimit}, kMaxSubmitJobsPerUser},
    {kGrpJobs, kAssociations, kAll, kRunning, kWhileItWaits, {Reason::kAssocGrpJobsLimit}, kGrpJobs},
    {kGrpTres, kAssociations, kAll, kHeld, kWhileItWaits, kAssocGrp, kGrpTres},
    {kGrpTresMins, kAssociations, kAll, kUsedMinutes, kWhileTimeIsKnown, kAssocGrpMinutes, kGrpTresMins},
    {kGrpTresRunMins, kAssociations, kAll, kRunMinutes, kWhileTimeIsKnown, kAssocGrpRunMinutes, kGrpTresRunMins},
    {kGrpWall, kAssociations, kAll, kUsedWall, kBeforeNodes, {Reason::kAssocGrpWallLimit}, kGrpWall},
    {kMaxJobs, kAssociation, kAll, kRunning, kWhileItWaits, {Reason::kAssocMaxJobsLimit}, kMaxJobsPerUser},
    {kMaxTresPerJob, kAssociation, kAll, kOneJob, kWhileItWaits, kAssocPerJob, kMaxTresPerJob},
    {kMaxTresMinsPerJob, kAssociation, kAll, kOneJobMinutes, kWhileTimeIsKnown, kAssocMinutesPerJob, kMaxTresMinsPerJob},
    {kMaxWall, kAssociation, kAll, kMinutes, kBeforeNodes, {Reason::kAssocMaxWallDurationPerJobLimit}, kMaxWall},
};

const char* name_of(const LimitRow& row) {
  if (row.called) return row.called;
  for (const LimitInfo& info : kLimits)
    if (info.kind == row.kind) return info.name;
  return "";
}

Reason reason_of(const LimitRow& row, const std::string& tres) {
  const Reasons& r = row.reasons;
  if (tres == "cpu") return r.cpu;
  if (tres == "mem") return r.mem;
  if (tres == "node") return r.node;
  if (tres == "billing") return r.billing;
  if (tres.starts_with("gres/")) return r.gres;
  if (tres.starts_with("license/")) return r.license;
  return r.any;
}

bool of_one_job(const LimitRow& row) { return row.counts >= Counts::kOneJob; }
bool per_tres(const LimitRow& row) { return row.counts >= Counts::kHeld && row.counts != Counts::kMinutes; }

bool of_usage(const LimitRow& row) { return row.counts == Counts::kUsedMinutes || row.counts == Counts::kUsedWall; }

class Gathering {
 public:
  Gathering(const Cluster& cluster, Held held, const Asker& asker, const Partition& partition)
      : cluster_(cluster), used_(held.used), asker_(asker), partition_(partition) {
    const AccountDirectory* d = held.accounts ? cluster.directory.get() : nullptr;
    if (!d) return;
    if (asker.association)
      for (uint32_t id : line_of(d, asker.association->id))
        if (const AssociationRecord* a = d->associations.find(id)) line_.push_back(a);
    qos_ = d->qos.find(asker.qos);
  }

  std::vector<Bound> run() {
    for (const LimitRow& row : kRows) {
      if (of_usage(row) && !used_) continue;
      if (row.on == On::kPartition) add_partition(row);
      if (row.on == On::kQos && qos_) add_all(row, qos_->limits, holder_in_qos(row), "QOS " + qos_->name);
      for (size_t i = 0; i < line_.size(); ++i) {
        if (of_usage(row) && line_[i]->parent_id == 0) continue;  // not enforced on root: sacctmgr(1)
        if (row.on == On::kAssociations || (row.on == On::kAssociation && i == 0))
          add_all(row, line_[i]->limits, Holder::association(line_[i]->id), called(*line_[i]));
      }
    }
    return std::move(out_);
  }

 private:
  static std::string called(const AssociationRecord& a) {
    if (a.user.empty()) return "account " + a.account;
    return "user " + a.user + " in account " + a.account + (a.partition.empty() ? "" : " and partition " + a.partition);
  }
  Holder holder_in_qos(const LimitRow& row) const {
    if (row.of == Of::kUser) return Holder::user_of_qos(asker_.qos, asker_.user);
    if (row.of == Of::kAccount) return Holder::account_of_qos(asker_.qos, asker_.account);
    return Holder::qos(asker_.qos);
  }
  void add_partition(const LimitRow& row) {
    if (partition_.max_cpus_per_user == kUnlimited32) return;
    out_.push_back({&row, Holder::user_of_partition(partition_.index, asker_.user), TresTable::kCpu, partition_.max_cpus_per_user,
                    "partition " + partition_.name});
  }
  void add_all(const LimitRow& row, const std::vector<Limit>& limits, const Holder& holder, const std::string& whom) {
    for (const Limit& l : limits) {
      if (l.kind != row.kind) continue;
      if (row.unless_qos && qos_ && find_limit(qos_->limits, *row.unless_qos, l.tres)) continue;
      const uint32_t tres = per_tres(row) ? cluster_.tres_table().find(l.tres) : 0;
      if (tres != TresTable::kUnknown) out_.push_back({&row, holder, tres, scaled(row, l.value), whom});
    }
  }
  // LimitFactor of the QOS raises or lowers the TRES limits of associations.
  uint64_t scaled(const LimitRow& row, uint64_t limit) const {
    if (row.on == On::kQos || !per_tres(row) || !qos_ || !qos_->limit_factor || *qos_->limit_factor < 0) return limit;
    const double more = static_cast<double>(limit) * *qos_->limit_factor;
    return more >= static_cast<double>(kMaxLimit) ? kMaxLimit : static_cast<uint64_t>(more);
  }

  const Cluster& cluster_;
  const bool used_;
  const Asker& asker_;
  const Partition& partition_;
  std::vector<const AssociationRecord*> line_;  // the association and those above it
  const QosRecord* qos_ = nullptr;
  std::vector<Bound> out_;
};

constexpr double kMinute = 60;

uint64_t used_of(const Bound& b, const Standing& at) {
  const Use& use = at.ledger.use_of(b.holder);
  switch (b.row->counts) {
    case Counts::kRunning: return use.running;
    case Counts::kSubmitted: return use.submitted;
    case Counts::kHeld: return use.held[b.tres];
    case Counts::kUsedWall: return to_count(at.cluster.used_by(b.holder, at.now).wall / kMinute);
    case Counts::kUsedMinutes: {
      const uint64_t used = to_count(at.cluster.used_by(b.holder, at.now).of(b.tres) / kMinute);
      return at.safe ? add_sat(used, use.run_minutes(b.tres, at.now)) : used;
    }
    case Counts::kRunMinutes: return use.run_minutes(b.tres, at.now);
    case Counts::kOneJob:
    case Counts::kOneJobMinutes:
    case Counts::kAtLeast:
    case Counts::kMinutes: break;
  }
  return 0;
}

// A job without a limit counts as one of a year, here as in the ledger.
uint64_t minutes_of(const Wanted& wanted) { return wanted.time_limit_min == kUnlimited32 ? 365 * 24 * 60 : wanted.time_limit_min; }

uint64_t wanted_of(const Bound& b, const Wanted& wanted, bool safe) {
  const uint64_t tres = wanted.tres[b.tres];
  switch (b.row->counts) {
    case Counts::kRunning:
    case Counts::kUsedWall: return 1;
    case Counts::kSubmitted: return wanted.jobs;
    case Counts::kUsedMinutes: return safe ? mul_sat(tres, minutes_of(wanted)) : std::min<uint64_t>(tres, 1);
    case Counts::kHeld:
    case Counts::kOneJob:
    case Counts::kAtLeast: return tres;
    case Counts::kRunMinutes: return mul_sat(tres, minutes_of(wanted));
    case Counts::kOneJobMinutes: return mul_sat(tres, wanted.time_limit_min);
    case Counts::kMinutes: return wanted.time_limit_min;
  }
  return 0;
}

// A job that wants none of a TRES is not held back where others have too much of it.
bool exceeds(const Bound& b, uint64_t used, uint64_t wanted) {
  if (b.row->counts == Counts::kAtLeast) return wanted < b.limit;
  return wanted > 0 && (used > b.limit || wanted > b.limit - used);
}

}  // namespace

std::vector<Bound> bounds_on(const Cluster& cluster, Held held, const Asker& asker, const Partition& partition) {
  return Gathering(cluster, held, asker, partition).run();
}

std::optional<Excess> first_exceeded(const std::vector<Bound>& bounds, const Standing& standing, const Wanted& wanted, When when) {
  for (const Bound& b : bounds) {
    if (!(b.row->asked & when)) continue;
    const Excess e{&b, used_of(b, standing), wanted_of(b, wanted, standing.safe)};
    if (exceeds(b, e.used, e.wanted)) return e;
  }
  return std::nullopt;
}

std::optional<Excess> first_exceeded_alone(const std::vector<Bound>& bounds, const Wanted& wanted) {
  for (const Bound& b : bounds) {
    const Excess e{&b, 0, wanted_of(b, wanted, false)};
    if (b.row->on != On::kPartition && exceeds(b, 0, e.wanted)) return e;
  }
  return std::nullopt;
}

LimitView Excess::view(const TresTable& table) const {
  LimitView out;
  const LimitRow& row = *bound->row;
  const bool names_tres = per_tres(row) && !row.called;
  out.name = std::string(name_of(row)) + (names_tres ? "=" + table.name(bound->tres) : "") + " of " + bound->whom;
  out.limit = bound->limit;
  out.used = used;
  out.wanted = wanted;
  return out;
}

Reason Excess::reason(const TresTable& table) const {
  return per_tres(*bound->row) ? reason_of(*bound->row, table.name(bound->tres)) : bound->row->reasons.any;
}

std::string Excess::detail(const TresTable& table) const {
  const LimitView v = view(table);
  if (bound->row->counts == Counts::kAtLeast)
    return v.name + ": a job has to take " + std::to_string(v.limit) + ", " + std::to_string(v.wanted) + " wanted";
  if (of_one_job(*bound->row)) return v.name + ": a job may have " + std::to_string(v.limit) + ", " + std::to_string(v.wanted) + " wanted";
  const bool over_time = bound->row->counts == Counts::kUsedMinutes || bound->row->counts == Counts::kUsedWall;
  if (over_time && v.wanted <= 1) return v.name + ": " + std::to_string(v.used) + " of " + std::to_string(v.limit) + " minutes used";
  return v.name + ": " + std::to_string(v.used) + " of " + std::to_string(v.limit) + " in use, " + std::to_string(v.wanted) +
         " more wanted";
}

}  // namespace muster::acct
