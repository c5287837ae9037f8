// One step of squeue --steps --json and scontrol show step --json, in the shape of the description's `step`. Only steps
// that are not over are shown, so what is known at a step's end (exit code, usage, who killed it) has its empty value.
#include <algorithm>

#include "base/tres_mem.h"
#include "fields/json.h"
#include "fields/json_values.h"
#include "fields/step_values.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

constexpr std::pair<std::string_view, int> kTresIds[] = {{"cpu", 1}, {"mem", 2}, {"energy", 3}, {"node", 4}, {"billing", 5}};

void span(Members& m, std::string_view key, int64_t seconds) {
  m.begin(key).number("seconds", seconds).number("microseconds", 0).end();
}

// "cpu=2,mem=500M,node=1,gres/gpu=2"; memory in MB. 0 as id: the database has given none.
void tres_list(Members& m, std::string_view key, std::string_view tres) {
  TreeSink& s = m.sink();
  s.key(key);
  s.begin_list();
  for (std::string_view item : split(tres, ',')) {
    size_t eq = item.find('='), slash = item.find('/');
    std::string_view type = item.substr(0, std::min(eq, slash)), value = item.substr(eq + 1);
    int id = 0;
    for (const auto& [name, number] : kTresIds)
      if (name == type) id = number;
    uint64_t count = type == "mem" ? parse_tres_mem_mb(value) : parse_count(value).value_or(0);
    s.begin_object();
    m.text("type", type).text("name", slash < eq ? item.substr(slash + 1, eq - slash - 1) : std::string_view());
    m.number("id", id).number("count", static_cast<int64_t>(count));
    s.end_object();
  }
  s.end_list();
}

void no_tres(Members& m, std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) tres_list(m, key, {});
}

void times(Members& m, const StepView& v) {
  const StepRow& r = v.row;
  int64_t elapsed = r.start == kTimeUnset ? 0 : std::max<int64_t>(0, to_seconds(v.env.now - r.start));
  m.begin("time").number("elapsed", elapsed).time("end", kTimeUnset).time("start", r.start).number("suspended", 0);
  span(m, "system", 0);
  m.limit("limit", r.time_limit_min);
  span(m, "total", 0);
  span(m, "user", 0);
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
    tres_list(m, "total", what == "requested" ? std::string_view(r.tres) : std::string_view());
    m.end();
  }
  tres_list(m, "allocated", r.tres);
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
