// scontrol show: jobs, nodes, partitions, steps through fields/; the configuration as the controller tells
// it. Rows are printed as they come; nothing is kept.
#include "base/text.h"
#include "cli/common/document.h"
#include "cli/common/job_ids.h"
#include "cli/common/print_environment.h"
#include "cli/common/request_table.h"
#include "cli/scontrol/context.h"
#include "cli/scontrol/keywords.h"
#include "fields/show_job.h"
#include "fields/show_node.h"
#include "fields/show_partition.h"
#include "fields/show_step.h"
#include "hostlist/hostlist.h"

namespace muster::cli {
namespace {

fields::ShowOptions show_options(const Context& c) {
  return {.oneliner = c.options.oneliner, .details = c.options.details};
}

fields::Environment environment_of(Context& c, Session& session, Names& names) {
  fields::Environment env = print_environment(session.conf(), c.options, names);
  env.array_text_length = c.options.array_text_length.value_or(64);
  return env;
}

// With --json or --yaml: the document rows go to. False without a controller, before anything is printed.
bool start_document(Context& c, Session& session, std::string_view list, Out& out,
                    std::optional<Document>& document) {
  if (c.options.data.kind == DataOutput::Kind::kText) return true;
  if (Result<> there = session.connect(); !there) {
    c.complain("slurm_load_" + std::string(list) + " error: ", there.error());
    return false;
  }
  document.emplace(c.options.data, c.options, list, session.conf(), out);
  return true;
}

void show_config(Context& c) {
  Session* session = c.query_session();
  if (!session) return;
  rpc::QueryText query;
  query.subject = "config";
  Result<rpc::Text> text = session->call(query);
  if (!text) return c.complain("slurm_load_ctl_conf error: ", text.error());
  bool all_up = false;
  Out out;
  out.put(text->text);
  out.put("\n" + ping_text(c, all_up));
}

uint32_t job_parts(const Context& c) {
  uint32_t parts = kRowNodes | kRowTres | kRowVerdict | kRowRequest;
  return c.options.details ? parts | kRowDetail : parts;
}

bool add_selectors(Context& c, Words words, rpc::QueryJobs& query) {
  for (const std::string& word : words)
    for (std::string_view one : split_outside_brackets(word)) {
      size_t equals = one.find('=');
      Result<rpc::JobSelector> s =
          parse_job_selector(equals == std::string_view::npos ? one : one.substr(equals + 1));
      if (!s) {
        c.complain("", s.error());
        return false;
      }
      query.filter.jobs.push_back(std::move(*s));
    }
  return true;
}

void show_jobs(Context& c, Words words) {
  rpc::QueryJobs query;
  query.parts = job_parts(c);
  // A job that was named is shown wherever it is.
  query.show_all = c.options.visibility != Visibility::kHide;
  if (!add_selectors(c, words, query)) return;
  Session* session = c.query_session();
  if (!session) return;
  Names names;
  fields::Environment env = environment_of(c, *session, names);
  RequestTable requests;
  Out out;
  std::optional<Document> document;
  if (!start_document(c, *session, "jobs", out, document)) return;
  size_t shown = 0;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::JobRows&& part) -> Result<> {
    requests.add(std::move(part.requests));
    for (const JobRow& row : part.jobs) {
      if (document)
        fields::json_job({row, requests.of(row), env}, document->sink());
      else
        fields::show_job({row, requests.of(row), env}, show_options(c), out.buffer());
      out.put("");
      ++shown;
    }
    return {};
  });
  if (document && done) return;
  out.flush();
  if (!done) return c.complain("slurm_load_jobs error: ", done.error());
  if (shown) return;
  if (words.empty())
    out.line("No jobs in the system");
  else
    c.complain("slurm_load_jobs error: Invalid job id specified");
}

void show_steps(Context& c, Words words) {
  rpc::QueryJobs query;
  query.parts = kRowSteps | kRowNodes | kRowTres;
  query.show_all = true;
  if (!add_selectors(c, words, query)) return;
  std::vector<rpc::JobSelector> wanted = query.filter.jobs;
  for (rpc::JobSelector& s : query.filter.jobs) s.has_step = false;
  Session* session = c.query_session();
  if (!session) return;
  Names names;
  fields::Environment env = environment_of(c, *session, names);
  Out out;
  size_t shown = 0;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::JobRows&& part) -> Result<> {
    for (const StepRow& row : part.steps) {
      bool named = wanted.empty();
      for (const rpc::JobSelector& s : wanted)
        named =
            named || ((s.job == row.job || s.job == row.array_job_id) && (!s.has_step || s.step == row.id));
      if (!named) continue;
      fields::show_step({row, env}, show_options(c), out.buffer());
      out.put("");
      ++shown;
    }
    return {};
  });
  out.flush();
  if (!done) return c.complain("slurm_get_job_steps error: ", done.error());
  if (shown) return;
  if (words.empty())
    out.line("No job steps in the system");
  else
    c.complain("Job step " + words[0] + " not found");
}

void show_nodes(Context& c, Words words) {
  rpc::QueryNodes query;
  if (!words.empty()) query.nodes = words[0];
  if (istarts_with(query.nodes, "nodename=")) query.nodes = query.nodes.substr(9);
  query.show_all = c.options.visibility != Visibility::kHide;
  Session* session = c.query_session();
  if (!session) return;
  Names names;
  fields::Environment env = environment_of(c, *session, names);
  Out out;
  std::optional<Document> document;
  if (!start_document(c, *session, "nodes", out, document)) return;
  size_t shown = 0;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::NodeRows&& part) -> Result<> {
    for (const NodeRow& row : part.nodes) {
      if (row.state == NodeState::kFuture && !c.options.future && words.empty()) continue;
      if (document)
        fields::json_node(row, env, document->sink());
      else
        fields::show_node(row, env, show_options(c), out.buffer());
      out.put("");
      ++shown;
    }
    return {};
  });
  if (document && done) return;
  out.flush();
  if (!done && !words.empty() && done.error().code == Errc::kInvalidNodeName)
    return c.complain("Node " + words[0] + " not found");
  if (!done) return c.complain("slurm_load_node error: ", done.error());
  if (shown) return;
  if (words.empty())
    out.line("No nodes in the system");
  else
    c.complain("Node " + words[0] + " not found");
}

void show_partitions(Context& c, Words words) {
  rpc::QueryPartitions query;
  if (!words.empty()) query.name = words[0];
  if (istarts_with(query.name, "partitionname=")) query.name = query.name.substr(14);
  query.show_all = c.options.visibility == Visibility::kAll || !words.empty();
  Session* session = c.query_session();
  if (!session) return;
  Names names;
  fields::Environment env = environment_of(c, *session, names);
  Out out;
  std::optional<Document> document;
  if (!start_document(c, *session, "partitions", out, document)) return;
  size_t shown = 0;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::PartitionRows&& part) -> Result<> {
    for (const PartitionRow& row : part.partitions) {
      if (document)
        fields::json_partition(row, env, document->sink());
      else
        fields::show_partition(row, show_options(c), out.buffer());
      out.put("");
      ++shown;
    }
    return {};
  });
  if (document && done) return;
  out.flush();
  if (!done && !words.empty() && done.error().code == Errc::kInvalidPartition)
    return c.complain("Partition " + words[0] + " not found");
  if (!done) return c.complain("slurm_load_partitions error: ", done.error());
  if (shown) return;
  if (words.empty())
    out.line("No partitions in the system");
  else
    c.complain("Partition " + words[0] + " not found");
}

bool is_completing(const NodeRow& n) { return n.flags & kNodeCompleting; }

}  // namespace

// A line per ending job: "JobId=12 EndTime=… CompletingTime=00:12 Nodes(COMPLETING)=n1,n2".
void show_completing(Context& c) {
  Session* session = c.query_session();
  if (!session) return;
  std::vector<NodeRow> nodes;
  Result<rpc::Empty> done =
      session->stream(rpc::QueryNodes{"", {}, true}, [&](rpc::NodeRows&& part) -> Result<> {
        for (NodeRow& n : part.nodes)
          if (is_completing(n) || n.state == NodeState::kDown) nodes.push_back(std::move(n));
        return {};
      });
  rpc::QueryJobs query;
  query.filter.state_flags = kJobCompleting;
  query.parts = kRowNodes;
  query.show_all = true;
  Names names;
  fields::Environment env = environment_of(c, *session, names);
  Out out;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    for (const JobRow& row : part.jobs) {
      std::vector<std::string> ending, down;
      Result<std::vector<std::string>> hosts = expand_hosts(row.node_list);
      for (const NodeRow& n : nodes)
        if (hosts && std::find(hosts->begin(), hosts->end(), n.name) != hosts->end())
          (n.state == NodeState::kDown ? down : ending).push_back(n.name);
      std::string line = "JobId=" + std::to_string(row.id.value) + " EndTime=" + format_time(row.ended) +
                         " CompletingTime=" + format_span_full(env.now - row.ended);
      if (!ending.empty()) line += " Nodes(COMPLETING)=" + compress_hosts(ending);
      if (!down.empty()) line += " Nodes(DOWN)=" + compress_hosts(down);
      out.line(line);
    }
    return {};
  };
  if (done) done = session->stream(query, on_part);
  out.flush();
  if (!done) c.complain("slurm_load_jobs error: ", done.error());
}

void show(Context& c, Words words) {
  Entity entity{};
  if (!find_entity(words[0], entity)) return c.complain("invalid entity:" + words[0] + " for keyword:show ");
  Words rest = words.subspan(1);
  if (rest.size() > 1) return c.complain("too many arguments for keyword:show");
  if (c.options.data.kind != DataOutput::Kind::kText) {
    if (auto code = data_parser_asked(c.options.data, c.log)) {
      c.exit_code = *code;
      return;
    }
    if (entity != Entity::kJob && entity != Entity::kNode && entity != Entity::kPartition)
      return c.unavailable("--json and --yaml with show " + words[0]);
  }
  switch (entity) {
    case Entity::kHostnames:
      return show_hostnames(c, rest);
    case Entity::kHostlist:
      return show_hostlist(c, rest, false);
    case Entity::kHostlistSorted:
      return show_hostlist(c, rest, true);
    case Entity::kConfig:
      return show_config(c);
    case Entity::kJob:
      return show_jobs(c, rest);
    case Entity::kStep:
      return show_steps(c, rest);
    case Entity::kNode:
      return show_nodes(c, rest);
    case Entity::kPartition:
      return show_partitions(c, rest);
    case Entity::kReservation:
      if (rest.empty()) return Out().line("No reservations in the system");
      return c.complain("Reservation " + rest[0] + " not found");
    case Entity::kUnavailable:
      return c.unavailable("show " + words[0]);
  }
}

}  // namespace muster::cli
