#include "cli/common/spank.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include "cli/common/command.h"
#include "options/job_options.h"
#include "plugin/spank/option_text.h"
#include "plugin/spank/plugstack.h"
#include "site/conf_files.h"

namespace muster::cli {
namespace {

std::string plugstack_path(const ClientConf& conf) {
  const std::string& named = conf.plug_stack_config;
  if (named.empty()) return conf.directory() + "/plugstack.conf";
  return named.starts_with('/') ? named : conf.directory() + "/" + named;
}

Arg argument_of(const spank::Option& o) { return o.has_arg == 0 ? Arg::kNone : o.has_arg == 1 ? Arg::kRequired : Arg::kOptional; }

bool is_built_in(Command command, const std::string& name) {
  return std::ranges::any_of(job_rows(command), [&](const JobOptionRow* row) { return row->info.name && row->info.name == name; });
}

Result<> told_as_spank(Result<> ok) {
  if (ok) return ok;
  return fail(ok.error().code, "spank: " + std::string(ok.error().message()));
}

}  // namespace

Result<SpankHost> SpankHost::load(Command command, const ClientConf& conf, const os::CliLog& log) {
  SpankHost out;
  out.command_ = command;
  std::string path = plugstack_path(conf);
  if (!spank::has_plugstack(path)) return out;
  std::string directories = conf.plugin_dir.empty() ? spank::default_plugin_dir(site::executable_directory()) : conf.plugin_dir;
  MUSTER_TRY(read, spank::read_plugstack(path, directories));
  for (const std::string& n : read.notes) log.write(os::LogLevel::kError, n);
  if (read.plugins.empty()) return out;
  spank::Stack::Ports ports;
  ports.log = [&log](os::LogLevel level, const std::string& text) { log.write(level, text); };
  ports.say = put_error;
  MUSTER_TRY(stack, spank::Stack::load(read.plugins, command == Command::kSrun ? S_CTX_LOCAL : S_CTX_ALLOCATOR, std::move(ports)));
  out.stack_ = std::move(stack);
  out.stack_->facts.uid = ::getuid();
  out.stack_->facts.gid = ::getgid();
  MUSTER_TRY_VOID(told_as_spank(out.stack_->call(spank::Callback::kInit)));
  for (const spank::Option& o : out.stack_->options()) {
    if (is_built_in(command, o.name))
      log.error("spank: {}: option --{} is one of {} itself: the plugin never gets it", o.plugin->file(), o.name, command_name(command));
    out.options_.push_back({o.name, argument_of(o), o.arg_info, o.usage, o.plugin->name()});
  }
  return out;
}

SpankHost::~SpankHost() {
  if (!stack_) return;
  if (auto ok = stack_->call(spank::Callback::kExit); !ok) stack_->log(os::LogLevel::kError, "spank: " + std::string(ok.error().message()));
}

Result<> SpankHost::give_options(const JobParse& parse) {
  if (!stack_) return {};
  stack_->facts.argv = parse.operands;
  for (const spank::Option& o : stack_->options())
    if (const char* value = ::getenv(o.key.c_str())) MUSTER_TRY_VOID(stack_->give(o, value));
  for (const PluginOptionValue& given : parse.options.plugin_options) {
    auto o = std::ranges::find(stack_->options(), given.name, &spank::Option::name);
    MUSTER_TRY_VOID(stack_->give(*o, given.has_value ? std::optional(given.value) : std::nullopt));
  }
  return {};
}

Result<> SpankHost::finish_options(JobOptions& options) {
  if (!stack_) return {};
  MUSTER_TRY_VOID(told_as_spank(stack_->call(spank::Callback::kInitPostOpt)));
  const std::deque<std::string>& given = stack_->given();
  std::vector<std::string>& job = options.request.spank_env;
  job.assign(given.begin(), given.end());
  job.insert(job.end(), stack_->job_control.begin(), stack_->job_control.end());
  options.step.spank = true;
  options.step.spank_options.assign(given.begin(), given.end());
  if (command_ == Command::kSrun) return {};
  for (const std::string& entry : given) ::setenv(entry.substr(0, entry.find('=')).c_str(), spank::value_of(entry).data(), 1);
  return {};
}

Result<> SpankHost::before_launch(const rpc::StepCreated& step) {
  if (!stack_) return {};
  stack_->facts.job = step.job.value;
  stack_->facts.step = step.step.value;
  stack_->facts.num_nodes = static_cast<uint32_t>(step.nodes.size());
  stack_->facts.num_tasks = step.num_tasks;
  stack_->facts.cpus_per_task = std::max(1u, step.cpus_per_task);
  return told_as_spank(stack_->call(spank::Callback::kLocalUserInit));
}

std::optional<SpankHost> start_plugins(Command command, const Result<ClientConf>& conf, std::span<const std::string> arguments,
                                       const os::CliLog& log) {
  if (!conf || asks_version(arguments)) return SpankHost();
  Result<SpankHost> host = SpankHost::load(command, *conf, log);
  if (host) return std::move(*host);
  report(log, host.error());
  return std::nullopt;
}

std::optional<int> plugins_settled(SpankHost& host, JobParse& parse, const os::CliLog& log, int failed) {
  if (Result<> given = host.give_options(parse); !given) {
    report(log, given.error());
    return failed;
  }
  if (Result<> finished = host.finish_options(parse.options); !finished) {
    report(log, finished.error());
    return 1;
  }
  return std::nullopt;
}

}  // namespace muster::cli
