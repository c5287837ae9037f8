#include "slurmctld/daemon/query_answers.h"

#include "slurmctld/core/assoc_mgr_rows.h"
#include "slurmctld/core/explain.h"
#include "slurmctld/core/license_rows.h"
#include "slurmctld/core/priority_rows.h"
#include "slurmctld/core/reservation_rows.h"
#include "slurmctld/core/row_query.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/core/served.h"
#include "slurmctld/core/share_rows.h"
#include "slurmctld/core/tool_queries.h"
#include "wire/instances.h"

namespace muster::slurmctld {
namespace {

// The parts of a query's answer, encoded as they are asked for.
template <class Query>
class RowSource final : public net::PartSource {
 public:
  explicit RowSource(Query query) : query_(std::move(query)) {}
  bool next(std::string& part) override {
    if (!query_.next(rows_)) return false;
    wire::encode(rows_, part);
    return true;
  }

 private:
  Query query_;
  typename Query::Rows rows_;
};

// An answer that is there already: one part (or none) and the final frame.
class ReadySource final : public net::PartSource {
 public:
  ReadySource(std::string part, std::string last) : part_(std::move(part)), last_(std::move(last)) {}
  bool next(std::string& part) override {
    part = std::exchange(part_, {});
    return !part.empty();
  }
  Result<std::string> last() override { return std::move(last_); }

 private:
  std::string part_, last_;
};

template <class Part>
AnswerSource one_part(const Part& part) {
  return std::make_unique<ReadySource>(wire::encoded(part), std::string());
}
template <class Answer>
AnswerSource whole(const Answer& answer) {
  return std::make_unique<ReadySource>(std::string(), wire::encoded(answer));
}

rpc::TopologyAnswer topology_of(const Cluster& cluster) {
  rpc::TopologyAnswer out;
  if (cluster.topologies) out.topologies = *cluster.topologies;
  cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    out.nodes.resize(id + 1);
    out.nodes[id] = n.spec->name;
  });
  return out;
}

}  // namespace

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryJobs& query) {
  MUSTER_TRY_VOID(check_job_query(*c.cluster, query));
  const uint32_t most = c.cluster->counts.meant_by(query.filter);
  return std::make_unique<RowSource<JobQuery>>(
      JobQuery(c.cluster, std::move(query), c.settings->priority, c.now, most, c.privacy, c.settings->sched.preempt));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryNodes& query) {
  MUSTER_TRY(rows, NodeQuery::make(c.cluster, query, c.privacy));
  return std::make_unique<RowSource<NodeQuery>>(std::move(rows));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryPartitions& query) {
  MUSTER_TRY(rows, query_partitions(*c.cluster, query, c.privacy));
  return one_part(rows);
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryReservations& query) {
  MUSTER_TRY(rows, query_reservations(*c.cluster, query, c.now, c.privacy));
  return one_part(rows);
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryLicenses& query) {
  return one_part(query_licenses(*c.cluster, c.settings->config(), query));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryTopology&) {
  MUSTER_TRY_VOID(c.privacy.may_ask_for_nodes());
  return whole(topology_of(*c.cluster));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryShares&) {
  return std::make_unique<RowSource<ShareQuery>>(ShareQuery(query_shares(*c.cluster, c.settings->priority.fair_share, c.now, c.privacy)));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryAssocMgr& query) {
  return std::make_unique<RowSource<AssocMgrQuery>>(AssocMgrQuery(
      query_assoc_mgr(*c.cluster, c.settings->priority.fair_share, c.settings->config().accounting_storage_tres, c.now, query, c.privacy)));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryPriorities&) {
  return std::make_unique<RowSource<PriorityQuery>>(PriorityQuery(c.cluster, c.settings->priority, c.now, c.privacy));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::ExplainNode& query) {
  MUSTER_TRY(explanation, explain_node(*c.cluster, *c.settings, c.now, query, c.privacy));
  return whole(explanation);
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryCrontab& query) {
  MUSTER_TRY(crontab, query_crontab(*c.cluster, c.rights, c.who, query));
  return whole(crontab);
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts&, rpc::QueryTriggers& query) {
  return one_part(query_triggers(*c.cluster, c.privacy, c.who, query));
}

AnswerSource answer_to(const QueryContext& c, const DaemonTexts& texts, rpc::QueryText& query) {
  MUSTER_TRY(wanted, text_wanted(*c.cluster, c.privacy, c.rights, query));
  switch (wanted.source) {
    case TextWanted::Source::kShownConfig: return whole(rpc::Text{texts.show_config()});
    case TextWanted::Source::kWrittenConfig: return whole(rpc::Text{texts.write_config(wanted.passwords)});
    case TextWanted::Source::kContent: break;
  }
  MUSTER_TRY(bytes, texts.read_blob(wanted.hash));
  return whole(rpc::Text{std::move(bytes)});
}

}  // namespace muster::slurmctld
