// scontrol show: finds the entity that is meant, and prints the entities that are one text rather than a list of rows. scontrol(1) "show".
#include "base/text.h"
#include "cli/common/document.h"
#include "cli/common/print_environment.h"
#include "cli/scontrol/context.h"
#include "cli/scontrol/keywords.h"
#include "hostlist/hostlist.h"

namespace muster::cli {
namespace {

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

// Prints the NodeNames of one host.
void show_aliases(Context& context, Words words) {
  Session* session = context.query_session();
  if (!session) return;
  std::string host = words.empty() ? short_hostname() : words[0], names;
  rpc::QueryNodes query;
  query.show_all = true;
  Result<rpc::Empty> done = session->stream(query, [&](rpc::NodeRows&& part) -> Result<> {
    for (const NodeRow& n : part.nodes)
      if ((n.hostname.empty() ? n.name : n.hostname) == host) names += (names.empty() ? "" : " ") + n.name;
    return {};
  });
  if (!done) return context.complain("slurm_load_node error: ", done.error());
  if (!names.empty()) Out().line(names);
}

struct EntityAction {
  Entity entity;
  void (*show)(Context&, Words);
  uint16_t max_words = 1;
  bool as_data = false;  // --json and --yaml
};
constexpr EntityAction kActions[] = {
    {Entity::kAliases, show_aliases},
    {Entity::kAssocMgr, show_assoc_mgr, kAnyWords},
    {Entity::kBurstBuffer, [](Context&, Words) {}},  // no plugin: Slurm prints nothing
    {Entity::kBurstBufferStatus,
     [](Context& c, Words) { c.refuse("show bbstat, dwstat", "there is no burst buffer plugin whose tool could be asked"); }, kAnyWords},
    {Entity::kConfig, [](Context& c, Words) { show_config(c); }},
    {Entity::kDaemons, [](Context& c, Words) { show_daemons(c); }},
    {Entity::kFederation, [](Context&, Words) {}},  // there is none: Slurm prints nothing
    {Entity::kHostlist, [](Context& c, Words w) { show_hostlist(c, w, false); }},
    {Entity::kHostlistSorted, [](Context& c, Words w) { show_hostlist(c, w, true); }},
    {Entity::kHostnames, show_hostnames},
    {Entity::kJob, show_jobs, 1, true},
    {Entity::kLicense, show_licenses, 1, true},
    {Entity::kNode, show_nodes, 1, true},
    {Entity::kPartition, show_partitions, 1, true},
    {Entity::kReservation, show_reservations, 1, true},
    {Entity::kSlurmd, show_slurmd},
    {Entity::kStep, show_steps, 1, true},
    {Entity::kTopoconf, [](Context& c, Words) { show_topoconf(c); }, 0},
    {Entity::kTopology, show_topology, kAnyWords},
};

}  // namespace

// Prints a line for each job that is ending: "JobId=12 EndTime=… CompletingTime=00:12 Nodes(COMPLETING)=n1,n2".
void show_completing(Context& context) {
  Session* session = context.query_session();
  if (!session) return;
  std::vector<NodeRow> nodes;
  Result<rpc::Empty> done = session->stream(rpc::QueryNodes{"", {}, true}, [&](rpc::NodeRows&& part) -> Result<> {
    for (NodeRow& n : part.nodes)
      if ((n.flags & kNodeCompleting) || n.state == NodeState::kDown) nodes.push_back(std::move(n));
    return {};
  });
  rpc::QueryJobs query;
  query.filter.state_flags = kJobCompleting;
  query.parts = kRowNodes;
  query.show_all = true;
  Names names;
  fields::Environment env = print_environment(session->conf(), context.options, names);
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
  if (!done) context.complain("slurm_load_jobs error: ", done.error());
}

// Takes "show job 5" and "show job=5".
void show(Context& context, Words words) {
  size_t equals = words[0].find('=');
  std::string name = words[0].substr(0, equals);
  Entity entity{};
  if (!find_entity(name, entity)) return context.complain("invalid entity:" + words[0] + " for keyword:show");
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (equals != std::string::npos) rest.insert(rest.begin(), words[0].substr(equals + 1));
  for (const EntityAction& action : kActions) {
    if (action.entity != entity) continue;
    if (rest.size() > action.max_words) return context.complain("too many arguments for keyword:show");
    if (context.options.data.kind != DataOutput::Kind::kText) {
      if (auto code = data_parser_asked(context.options.data, context.log)) {
        context.exit_code = *code;
        return;
      }
      if (!action.as_data) return context.refuse("--json and --yaml with show " + name, "the data_parser v0.0.44 has no description of it");
      context.options.details = true;
    }
    return action.show(context, rest);
  }
}

}  // namespace muster::cli
