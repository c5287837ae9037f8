// A job of sacct --json with its steps, in the shape of the description's slurmdb `job`: the facts of record_fields.cc, and what of them is
// made of several values.
#include "base/text.h"
#include "fields/json.h"
#include "fields/json_parts.h"
#include "fields/record_composites.h"
#include "fields/record_fields.h"
#include "fields/record_values.h"
#include "hostlist/hostlist.h"

namespace muster::fields {

void json_record(const RecordView& v, std::span<const StepRecord> steps, TreeSink& sink) {
  RecordView job = v;
  job.listed = steps;
  Members members(sink);
  sink.begin_object();
  job_record_object().write(job, members);
  sink.end_object();
}

void json_record_steps(const RecordView& view, std::string_view key, Members& members) {
  TreeSink& sink = members.sink();
  sink.key(key);
  sink.begin_list();
  for (const StepRecord& step : view.listed) {
    sink.begin_object();
    step_record_object().write(RecordView{view.job, &step, view.env, view.style}, members);
    sink.end_object();
  }
  sink.end_list();
}

void json_record_hosts(const RecordView& view, std::string_view key, Members& members) {
  Result<std::vector<std::string>> hosts = expand_hosts(view.step->node_list);
  members.list(key, hosts ? std::span<const std::string>(*hosts) : std::span<const std::string>());
}

void json_record_frequency(const RecordView& view, std::string_view key, Members& members) {
  auto part = [&](FrequencyPart which) {
    std::string out;
    put_frequency(view.step->cpu_freq, which, out);
    return out == "Unknown" ? std::string() : out;
  };
  members.begin(key).begin("requested_frequency");
  for (auto [name, which] : {std::pair("min", FrequencyPart::kMin), std::pair("max", FrequencyPart::kMax)}) {
    std::optional<uint32_t> khz = parse_number<uint32_t>(part(which));
    members.maybe(name, khz.has_value(), khz.value_or(0));
  }
  members.end().text("governor", part(FrequencyPart::kGovernor)).end();
}

void json_record_statistics(const RecordView& view, std::string_view key, Members& members) {
  members.begin(key).begin("CPU").number("actual_frequency", static_cast<int64_t>(average_clock(view.step->usage.get()))).end();
  const bool known = view.step->usage && view.step->usage->energy.parts;
  members.begin("energy").maybe("consumed", known, record_energy(view)).end().end();
}

void json_record_use(const RecordView& view, std::string_view key, Members& members) {
  const StepRecord& step = *view.step;
  members.begin(key);
  for (auto [what, direction] : {std::pair("requested", UsageDirection::kIn), std::pair("consumed", UsageDirection::kOut)}) {
    members.begin(what);
    for (auto [name, kind] : {std::pair("max", UsageKind::kMax), std::pair("min", UsageKind::kMin),
                              std::pair("average", UsageKind::kAverage), std::pair("total", UsageKind::kTotal)}) {
      members.sink().key(name);
      members.sink().begin_list();
      if (step.usage)
        each_tres_used(*step.usage, direction, kind,
                       [&](std::string_view type, std::string_view unit, uint64_t count) { json_tres(members, type, unit, count); });
      members.sink().end_list();
    }
    members.end();
  }
  json_tres_list(members, "allocated", step.tres_allocated);
  members.end();
}

}  // namespace muster::fields
