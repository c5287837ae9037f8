#include "cli/common/job_ids.h"

#include "base/text.h"
#include "model/array_spec.h"

namespace muster::cli {
namespace {

struct NamedStep {
  std::string_view name;
  StepId id;
};
constexpr NamedStep kNamedSteps[] = {{"batch", kBatchStep}, {"extern", kExternStep}, {"interactive", kInteractiveStep}};

std::unexpected<Error> invalid(std::string_view text) {
  return fail(Errc::kInvalidJobId, "Invalid job id " + std::string(text),
              "jobs are named like 123, 123_4 (a task), 123_[4-7] (tasks), 123+1 (a component) or 123.0 (a step)");
}

// Reads the text between '_' and '.'.
bool read_tasks(std::string_view tasks, rpc::JobSelector& out) {
  if (tasks == "*") return true;
  if (!tasks.starts_with('[')) {
    std::optional<uint32_t> task = parse_number<uint32_t>(tasks, 0, kMaxArrayTaskId);
    if (task) out.array_task = *task;
    return task.has_value();
  }
  if (!tasks.ends_with(']')) return false;
  tasks = tasks.substr(1, tasks.size() - 2);
  if (tasks.find('%') != std::string_view::npos) tasks = tasks.substr(0, tasks.find('%'));
  if (!parse_array_spec(tasks, kMaxArrayTaskId)) return false;
  out.array_tasks = std::string(tasks);
  return true;
}

}  // namespace

Result<StepId> parse_step_id(std::string_view text) {
  for (const NamedStep& s : kNamedSteps)
    if (iequals(text, s.name)) return s.id;
  std::optional<uint32_t> n = parse_number<uint32_t>(text, 0, 0xfffffff0u);
  if (!n) return fail(Errc::kInvalidJobId, "Invalid step id " + std::string(text));
  return StepId{*n};
}

std::string step_id_text(StepId id) {
  for (const NamedStep& s : kNamedSteps)
    if (id == s.id) return std::string(s.name);
  return std::to_string(id.value);
}

Result<rpc::JobSelector> parse_job_selector(std::string_view text) {
  rpc::JobSelector out;
  std::string_view rest = text;
  if (size_t dot = rest.rfind('.'); dot != std::string_view::npos && rest.find(']', dot) == std::string_view::npos) {
    Result<StepId> step = parse_step_id(rest.substr(dot + 1));
    if (!step) return invalid(text);
    out.has_step = true;
    out.step = *step;
    rest = rest.substr(0, dot);
  }
  if (size_t plus = rest.find('+'); plus != std::string_view::npos) {
    std::optional<uint32_t> offset = parse_number<uint32_t>(rest.substr(plus + 1), 0, kMostComponents - 1);
    if (!offset || rest.find('_') != std::string_view::npos) return invalid(text);
    out.het_offset = *offset;
    rest = rest.substr(0, plus);
  }
  if (size_t bar = rest.find('_'); bar != std::string_view::npos) {
    if (!read_tasks(rest.substr(bar + 1), out)) return invalid(text);
    rest = rest.substr(0, bar);
  }
  if (std::optional<Sluid> sluid = parse_sluid(rest); sluid && text.find_first_of("_+") == text.npos) {
    out.sluid = *sluid;
    out.job = job_of(*sluid);
    return out;
  }
  std::optional<uint32_t> id = parse_number<uint32_t>(rest, 1, 0x7fffffffu);
  if (!id) return invalid(text);
  out.job = JobId{*id};
  return out;
}

std::string selector_text(const rpc::JobSelector& s) {
  std::string out = s.sluid ? sluid_text(s.sluid) : std::to_string(s.job.value);
  if (!s.array_tasks.empty()) out += "_[" + s.array_tasks + "]";
  else if (s.array_task != kNoArrayTask) out += "_" + std::to_string(s.array_task);
  else if (s.het_offset) out += "+" + std::to_string(*s.het_offset);
  if (s.has_step) out += "." + step_id_text(s.step);
  return out;
}

const std::string* add_job_states(const std::vector<std::string>& names, uint32_t& states, uint32_t& flags) {
  for (const std::string& name : names) {
    if (iequals(name, "all")) {
      states = flags = 0;
      return nullptr;
    }
    std::optional<JobStateFilter> bits = parse_job_state(name);
    if (!bits) return &name;
    states |= bits->states;
    flags |= bits->flags;
  }
  return nullptr;
}

}  // namespace muster::cli
