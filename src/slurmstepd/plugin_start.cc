// Stepd, for steps with plugins: the plugins around the start of tasks, and the tasks' processes in which they run.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "os/error.h"
#include "os/files.h"
#include "slurmstepd/stepd.h"

namespace muster::slurmstepd {
namespace {

constexpr int kNotExecuted = 2;

}  // namespace

// In a task's process the words go to its standard error, since nothing else in it is the task's own.
void Stepd::plugin_says(const std::string& line) {
  if (in_task_) [[maybe_unused]]
    auto ok = os::write_all(2, line + "\n");
  else note(line);
}

void Stepd::plugin_logs(os::LogLevel level, const std::string& text) {
  // --slurmd-debug counts from info; errors are always told.
  if (level > os::LogLevel::kError && static_cast<uint32_t>(level) > launch_->debug_level) return;
  std::string mark;
  if (level <= os::LogLevel::kError) mark = "error: ";
  if (level >= os::LogLevel::kDebug) mark = std::string(os::log_level_name(level)) + ": ";
  plugin_says("slurmstepd: " + mark + text);
}

Result<> Stepd::begin_plugins() {
  if (launch_->spank.empty()) return {};
  if (!make_plugins_) return fail("this slurmstepd does not load plugins");
  PluginWords words;
  words.log = [this](os::LogLevel level, const std::string& text) { plugin_logs(level, text); };
  words.say = [this](const std::string& text) { plugin_says(text); };
  MUSTER_TRY(plugins, make_plugins_(*launch_, std::move(words)));
  plugins_ = std::move(plugins);
  return plugins_->begin(launch_->environment);
}

// Does as Slurm does: says it, and runs in /tmp.
void Stepd::enter_directory(const std::string& directory) {
  if (directory.empty() || ::chdir(directory.c_str()) == 0) return;
  plugin_says("slurmstepd: error: couldn't chdir to `" + directory + "': " + strerror(errno) + ": going to /tmp instead");
  if (::chdir("/tmp") != 0) plugin_says(std::string("slurmstepd: error: couldn't chdir to /tmp: ") + strerror(errno));
}

Result<pid_t> Stepd::hold_task(Task& task, os::SpawnSpec& spec) {
  const size_t index = place_of(task);
  const std::string directory = std::exchange(spec.cwd, {});
  os::StartHooks hooks;
  hooks.as_root = [&] {
    in_task_ = true;
    Environment own(*spec.env);
    own.set("SLURM_TASK_PID=" + std::to_string(::getpid()));
    return plugins_->task_as_root(index, own.entries());
  };
  hooks.as_user = [&](os::SpawnSpec& s) {
    enter_directory(directory);
    if (!plugins_->task_as_user(index, *s.env, s.argv)) return false;
    if (!s.argv.empty()) s.path = s.argv.front();
    return true;
  };
  hooks.failed = [&](const std::string& why) {
    std::string text = why;
    if (text.starts_with("execve ")) text.replace(0, 7, "execve(): ");
    plugin_says("slurmstepd: error: " + text);
    ::_exit(kNotExecuted);
  };
  spec.pid_variable.clear();
  MUSTER_TRY(held, os::HeldProcess::start(spec, hooks));
  const pid_t pid = held.pid();
  held_.push_back(std::move(held));
  return pid;
}

// No task runs its program before all have their processes and the plugins have seen them.
Result<> Stepd::release_tasks() {
  Result<> ok;
  for (size_t i = 0; i < tasks_.size() && ok; ++i)
    if (plugins_ && tasks_[i].pid > 0) ok = plugins_->forked(i, tasks_[i].pid);
  for (os::HeldProcess& h : held_)
    if (ok) h.release();
  held_.clear();  // with the gate closed, those that were not released end
  return ok;
}

void Stepd::end_plugins() {
  if (!plugins_) return;
  plugins_->end();
  plugins_.reset();
}

}  // namespace muster::slurmstepd
