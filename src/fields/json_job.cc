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
  for (const ObjectMember* member : job_object()) member->write(v, member->key, m);
  sink.end_object();
}

void json_step_id(const JobView& v, std::string_view key, Members& m) {
  m.begin(key).text("sluid", "").maybe("job_id", true, v.row.id.value).maybe("step_het_component", false, 0).text("step_id", "").end();
}

void json_flags(const JobView& v, std::string_view key, Members& m) {
  const ShownRequest& q = v.request;
  TreeSink& s = m.sink();
  s.key(key);
  s.begin_list();
  if (q.kill_on_invalid_dependency_set) s.text(q.kill_on_invalid_dependency ? "KILL_INVALID_DEPENDENCY" : "NO_KILL_INVALID_DEPENDENCY");
  if (q.spread_job) s.text("SPREAD_JOB");
  if (q.use_min_nodes) s.text("PREFER_MINIMUM_NODE_COUNT");
  if (!v.row.dependency.empty()) s.text("DEPENDENT");
  if (q.stepmgr) s.text("STEPMGR_ENABLED");
  if (q.spread_segments) s.text("SPREAD_SEGMENTS");
  if (q.consolidate_segments) s.text("CONSOLIDATE_SEGMENTS");
  s.end_list();
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

void json_resources(const JobView& v, std::string_view key, Members& m) {
  const JobRow& r = v.row;
  TreeSink& s = m.sink();
  m.begin(key).words("select_type", r.shares.empty() ? "" : "CORE,MEMORY").begin("nodes");
  bool held = r.state != JobState::kPending;
  m.number("count", held ? r.nodes : 0).words("select_type", held ? "AVAILABLE" : "").text("list", r.node_list);
  m.flag("whole", v.request.exclusive == Exclusive::kNode);
  s.key("allocation");
  s.begin_list();
  int64_t index = 0;
  for (const NodeShareRow& share : r.shares) {
    s.begin_object();
    m.number("index", index++).text("name", share.node);
    m.begin("cpus").number("count", share.cpus).number("used", share.cpus).end();
    m.begin("memory").number("used", static_cast<int64_t>(share.mem_mb)).number("allocated", static_cast<int64_t>(share.mem_mb)).end();
    s.key("sockets");
    s.begin_list();  // only the node's CPU numbers are known, not its cores by socket
    s.end_list();
    s.end_object();
  }
  s.end_list();
  m.end().number("cpus", held ? r.cpus : 0);
  m.maybe("threads_per_core", v.request.threads_per_core, v.request.threads_per_core).end();
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
