// One step of squeue --steps --json and scontrol show step --json, in the shape of the description's `step`. Only steps that are not over
// are shown, so members known at a step's end (exit code, usage, who killed it) are empty.
#include <algorithm>

#include "fields/json.h"
#include "fields/json_parts.h"
#include "fields/step_values.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

void no_tres(Members& m, std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) json_tres_list(m, key, TresAmounts());
}

void times(Members& m, const StepView& v) {
  const StepRow& r = v.row;
  int64_t elapsed = r.start == kTimeUnset ? 0 : std::max<int64_t>(0, to_seconds(v.env.now - r.start));
  m.begin("time").number("elapsed", elapsed).time("end", kTimeUnset).time("start", r.start).number("suspended", 0);
  json_cpu_time(m, "system", {});
  m.limit("limit", r.time_limit_min);
  json_cpu_time(m, "total", {});
  json_cpu_time(m, "user", {});
  m.end();
  m.begin("exit_code").words("status", "PENDING").maybe("return_code", false, 0);
  m.begin("signal").maybe("id", false, 0).text("name", "").end().end();
}

void place(Members& m, const StepRow& r) {
  m.begin("nodes").number("count", r.nodes).text("range", r.node_list);
  m.sink().key("list");
  m.sink().begin_list();
  if (Result<std::vector<std::string>> hosts = expand_hosts(r.node_list))
    for (const std::string& host : *hosts) m.sink().text(host);
  m.sink().end_list();
  m.end().begin("tasks").number("count", r.tasks).end();
  m.text("pid", r.srun_pid ? r.srun_host + ":" + std::to_string(r.srun_pid) : "");
  m.begin("CPU").begin("requested_frequency").maybe("min", false, 0).maybe("max", false, 0).end();
  m.text("governor", "").end();
}

void tres(Members& m, const StepRow& r) {
  m.begin("tres");
  for (std::string_view what : {"requested", "consumed"}) {
    m.begin(what);
    no_tres(m, {"max", "min", "average"});
    json_tres_list(m, "total", what == "requested" ? r.tres : TresAmounts());
    m.end();
  }
  json_tres_list(m, "allocated", r.tres);
  m.end();
}

}  // namespace

void json_step(const StepView& v, TreeSink& sink) {
  const StepRow& r = v.row;
  Members m(sink);
  sink.begin_object();
  times(m, v);
  place(m, r);
  m.text("kill_request_user", "").words("state", step_state_name(r.state));
  m.begin("statistics").begin("CPU").number("actual_frequency", 0).end();
  m.begin("energy").maybe("consumed", false, 0).end().end();
  std::string id;
  put_step_id(id, r);
  m.begin("step").text("id", id).text("name", r.name);
  m.text("stderr", r.std_err).text("stdin", r.std_in).text("stdout", r.std_out);
  for (std::string_view key : {"stderr_expanded", "stdin_expanded", "stdout_expanded"}) m.text(key, "");
  m.end().begin("task").text("distribution", r.distribution).end();
  tres(m, r);
  sink.end_object();
}

}  // namespace muster::fields
