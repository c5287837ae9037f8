// The answers to queries that are streamed: one answer_to() for each of them, from a snapshot. Called on the query thread; parts are made
// as they are taken.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/answer_streams.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// What a query is answered from, and what whoever asks may see.
struct QueryContext {
  std::shared_ptr<const Snapshot> cluster;
  std::shared_ptr<const Settings> settings;
  Time now{};
  Privacy privacy;
  Rights rights;
  Caller who;
};

// What the daemon has to say in words.
struct DaemonTexts {
  std::function<std::string()> show_config;
  std::function<std::string(bool passwords)> write_config;
  std::function<Result<std::string>(const std::string& hash)> read_blob;  // query thread only
};

using AnswerSource = Result<std::unique_ptr<net::PartSource>>;
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryJobs& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryNodes& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryPartitions& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryReservations& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryText& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryLicenses& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryTopology& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryShares& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryAssocMgr& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryPriorities& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::ExplainNode& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryCrontab& query);
AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryTriggers& query);

}  // namespace muster::slurmctld
