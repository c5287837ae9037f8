// What commands, nodes and the controller say to each other comes back as it was, and a cut message is
// refused or is a shorter whole one; it never does harm.
#include <gtest/gtest.h>

#include "model/archive.h"
#include "model/assoc_mgr.h"
#include "model/config_rpc.h"
#include "model/database_statistics.h"
#include "model/job_content.h"
#include "model/join_rpc.h"
#include "model/node_rpc.h"
#include "model/rows.h"
#include "model/rpc.h"
#include "model/token_rpc.h"
#include "model/usage_report.h"
#include "wire/accounting_instances.h"
#include "wire/instances.h"
#include "wire/sample_test.h"

namespace muster::wire {
namespace {

template <class T>
class Message : public testing::Test {};

using Messages = testing::Types<
    NodeShareRow, TresAmounts, JobRow, StepRow, NodeRow, PartitionRow, rpc::Empty, rpc::SubmitJob, rpc::SubmitHetJob, rpc::AllocateHetJob,
    rpc::HetAllocated, rpc::CreateHetStep, rpc::HetStepCreated, HetPart, HetComponent, rpc::JobSubmitted, rpc::Allocate,
    rpc::AllocationPending, rpc::NodeAddress, rpc::Allocated, rpc::WillRun, rpc::WillRunAnswer, rpc::WaitJob, rpc::WaitSteps,
    rpc::WaitRecords, rpc::RunWithoutJob, rpc::JobResult, rpc::FinishAllocation, rpc::AttachAllocation, rpc::CreateStep, rpc::StepNode,
    rpc::StepCreated, rpc::FinishStep, rpc::JobSelector, rpc::JobFilter, rpc::SignalJobs, rpc::PerJobError, rpc::SignalJobsAnswer,
    rpc::ControlJobs, rpc::KeyValue, rpc::UpdateJob, rpc::UpdateNode, rpc::JoinNode, rpc::NodeJoined, rpc::FetchConfig, rpc::ConfigManifest,
    rpc::FetchConfigFile, rpc::ConfigChanged, rpc::StartMaintenance, rpc::ControlMaintenance, rpc::QueryMaintenance, rpc::MaintenanceRows,
    rpc::CreateToken, rpc::TokenCreated, rpc::TokenRows, rpc::RevokeToken, rpc::TokenRevoked, rpc::AskCertificate, rpc::CertificateIssued,
    rpc::ClusterTrust, rpc::UpdatePartition, rpc::UpdateStep, rpc::ControlNodes, rpc::NotifyJob, rpc::UpdateConfig, rpc::QueryLicenses,
    rpc::LicenseRows, LicenseRow, rpc::QueryShares, rpc::ShareRows, ShareRow, rpc::QueryAssocMgr, rpc::AssocMgrRows, AssociationUse, QosUse,
    rpc::QueryPriorities, rpc::PriorityRows, PriorityRow, FactorRow, rpc::Messages, rpc::Shutdown, rpc::QueryJobs, rpc::RequestRow,
    rpc::JobRows, rpc::QueryNodes, rpc::NodeRows, rpc::QueryPartitions, rpc::PartitionRows, rpc::Text, rpc::QueryText, rpc::QueryTopology,
    rpc::TopologyAnswer, JobRecord, StepRecord, rpc::StoreRecords, rpc::RecordsStored, rpc::QueryRecords, rpc::JobRecords,
    rpc::RegisterCluster, rpc::QueryEntities, rpc::Entities, rpc::EditEntities, ArchivePart, rpc::ArchiveDump, rpc::ArchiveDumped,
    rpc::ArchiveLoad, rpc::ArchiveLoaded, rpc::StoreContent, rpc::QueryContent, rpc::ContentPart, rpc::QueryDatabaseStatistics,
    rpc::DatabaseStatistics, rpc::EntitiesEdited, rpc::EditJobRecords, rpc::JobRecordsEdited, rpc::AwaitDirectory, rpc::DirectoryVersion,
    AccountChanges, EventRecord, ReservationRecord, rpc::QueryUsage, rpc::UsageAnswer, rpc::QueryJobSizes, rpc::JobSizes,
    rpc::QueryReservationUsage, rpc::ReservationUsages, rpc::QueryEvents, rpc::EventRecords, rpc::WatchJobs, rpc::JobChanges, rpc::Relay,
    rpc::AskerGone, rpc::Pong, node_rpc::NodeJob, node_rpc::Register, node_rpc::BatchStarted, node_rpc::BatchFinished, node_rpc::JobGone,
    node_rpc::LaunchFailed, node_rpc::StepGone, node_rpc::Load, node_rpc::Registered, node_rpc::JobOnNode, node_rpc::LaunchBatch,
    rpc::FetchContent, rpc::ContentPiece, node_rpc::TerminateJob, node_rpc::SignalJob, node_rpc::ForgetJobs, node_rpc::Reconfigure,
    node_rpc::SetLogging, node_rpc::RebootNode, node_rpc::NotifyJob, node_rpc::PowerDownNode, Numbered<NodeReport>, Numbered<NodeOrder>>;
TYPED_TEST_SUITE(Message, Messages);

TYPED_TEST(Message, ComesBackAsItWas) {
  Random rng(21);
  for (int i = 0; i < 40; ++i) {
    TypeParam value{};
    if (i) fill(rng, value);
    std::string bytes, again;
    encode(value, bytes);
    TypeParam back{};
    auto ok = decode(bytes, back);
    ASSERT_TRUE(ok) << ok.error().message();
    ASSERT_TRUE(equal(value, back));
    encode(back, again);
    ASSERT_EQ(bytes, again);
    for (size_t n = 0; n < bytes.size(); n += 1 + bytes.size() / 64) {
      auto cut = decode(std::string_view(bytes).substr(0, n), back);
      if (!cut) {
        ASSERT_EQ(cut.error().code, Errc::kFrameMalformed);
      }
    }
  }
}

TEST(CarriedRequest, InPartsReadsAsWhole) {
  Random rng(22);
  JobRequest r;
  fill(rng, r);
  std::string bytes;
  encode(rpc::RequestRow{RequestId(3), {std::make_shared<const RequestBody>(r), PackedOwn(r)}}, bytes);
  rpc::RequestRow back;
  ASSERT_TRUE(decode(bytes, back));
  EXPECT_EQ(back.id, RequestId(3));
  EXPECT_EQ(*back.request.whole(), shown_request(r, PackedOwn(r)));
}

template <class T>
concept HasHashes = requires(T t) {
  t.script_hash;
};
template <class T>
concept HasKnown = requires(T t) {
  t.site_factor;
};
static_assert(HasHashes<JobRequest> && HasKnown<JobRequest>);
static_assert(!HasHashes<AskedRequest> && !HasKnown<AskedRequest>);  // what a client sends
static_assert(!HasHashes<ShownRequest> && HasKnown<ShownRequest>);   // what it gets

TEST(Requests, ARowHasNoHashOfAnybodysContent) {
  JobRequest r;
  r.script_hash = std::string(64, 's');
  r.environment_hash = std::string(64, 'e');
  r.spank_env = {"TOKEN=secret"};
  std::string bytes;
  encode(rpc::RequestRow{RequestId(3), {std::make_shared<const RequestBody>(r), PackedOwn(r)}}, bytes);
  for (const std::string& hidden : {r.script_hash, r.environment_hash, r.spank_env[0]}) EXPECT_EQ(bytes.find(hidden), bytes.npos) << hidden;
}

// A client that writes every field there is, as one of another version might: a job asks with it for what a user may ask.
TEST(Requests, WhatTheControllerAloneKnowsIsNotReadFromAClient) {
  Random rng(23);
  JobRequest all;
  while (all.script_hash.empty() || all.site_factor == 0 || all.user_name.empty() || all.alloc_node.empty() || all.admin_comment.empty() ||
         all.alloc_sid == 0 || all.name.empty() || all.spank_env.empty() || all.nice == 0)
    fill(rng, all);
  const std::string bytes = encoded(all);
  AskedRequest asked;
  ASSERT_TRUE(decode(bytes, asked));
  const JobRequest taken = job_request(asked);
  EXPECT_EQ(static_cast<const AskedBody&>(taken), static_cast<const AskedBody&>(all));
  EXPECT_EQ(static_cast<const AskedOwn&>(taken), static_cast<const AskedOwn&>(all));
  EXPECT_EQ(static_cast<const AskedHidden&>(taken), static_cast<const AskedHidden&>(all));
  EXPECT_EQ(static_cast<const KnownBody&>(taken), KnownBody());
  EXPECT_EQ(static_cast<const KnownOwn&>(taken), KnownOwn());
  EXPECT_EQ(static_cast<const ContentHashes&>(taken), ContentHashes());
}

TEST(Envelope, KeepsItsAlternative) {
  Numbered<NodeReport> value{.session = 3, .sequence = 4, .message = node_rpc::StepGone{}}, back;
  std::string bytes;
  encode(value, bytes);
  ASSERT_TRUE(decode(bytes, back));
  EXPECT_TRUE(std::holds_alternative<node_rpc::StepGone>(back.message));
  EXPECT_EQ(type_name<Numbered<NodeReport>>(), "Numbered");
}

}  // namespace
}  // namespace muster::wire
