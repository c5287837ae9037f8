#include "config/power_action.h"

#include "base/text.h"
#include "config/record.h"
#include "config/slurm_build.h"

namespace muster::config {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::string_view word : split(text, ' ')) out.emplace_back(word);
  return out;
}

// What is wrong with a line; "": nothing.
std::string fault_of(const Record& record, const PowerActionConfig& action, const Config& config) {
  if (action.name.empty() || action.program.empty()) return "needs a name and a Program=";
  if (!record.has("Location")) return "needs Location=slurmctld or Location=slurmd";
  if (action.program[0] != '/') return "needs a Program= that begins with an absolute path, not \"" + action.program + "\"";
  if (find_power_action(config, action.name)) return "\"" + action.name + "\" is there already";
  return {};
}

// A program that nothing can start is told of at the start, not at the first node that stays down.
void check_program(const Config& config, std::string_view key, const std::string& program, bool powers_up, Findings& findings) {
  if (program.empty()) return;
  const ConfigValue* given = config.find_value(key);
  const SourcePos where = given ? given->pos : SourcePos{};
  if (const PowerActionConfig* action = find_power_action(config, program)) {
    if (powers_up && action->on_slurmd)
      findings.error(where, std::string(key),
                     "PowerAction " + action->name + " has Location=slurmd, and no slurmd runs on a node that is powered down",
                     "name a PowerAction with Location=slurmctld");
    return;
  }
  if (program[0] == '/') return;
  const std::set<std::string> names = power_action_names(config);
  findings.odd(where, std::string(key), "\"" + program + "\" is neither an absolute path nor the name of a PowerAction",
               "it is run as it is",
               names.empty() ? std::string() : "there are: " + join(std::vector<std::string>(names.begin(), names.end()), ", "));
}

}  // namespace

void build_power_actions(const std::vector<const Line*>& lines, Config& config, Findings& findings) {
  for (const Line* line : lines) {
    Record record(ConfFile::kSlurm, Section::kPowerAction);
    record.add(*line, findings);
    PowerActionConfig action;
    action.where = record.where();
    action.name = record.text("PowerAction");
    action.program = trim(record.text("Program"));
    action.on_slurmd = iequals(record.text("Location"), "slurmd");
    if (std::string fault = fault_of(record, action, config); !fault.empty())
      findings.odd(record.where(), "PowerAction", std::move(fault), "the line is left out");
    else config.power_actions.push_back(std::move(action));
  }
  check_program(config, "RebootProgram", config.reboot_program, false, findings);
  check_program(config, "SuspendProgram", config.suspend_program, false, findings);
  check_program(config, "ResumeProgram", config.resume_program, true, findings);
  check_program(config, "ResumeFailProgram", config.resume_fail_program, true, findings);
}

const PowerActionConfig* find_power_action(const Config& config, std::string_view name) {
  for (const PowerActionConfig& action : config.power_actions)
    if (iequals(action.name, name)) return &action;
  return nullptr;
}

std::set<std::string> power_action_names(const Config& config) {
  std::set<std::string> names;
  for (const PowerActionConfig& action : config.power_actions) names.insert(action.name);
  return names;
}

PowerCommand power_command(const Config& config, std::string_view program, std::string_view action) {
  PowerCommand out;
  out.action = find_power_action(config, action.empty() ? program : action);
  if (out.action) out.argv = words_of(out.action->program);
  else if (action.empty() && !program.empty()) out.argv = {std::string(program)};
  return out;
}

bool reboots_from_controller(const Config& config, std::string_view action) {
  const PowerCommand command = power_command(config, config.reboot_program, action);
  return command.action ? !command.action->on_slurmd : config.slurmctld_parameters.has("reboot_from_controller");
}

}  // namespace muster::config
