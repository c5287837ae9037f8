// One step of squeue --steps --json and scontrol show step --json, in the shape of the description's `step`: the facts of step_fields.cc.
#include "fields/json.h"
#include "fields/json_parts.h"
#include "fields/step_composites.h"
#include "fields/step_fields.h"
#include "hostlist/hostlist.h"

namespace muster::fields {

void json_step(const StepView& view, TreeSink& sink) {
  Members members(sink);
  sink.begin_object();
  step_object().write(view, members);
  sink.end_object();
}

void json_step_hosts(const StepView& view, std::string_view key, Members& members) {
  TreeSink& sink = members.sink();
  sink.key(key);
  sink.begin_list();
  if (Result<std::vector<std::string>> hosts = expand_hosts(view.row.node_list))
    for (const std::string& host : *hosts) sink.text(host);
  sink.end_list();
}

void json_step_tres(const StepView& view, std::string_view key, Members& members) {
  const TresAmounts none;
  members.begin(key);
  for (const bool requested : {true, false}) {
    members.begin(requested ? "requested" : "consumed");
    for (std::string_view measured : {"max", "min", "average"}) json_tres_list(members, measured, none);
    json_tres_list(members, "total", requested ? view.row.tres : none);
    members.end();
  }
  json_tres_list(members, "allocated", view.row.tres);
  members.end();
}

void json_no_cpu_time(const StepView&, std::string_view key, Members& members) { json_cpu_time(members, key, {}); }

void json_no_exit_code(const StepView&, std::string_view key, Members& members) {
  members.begin(key).words("status", "PENDING").maybe("return_code", false, 0);
  members.begin("signal").maybe("id", false, 0).text("name", "").end().end();
}

void json_no_frequencies(const StepView&, std::string_view key, Members& members) {
  members.begin(key).begin("requested_frequency").maybe("min", false, 0).maybe("max", false, 0).end();
  members.text("governor", "").end();
}

void json_no_statistics(const StepView&, std::string_view key, Members& members) {
  members.begin(key).begin("CPU").number("actual_frequency", 0).end();
  members.begin("energy").maybe("consumed", false, 0).end().end();
}

}  // namespace muster::fields
