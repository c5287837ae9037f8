// What queries show of a state: all jobs and nodes, each once and as they are. Every other query that there is is asked, too, by root and
// by a user: it is answered or refused, and its answer has an end.
#include "sim/check_queries.h"

#include <map>

#include "slurmctld/core/query.h"

namespace muster::sim {
namespace {

using namespace slurmctld;

constexpr int kMostParts = 10'000;

const QueryTexts kTexts{[] { return std::string(); }, [](bool) { return std::string(); },
                        [](const std::string&) -> Result<std::string> { return fail(Errc::kNotFound); }};

// Takes all parts of an answer; the result says what is wrong with it, "" nothing, or how the question was refused.
template <class Request, class Take>
Result<std::string> take_all(const QueryContext& context, Request request, Take take) {
  MUSTER_TRY(answer, query_from(context, std::move(request)));
  auto& parts = std::get<AnswerInParts<Request>>(answer);
  PartOf<Request> part;
  for (int n = 0; parts.next && parts.next(part); ++n) {
    if (n == kMostParts) return std::string("has no end");
    take(part);
  }
  return std::string();
}

// The same of a question that must not be refused.
template <class Request, class Take>
std::string read(const QueryContext& context, Request request, Take take) {
  auto wrong = take_all(context, std::move(request), take);
  return wrong ? *wrong : "was refused: " + std::string(wrong.error().message());
}

std::string jobs_problem(const QueryContext& context, rpc::RowOrder order) {
  rpc::QueryJobs query;
  query.show_all = true;
  query.order = order;
  std::map<uint32_t, JobState> shown;
  size_t rows = 0;
  std::string wrong = read(context, query, [&](const rpc::JobRows& part) {
    rows += part.jobs.size();
    for (const JobRow& row : part.jobs) shown[row.id.value] = row.state;
  });
  if (!wrong.empty()) return wrong;
  if (rows != shown.size()) return "shows a job twice";
  context.cluster->jobs.for_each([&](uint32_t id, const Job& job) {
    auto at = shown.find(id);
    if (at == shown.end()) wrong = "leaves out job " + std::to_string(id);
    else if (at->second != job.state) wrong = "shows job " + std::to_string(id) + " in another state";
    if (at != shown.end()) shown.erase(at);
  });
  return wrong.empty() && !shown.empty() ? "shows a job that is not there" : wrong;
}

std::string nodes_problem(const QueryContext& context) {
  std::map<std::string, int> shown;
  std::string wrong = read(context, rpc::QueryNodes{.show_all = true}, [&](const rpc::NodeRows& part) {
    for (const auto& row : part.nodes) ++shown[row.name];
  });
  context.cluster->nodes.for_each([&](uint32_t, const Node& n) {
    if (wrong.empty() && shown[n.spec->name] != 1)
      wrong = "shows node " + n.spec->name + " " + std::to_string(shown[n.spec->name]) + " times";
  });
  return wrong;
}

template <size_t... I>
std::string any_problem(const QueryContext& context, std::index_sequence<I...>) {
  std::string wrong;
  auto ask = [&]<class Request>(Request request) {
    const auto said = take_all(context, std::move(request), [](const PartOf<Request>&) {});
    if (said && !said->empty()) wrong = std::string(row_of<Request>.name) + " " + *said;
  };
  (ask(std::variant_alternative_t<I, Query>{}), ...);
  return wrong;
}

}  // namespace

std::string queries_problem(const Core& core, Time now) {
  const auto snapshot = core.snapshot();
  const auto settings = std::make_shared<const Settings>(core.settings());
  constexpr auto kAll = std::make_index_sequence<std::variant_size_v<Query>>();
  const QueryContext root(snapshot, settings, now, Caller::root(), kTexts);
  const QueryContext user(snapshot, settings, now, Caller{Uid(1000), Gid(100), {}, {}, "u1000"}, kTexts);
  for (const std::string& wrong : {jobs_problem(root, rpc::RowOrder::kById), jobs_problem(root, rpc::RowOrder::kQueue)})
    if (!wrong.empty()) return "QueryJobs " + wrong;
  if (std::string wrong = nodes_problem(root); !wrong.empty()) return "QueryNodes " + wrong;
  for (const std::string& wrong : {any_problem(root, kAll), any_problem(user, kAll)})
    if (!wrong.empty()) return wrong;
  return {};
}

}  // namespace muster::sim
