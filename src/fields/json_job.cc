// One job of squeue --json and scontrol show job --json, `job_info` of the description: the members that the facts of a job (job_fields.h)
// have in it, and what of it is made of several values.
#include "fields/job_composites.h"
#include "fields/job_fields.h"
#include "fields/json.h"
#include "model/mail.h"

namespace muster::fields {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};
constexpr FlagName kStateFlags[] = {
    {kJobLaunchFailed, "LAUNCH_FAILED"}, {kJobRequeued, "REQUEUED"},  {kJobRequeueHold, "REQUEUE_HOLD"},
    {kJobSpecialExit, "SPECIAL_EXIT"},   {kJobResizing, "RESIZING"},  {kJobConfiguring, "CONFIGURING"},
    {kJobCompleting, "COMPLETING"},      {kJobStopped, "STOPPED"},    {kJobReconfigFail, "RECONFIG_FAIL"},
    {kJobPowerUpNode, "POWER_UP_NODE"},  {kJobRevoked, "REVOKED"},    {kJobResvDelHold, "RESV_DEL_HOLD"},
    {kJobSignaling, "SIGNALING"},        {kJobStageOut, "STAGE_OUT"}, {kJobExpediting, "EXPEDITING"},
};
constexpr FlagName kMailNames[] = {
    {kMailBegin, "BEGIN"},
    {kMailEnd, "END"},
    {kMailFail, "FAIL"},
    {kMailRequeue, "REQUEUE"},
    {kMailTimeLimit, "TIME=100%"},
    {kMailTimeLimit90, "TIME=90%"},
    {kMailTimeLimit80, "TIME=80%"},
    {kMailTimeLimit50, "TIME=50%"},
    {kMailStageOut, "STAGE_OUT"},
    {kMailArrayTasks, "ARRAY_TASKS"},
    {kMailInvalidDepend, "INVALID_DEPENDENCY"},
};

void put_names(TreeSink& sink, std::span<const FlagName> all, uint32_t flags) {
  for (const FlagName& f : all)
    if (flags & f.flag) sink.text(f.name);
}

}  // namespace

void json_job(const JobView& v, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  job_object().write(v, m);
  sink.end_object();
}

void json_step_id(const JobView& v, std::string_view key, Members& m) {
  m.begin(key).text("sluid", "").maybe("job_id", true, v.row.id.value).maybe("step_het_component", false, 0).text("step_id", "").end();
}

void json_flags(const JobView& view, std::string_view key, Members& members) {
  const ShownRequest& request = view.request;
  TreeSink& sink = members.sink();
  sink.key(key);
  sink.begin_list();
  if (request.kill_on_invalid_dependency_set)
    sink.text(request.kill_on_invalid_dependency ? "KILL_INVALID_DEPENDENCY" : "NO_KILL_INVALID_DEPENDENCY");
  if (request.spread_job) sink.text("SPREAD_JOB");
  if (request.use_min_nodes) sink.text("PREFER_MINIMUM_NODE_COUNT");
  if (request.wckey_is_default) sink.text("USING_DEFAULT_WCKEY");
  if (!view.row.dependency.empty()) sink.text("DEPENDENT");
  if (request.stepmgr) sink.text("STEPMGR_ENABLED");
  if (request.spread_segments) sink.text("SPREAD_SEGMENTS");
  if (request.consolidate_segments) sink.text("CONSOLIDATE_SEGMENTS");
  sink.end_list();
}

void json_mail_type(const JobView& v, std::string_view key, Members& m) {
  m.sink().key(key);
  m.sink().begin_list();
  put_names(m.sink(), kMailNames, v.request.mail_type);
  m.sink().end_list();
}

void json_states(const JobView& v, std::string_view key, Members& m) {
  m.sink().key(key);
  m.sink().begin_list();
  m.sink().text(job_state_name(v.row.state));
  put_names(m.sink(), kStateFlags, v.row.flags);
  m.sink().end_list();
}

void json_billable(const JobView& v, std::string_view key, Members& m) {
  const TresAmounts& held = v.row.tres->allocated;
  m.begin(key).flag("set", !held.empty()).flag("infinite", false);
  m.sink().key("number");
  m.sink().real(static_cast<double>(held.billing.value_or(0)));
  m.end();
}

void json_resources(const JobView& view, std::string_view key, Members& members) {
  const JobRow& row = view.row;
  TreeSink& sink = members.sink();
  members.begin(key).words("select_type", row.shares.empty() ? "" : "CORE,MEMORY").begin("nodes");
  bool held = row.state != JobState::kPending;
  members.number("count", held ? row.nodes : 0).words("select_type", held ? "AVAILABLE" : "").text("list", row.node_list);
  members.flag("whole", view.request.exclusive == Exclusive::kNode);
  sink.key("allocation");
  sink.begin_list();
  int64_t index = 0;
  for (const NodeShareRow& share : row.shares) {
    sink.begin_object();
    members.number("index", index++).text("name", share.node);
    members.begin("cpus").number("count", share.cpus).number("used", share.cpus).end();
    members.begin("memory")
        .number("used", static_cast<int64_t>(share.mem_mb))
        .number("allocated", static_cast<int64_t>(share.mem_mb))
        .end();
    sink.key("sockets");
    sink.begin_list();  // only the node's CPU numbers are known, not its cores by socket
    sink.end_list();
    sink.end_object();
  }
  sink.end_list();
  members.end().number("cpus", held ? row.cpus : 0);
  members.maybe("threads_per_core", view.request.threads_per_core, view.request.threads_per_core).end();
}

void json_gres_detail(const JobView& v, std::string_view key, Members& m) {
  m.sink().key(key);
  m.sink().begin_list();
  for (const NodeShareRow& share : v.row.shares)
    if (!share.gres.empty()) m.sink().text(share.gres);
  m.sink().end_list();
}

void json_power(const JobView&, std::string_view key, Members& m) { m.begin(key).list("flags", {}).end(); }

void json_no_priorities(const JobView&, std::string_view key, Members& m) { m.list(key, {}); }

}  // namespace muster::fields
