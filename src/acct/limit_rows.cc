#include "acct/limit_rows.h"

namespace muster::acct {
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

constexpr Reasons kAssocPerNode{Reason::kAssocMaxUnknownPerNode, Reason::kAssocMaxCpuPerNode,     Reason::kAssocMaxMemPerNode,
                                Reason::kAssocMaxUnknownPerNode, Reason::kAssocMaxBillingPerNode, Reason::kAssocMaxGRESPerNode,
                                Reason::kAssocMaxUnknownPerNode};
constexpr Reasons kQosPerNode{Reason::kQOSMaxUnknownPerNode, Reason::kQOSMaxCpuPerNode,     Reason::kQOSMaxMemoryPerNode,
                              Reason::kQOSMaxUnknownPerNode, Reason::kQOSMaxBillingPerNode, Reason::kQOSMaxGRESPerNode,
                              Reason::kQOSMaxUnknownPerNode};

using enum LimitKind;
using enum On;
using enum Of;
using enum Counts;

// The first limit that a job would exceed names its reason, so rows stand in the order of the guide: partition, QOS (that of the partition
// before that of the job), associations from below. All that a job waits for is asked again where it starts: another plan may have been first.
constexpr uint8_t kWithoutNodes = kBeforeNodes | kWhereItStarts;
constexpr LimitRow kRows[] = {
    // This limit bounds what is asked for: a job that gets more, because it has whole cores or nodes, may have it.
    {kMaxTresPerUser, kPartition, kUser, kHeld, kBeforeNodes, {Reason::kQOSMaxCpuPerUserLimit}, {}, "MaxCPUsPerUser"},

    {kGrpSubmitJobs, kQos, kAll, kSubmitted, kAtSubmission, {Reason::kQOSGrpSubmitJobsLimit}},
    {kMaxSubmitJobsPerUser, kQos, kUser, kSubmitted, kAtSubmission, {Reason::kQOSMaxSubmitJobPerUserLimit}},
    {kMaxSubmitJobsPerAccount, kQos, kAccount, kSubmitted, kAtSubmission, {Reason::kMaxSubmitJobsPerAccount}},
    {kGrpJobs, kQos, kAll, kRunning, kWhileItWaits, {Reason::kQOSGrpJobsLimit}},
    {kGrpTres, kQos, kAll, kHeld, kWhileItWaits, kQosGrp},
    {kGrpTresMins, kQos, kAll, kUsedMinutes, kWhileItWaits, kQosGrpMinutes},
    {kGrpTresRunMins, kQos, kAll, kRunMinutes, kWhileItWaits, kQosGrpRunMinutes},
    {kGrpWall, kQos, kAll, kUsedWall, kWithoutNodes, {Reason::kQOSGrpWallLimit}},
    {kMaxJobsPerUser, kQos, kUser, kRunning, kWhileItWaits, {Reason::kQOSMaxJobsPerUserLimit}},
    {kMaxTresPerUser, kQos, kUser, kHeld, kWhileItWaits, kQosPerUser},
    {kMaxTresRunMinsPerUser, kQos, kUser, kRunMinutes, kWhileItWaits, kQosPerUser},
    {kMaxJobsPerAccount, kQos, kAccount, kRunning, kWhileItWaits, {Reason::kMaxJobsPerAccount}},
    {kMaxTresPerAccount, kQos, kAccount, kHeld, kWhileItWaits, kQosPerAccount},
    {kMaxTresRunMinsPerAccount, kQos, kAccount, kRunMinutes, kWhileItWaits, kQosPerAccount},
    {kMinTresPerJob, kQos, kAll, kAtLeast, kWhileItWaits, kQosMin},
    {kMaxTresPerJob, kQos, kAll, kOneJob, kWhileItWaits, kQosPerJob},
    {kMaxTresPerNode, kQos, kAll, kOneNode, kWhileItWaits, kQosPerNode},
    {kMaxTresMinsPerJob, kQos, kAll, kOneJobMinutes, kWhileItWaits, kQosMinutesPerJob},
    {kMaxWall, kQos, kAll, kMinutes, kWithoutNodes, {Reason::kQOSMaxWallDurationPerJobLimit}},
    // No job waits for these: its age does not count meanwhile. The QOS of the partition has no part in it.
    {kGrpJobsAccrue, kJobQos, kAll, kAccruing, kToAccrue, {}},
    {kMaxJobsAccruePerUser, kJobQos, kUser, kAccruing, kToAccrue, {}},
    {kMaxJobsAccruePerAccount, kJobQos, kAccount, kAccruing, kToAccrue, {}},

    {kGrpSubmitJobs, kAssociations, kAll, kSubmitted, kAtSubmission, {Reason::kAssocGrpSubmitJobsLimit}, kGrpSubmitJobs},
    {kMaxSubmitJobs, kAssociation, kAll, kSubmitted, kAtSubmission, {Reason::kAssocMaxSubmitJobLimit}, kMaxSubmitJobsPerUser},
    {kGrpJobs, kAssociations, kAll, kRunning, kWhileItWaits, {Reason::kAssocGrpJobsLimit}, kGrpJobs},
    {kGrpTres, kAssociations, kAll, kHeld, kWhileItWaits, kAssocGrp, kGrpTres},
    {kGrpTresMins, kAssociations, kAll, kUsedMinutes, kWhileItWaits, kAssocGrpMinutes, kGrpTresMins},
    {kGrpTresRunMins, kAssociations, kAll, kRunMinutes, kWhileItWaits, kAssocGrpRunMinutes, kGrpTresRunMins},
    {kGrpWall, kAssociations, kAll, kUsedWall, kWithoutNodes, {Reason::kAssocGrpWallLimit}, kGrpWall},
    {kMaxJobs, kAssociation, kAll, kRunning, kWhileItWaits, {Reason::kAssocMaxJobsLimit}, kMaxJobsPerUser},
    {kMaxTresPerJob, kAssociation, kAll, kOneJob, kWhileItWaits, kAssocPerJob, kMaxTresPerJob},
    {kMaxTresPerNode, kAssociation, kAll, kOneNode, kWhileItWaits, kAssocPerNode, kMaxTresPerNode},
    {kMaxTresMinsPerJob, kAssociation, kAll, kOneJobMinutes, kWhileItWaits, kAssocMinutesPerJob, kMaxTresMinsPerJob},
    {kMaxWall, kAssociation, kAll, kMinutes, kWithoutNodes, {Reason::kAssocMaxWallDurationPerJobLimit}, kMaxWall},
    {kGrpJobsAccrue, kAssociations, kAll, kAccruing, kToAccrue, {}, kGrpJobsAccrue},
    {kMaxJobsAccrue, kAssociation, kAll, kAccruing, kToAccrue, {}, kMaxJobsAccruePerUser},
};

}  // namespace

const char* LimitRow::name() const {
  if (called) return called;
  for (const LimitInfo& info : kLimits)
    if (info.kind == kind) return info.name;
  return "";
}

Reason Reasons::of(const TresName& tres) const {
  switch (tres.kind) {
    case TresKind::kCpu: return cpu;
    case TresKind::kMem: return mem;
    case TresKind::kNode: return node;
    case TresKind::kBilling: return billing;
    case TresKind::kGres: return gres;
    case TresKind::kLicense: return license;
    case TresKind::kOther: break;
  }
  return any;
}

bool Reasons::has(Reason r) const { return r == any || r == cpu || r == mem || r == node || r == billing || r == gres || r == license; }

std::span<const LimitRow> limit_rows() { return kRows; }

}  // namespace muster::acct
