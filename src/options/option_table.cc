#include "options/option_table.h"

#include <algorithm>

#include "options/job_options.h"
#include "options/parser_detail.h"

namespace muster {

std::string_view command_name(Command c) {
  constexpr std::string_view kNames[] = {"sbatch",   "srun",     "salloc",  "squeue",   "sinfo",  "scancel", "scontrol",
                                         "sattach",  "sbcast",   "sacct",   "sacctmgr", "swait",  "sshare",  "sprio",
                                         "scrontab", "strigger", "sreport", "sstat",    "sh5util"};
  return kNames[static_cast<size_t>(c)];
}

std::string_view section_title(Section section) {
  constexpr std::string_view kTitles[] = {"The job",
                                          "Time",
                                          "Resources",
                                          "Where it runs",
                                          "Sockets, cores, threads and tasks",
                                          "GPUs",
                                          "Binding",
                                          "Files and environment",
                                          "Mail",
                                          "Accounting",
                                          "Submission",
                                          "Steps and tasks",
                                          "Sharing",
                                          "What to show",
                                          "How to show it",
                                          "What to send",
                                          "Copying files",
                                          "Site and cluster",
                                          "Plugins",
                                          "Accepted for compatibility",
                                          "Help and messages"};
  return kTitles[static_cast<size_t>(section)];
}

const char* EnvNames::of(Command c) const {
  switch (c) {
    case Command::kSbatch: return sbatch;
    case Command::kSrun: return srun;
    case Command::kSalloc: return salloc;
    default: return other;
  }
}

std::string render(const Message& message, std::string_view program) {
  std::string prefix = std::string(program) + ": ";
  switch (message.level) {
    case Message::Level::kPlain: break;
    case Message::Level::kBare: return message.text;  // getopt's second line
    case Message::Level::kWarning: prefix += "Warning: "; break;
    case Message::Level::kError: prefix += "error: "; break;
    case Message::Level::kFatal: prefix += "fatal: "; break;
    case Message::Level::kHint: prefix += "hint: "; break;
  }
  std::string out;
  size_t at = 0;
  while (true) {
    size_t end = message.text.find('\n', at);
    out += prefix + message.text.substr(at, end == std::string::npos ? end : end - at);
    if (end == std::string::npos) return out;
    out += '\n';
    at = end + 1;
  }
}

namespace options_detail {

namespace {

// Options of Pyxis and similar plugins begin with these.
constexpr std::string_view kContainerPrefixes[] = {"container-", "no-container-"};

bool loads_plugins(Command c) { return c == Command::kSbatch || c == Command::kSrun || c == Command::kSalloc; }

// Whether the name looks like a container option while no loaded plugin has any. Its resemblance to some other option is then no help.
bool is_of_missing_plugin(std::string_view name, std::span<const OptionInfo* const> table) {
  return std::ranges::any_of(kContainerPrefixes, [&](std::string_view prefix) {
    auto brought = [&](const OptionInfo* o) { return o->section == Section::kPlugins && std::string_view(o->name).starts_with(prefix); };
    return name.starts_with(prefix) && std::ranges::none_of(table, brought);
  });
}

}  // namespace

std::string unknown_option_hint(const std::string& text, Command command, std::span<const OptionInfo* const> table) {
  const size_t start = text.find("unrecognized option '--");
  if (start == text.npos) return {};
  std::string name = text.substr(start + 23);
  name.resize(std::min(name.size(), name.find_first_of("='")));
  std::ranges::replace(name, '_', '-');
  if (loads_plugins(command) && is_of_missing_plugin(name, table))
    return "--" + name + " comes from a SPANK plugin such as Pyxis, and plugstack.conf loads none that brings it";
  std::vector<std::string_view> names;
  for (const OptionInfo* info : table)
    if (info->name && !info->hidden) names.push_back(info->name);
  std::string_view near = did_you_mean(name, names);
  return near.empty() ? std::string() : "did you mean --" + std::string(near) + "?";
}

void add_getopt_error(std::vector<Message>& messages, const std::string& text, Command command, std::span<const OptionInfo* const> table) {
  messages.push_back({Message::Level::kPlain, text});
  messages.push_back({Message::Level::kBare, "Try \"" + std::string(command_name(command)) + " --help\" for more information"});
  if (std::string hint = unknown_option_hint(text, command, table); !hint.empty())
    messages.push_back({Message::Level::kHint, std::move(hint)});
}

void add_error(std::vector<Message>& messages, const Error& error, Message::Level level, Command command) {
  bool by_controller = error.code == Errc::kInvalidArray || error.code == Errc::kDependency || error.code == Errc::kLicenses;
  if (error.text.empty() && by_controller) {
    // Slurm's controller reads these grammars, so errors in them keep the message of a refused submission.
    const char* prefix = command == Command::kSbatch   ? "Batch job submission failed: "
                         : command == Command::kSalloc ? "Job submit/allocate failed: "
                                                       : "Unable to allocate resources: ";
    messages.push_back({Message::Level::kError, prefix + std::string(errc_text(error.code))});
  } else if (error.text.empty()) {
    messages.push_back({Message::Level::kError, std::string(errc_text(error.code))});
  } else {
    messages.push_back({level, error.text});
  }
  if (!error.hint.empty()) messages.push_back({Message::Level::kHint, error.hint});
}

bool status_allows(const OptionInfo& info, std::vector<Message>& messages) {
  if (info.status == Status::kWorks || info.status == Status::kNoEffect) return true;
  messages.push_back({Message::Level::kError, "--" + std::string(info.name) + " is not supported: " + info.note});
  return false;
}

void warn_no_effect(const Given& given, std::vector<Message>& messages) {
  const OptionInfo& info = *given.info;
  // Only typed options are warned about: variables may have been set for another cluster or by a parent job. "none" asks for nothing.
  if (info.status != Status::kNoEffect || given.source == Source::kEnvironment || iequals(given.value, "none")) return;
  Message warning{Message::Level::kWarning, "--" + std::string(info.name) + " has no effect: " + info.note};
  for (const Message& m : messages)
    if (m == warning) return;
  messages.push_back(std::move(warning));
}

void note_seen(std::vector<Seen>& seen, const OptionInfo& info, Source source, const char* env_name, std::string_view value) {
  for (Seen& s : seen) {
    if (s.info != &info) continue;
    s.source = source;
    s.value = value;
    return;
  }
  seen.push_back({&info, source, env_name, std::string(value)});
}

EnvValue find_env(const char* names, const EnvLookup& env) {
  std::string_view rest = names;
  while (!rest.empty()) {
    size_t bar = rest.find('|');
    EnvValue out{std::string(rest.substr(0, bar)), nullptr};
    out.value = env(out.name.c_str());
    if (out.value) return out;
    if (bar == rest.npos) break;
    rest = rest.substr(bar + 1);
  }
  return {};
}

}  // namespace options_detail

const Seen* JobOptions::find(std::string_view name) const {
  for (const Seen& s : seen)
    if (s.info->name && s.info->name == name) return &s;
  return nullptr;
}

Source JobOptions::source_of(std::string_view name) const {
  const Seen* s = find(name);
  return s ? s->source : Source::kDefault;
}

std::vector<const JobOptionRow*> job_rows(Command c) {
  std::vector<const JobOptionRow*> out;
  out.reserve(160);
  for (auto table : {job_identity_rows(), job_time_rows(), job_resource_rows(), job_placement_rows(), job_layout_rows(), job_gpu_rows(),
                     job_binding_rows(), job_output_rows(), job_batch_rows(), step_launch_rows(), job_general_rows(),
                     job_unavailable_rows(), job_environment_rows()})
    for (const JobOptionRow& row : table)
      if (row.info.commands.has(c)) out.push_back(&row);
  return out;
}

}  // namespace muster
