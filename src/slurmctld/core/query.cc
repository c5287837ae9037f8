#include "slurmctld/core/query.h"

#include "slurmctld/core/assoc_mgr_rows.h"
#include "slurmctld/core/explain.h"
#include "slurmctld/core/license_rows.h"
#include "slurmctld/core/maintenance.h"
#include "slurmctld/core/priority_rows.h"
#include "slurmctld/core/reservation_rows.h"
#include "slurmctld/core/row_query.h"
#include "slurmctld/core/rows.h"
#include "slurmctld/core/served.h"
#include "slurmctld/core/share_rows.h"
#include "slurmctld/core/tool_queries.h"

namespace muster::slurmctld {
namespace {

// The answer of a query that makes its rows as they are asked for.
template <class Request, class Rows>
AnswerInParts<Request> in_parts(Rows rows) {
  return {[rows = std::move(rows)](PartOf<Request>& part) mutable { return rows.next(part); }, {}};
}
// One that is a single part.
template <class Request>
AnswerInParts<Request> one_part(PartOf<Request> all) {
  return {[all = std::move(all), taken = false](PartOf<Request>& part) mutable {
            part = std::move(all);
            return !std::exchange(taken, true);
          },
          {}};
}
// One without parts.
template <class Request>
AnswerInParts<Request> whole(AnswerTo<Request> answer) {
  return {{}, std::move(answer)};
}

rpc::TopologyAnswer topology_of(const Cluster& cluster) {
  rpc::TopologyAnswer out;
  if (cluster.topologies) out.topologies = *cluster.topologies;
  cluster.nodes.for_each([&](uint32_t id, const Node& n) {
    out.nodes.resize(id + 1);
    out.fabrics.resize(id + 1);
    out.nodes[id] = n.spec->name;
    if (n.hardware) out.fabrics[id] = n.hardware->fabric;
  });
  return out;
}

// ---- one answer() for each query

template <class Request>
using Answered = Result<AnswerInParts<Request>>;

Answered<rpc::QueryJobs> answer(const QueryContext& c, rpc::QueryJobs& query) {
  MUSTER_TRY_VOID(check_job_query(*c.cluster, query));
  const uint32_t most = c.cluster->counts.meant_by(query.filter);
  return in_parts<rpc::QueryJobs>(
      JobQuery(c.cluster, std::move(query), c.settings->priority, c.now, most, c.privacy, c.settings->sched.preempt));
}

Answered<rpc::QueryNodes> answer(const QueryContext& c, rpc::QueryNodes& query) {
  MUSTER_TRY(rows, NodeQuery::make(c.cluster, query, c.privacy));
  return in_parts<rpc::QueryNodes>(std::move(rows));
}

Answered<rpc::QueryPartitions> answer(const QueryContext& c, rpc::QueryPartitions& query) {
  MUSTER_TRY(rows, query_partitions(*c.cluster, query, c.privacy));
  return one_part<rpc::QueryPartitions>(std::move(rows));
}

Answered<rpc::QueryReservations> answer(const QueryContext& c, rpc::QueryReservations& query) {
  MUSTER_TRY(rows, query_reservations(*c.cluster, query, c.now, c.privacy));
  return one_part<rpc::QueryReservations>(std::move(rows));
}

Answered<rpc::QueryLicenses> answer(const QueryContext& c, rpc::QueryLicenses& query) {
  return one_part<rpc::QueryLicenses>(query_licenses(*c.cluster, *c.settings, query));
}

Answered<rpc::QueryTopology> answer(const QueryContext& c, rpc::QueryTopology&) {
  MUSTER_TRY_VOID(c.privacy.may_ask_for_nodes());
  return whole<rpc::QueryTopology>(topology_of(*c.cluster));
}

Answered<rpc::QueryShares> answer(const QueryContext& c, rpc::QueryShares&) {
  return in_parts<rpc::QueryShares>(ShareQuery(query_shares(*c.cluster, c.settings->priority.fair_share, c.now, c.privacy)));
}

Answered<rpc::QueryAssocMgr> answer(const QueryContext& c, rpc::QueryAssocMgr& query) {
  return in_parts<rpc::QueryAssocMgr>(AssocMgrQuery(
      query_assoc_mgr(*c.cluster, c.settings->priority.fair_share, c.settings->config().accounting_storage_tres, c.now, query, c.privacy)));
}

Answered<rpc::QueryPriorities> answer(const QueryContext& c, rpc::QueryPriorities&) {
  return in_parts<rpc::QueryPriorities>(PriorityQuery(c.cluster, c.settings->priority, c.now, c.privacy));
}

Answered<rpc::ExplainNode> answer(const QueryContext& c, rpc::ExplainNode& query) {
  MUSTER_TRY(explanation, explain_node(*c.cluster, *c.settings, c.now, query, c.privacy));
  return whole<rpc::ExplainNode>(std::move(explanation));
}

Answered<rpc::ExplainJob> answer(const QueryContext& c, rpc::ExplainJob& query) {
  MUSTER_TRY(explanation, explain_job(*c.cluster, *c.settings, c.now, query, c.privacy));
  return whole<rpc::ExplainJob>(std::move(explanation));
}

Answered<rpc::AttachAllocation> answer(const QueryContext& c, rpc::AttachAllocation& query) {
  MUSTER_TRY(allocated, attach_allocation(*c.cluster, c.privacy, c.rights, query));
  return whole<rpc::AttachAllocation>(std::move(allocated));
}

Answered<rpc::QueryCrontab> answer(const QueryContext& c, rpc::QueryCrontab& query) {
  MUSTER_TRY(crontab, query_crontab(*c.cluster, c.rights, c.who, query));
  return whole<rpc::QueryCrontab>(std::move(crontab));
}

Answered<rpc::QueryTriggers> answer(const QueryContext& c, rpc::QueryTriggers& query) {
  return one_part<rpc::QueryTriggers>(query_triggers(*c.cluster, c.privacy, c.who, query));
}

Answered<rpc::QueryMaintenance> answer(const QueryContext& c, rpc::QueryMaintenance& query) {
  MUSTER_TRY(rows, query_maintenance(*c.cluster, query));
  return one_part<rpc::QueryMaintenance>(std::move(rows));
}

Answered<rpc::QueryText> answer(const QueryContext& c, rpc::QueryText& query) {
  MUSTER_TRY(wanted, text_wanted(*c.cluster, c.privacy, c.rights, query));
  switch (wanted.source) {
    case TextWanted::Source::kShownConfig: return whole<rpc::QueryText>({c.texts.show_config()});
    case TextWanted::Source::kWrittenConfig: return whole<rpc::QueryText>({c.texts.write_config(wanted.passwords)});
    case TextWanted::Source::kContent: break;
  }
  MUSTER_TRY(bytes, c.texts.read_blob(wanted.hash));
  return whole<rpc::QueryText>({std::move(bytes)});
}

}  // namespace

Result<QueryAnswer> query_from(const QueryContext& context, Query query) {
  return std::visit(
      [&context]<class Request>(Request& request) -> Result<QueryAnswer> {
        MUSTER_TRY_VOID(may_ask(row_of<Request>, context.rights));
        MUSTER_TRY(answered, answer(context, request));
        return QueryAnswer(std::move(answered));
      },
      query);
}

}  // namespace muster::slurmctld
