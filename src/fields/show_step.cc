#include "fields/show_step.h"

#include "fields/step_values.h"

namespace muster::fields {

void show_step(const StepView& v, const ShowOptions& options, std::string& out) {
  const StepRow& s = v.row;
  Record r(out, options.oneliner);
  put_step_id(r.key("StepId"), s);
  r.pair("UserId", s.uid.value);
  put_time(r.key("StartTime"), s.start, v.env, "Unknown");
  r.key("TimeLimit");
  if (s.time_limit_min == kUnlimited32) out += "UNLIMITED";
  else put_span_full(out, minutes(s.time_limit_min));
  r.line();
  r.pair("State", step_state_name(s.state)).pair("Partition", s.partition).pair("NodeList", s.node_list);
  r.line();
  r.pair("Nodes", s.nodes).pair("CPUs", s.cpus).pair("Tasks", s.tasks).pair("Name", s.name).or_null("Network", s.network);
  r.line();
  r.or_null("TRES", tres_text(s.tres));
  r.line();
  r.or_null("ResvPorts", s.resv_ports);
  r.line();
  r.pair("CPUFreqReq", s.cpu_freq.empty() ? std::string_view("Default") : std::string_view(s.cpu_freq));
  if (!s.distribution.empty()) r.pair("Dist", s.distribution);
  r.line();
  r.or_null("SrunHost:Pid", s.srun_host);
  out += ':';
  put_number(out, s.srun_pid);
  if (!s.gres.empty()) {
    r.line();
    r.pair("TresPerNode", s.gres);
  }
  if (options.details && !s.submit_line.empty()) {
    r.line();
    r.pair("SubmitLine", s.submit_line);
  }
  r.end();
}

}  // namespace muster::fields
