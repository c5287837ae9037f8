// spank_get_item: which item is known where, and how it is handed over.
#include <stdarg.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "base/version.h"
#include "plugin/spank/stack.h"

namespace muster::spank {
namespace {

// Writes to the place that a plugin gave for an answer; a null pointer is the plugin's mistake.
template <class T>
spank_err_t put(va_list& to, const T& value) {
  T* place = va_arg(to, T*);
  if (!place) return ESPANK_BAD_ARG;
  *place = value;
  return ESPANK_SUCCESS;
}

template <class T>
spank_err_t put_known(va_list& to, const std::optional<T>& value) {
  return value ? put(to, *value) : ESPANK_NOT_AVAIL;
}

spank_err_t put_text(Stack& s, spank_item_t item, va_list& to, const std::optional<std::string>& text) {
  return text ? put(to, s.hold(item, *text)) : ESPANK_NOT_AVAIL;
}

spank_err_t put_argv(Stack& s, va_list& to) {
  if (!s.facts.argv) return ESPANK_NOT_AVAIL;
  if (auto rc = put(to, static_cast<int>(s.facts.argv->size())); rc != ESPANK_SUCCESS) return rc;
  return put(to, s.hold(S_JOB_ARGV, *s.facts.argv));
}

spank_err_t put_environment(Stack& s, va_list& to) {
  if (s.environment) return put(to, s.hold(S_JOB_ENV, s.environment->entries()));
  return s.is_local() ? put(to, environ) : ESPANK_NOT_AVAIL;
}

spank_err_t put_groups(Stack& s, va_list& to) {
  if (!s.facts.groups) return ESPANK_NOT_AVAIL;
  if (auto rc = put(to, s.facts.groups->data()); rc != ESPANK_SUCCESS) return rc;
  return put(to, static_cast<int>(s.facts.groups->size()));
}

spank_err_t put_of_task(const TaskFacts* task, spank_item_t item, va_list& to) {
  if (!task) return ESPANK_NOT_TASK;
  switch (item) {
    case S_TASK_ID: return put(to, static_cast<int>(task->local));
    case S_TASK_GLOBAL_ID: return put(to, task->global);
    case S_TASK_PID: return task->pid ? put(to, task->pid) : ESPANK_NOT_AVAIL;
    default: return put_known(to, task->exit_status);
  }
}

spank_err_t put_by_process(const Facts& f, spank_item_t item, va_list& args) {
  const pid_t pid = va_arg(args, pid_t);
  if (std::ranges::none_of(f.tasks, [](const TaskFacts& t) { return t.pid != 0; })) return ESPANK_NOT_EXECD;
  auto at = std::ranges::find(f.tasks, pid, &TaskFacts::pid);
  if (pid <= 0 || at == f.tasks.end()) return ESPANK_NOEXIST;
  return put(args, item == S_JOB_PID_TO_GLOBAL_ID ? at->global : at->local);
}

spank_err_t put_by_number(const Facts& f, spank_item_t item, va_list& args) {
  const bool by_local = item == S_JOB_LOCAL_TO_GLOBAL_ID;
  const auto number = va_arg(args, uint32_t);
  auto at = std::ranges::find(f.tasks, number, by_local ? &TaskFacts::local : &TaskFacts::global);
  if (at == f.tasks.end()) return ESPANK_NOEXIST;
  return put(args, by_local ? at->global : at->local);
}

std::optional<std::string> version_part(size_t part) { return std::string(split(kVersion, '.')[part]); }

bool is_remote_only(spank_item_t item) {
  switch (item) {
    case S_JOB_NODEID:
    case S_JOB_LOCAL_TASK_COUNT:
    case S_JOB_NCPUS:
    case S_TASK_ID:
    case S_TASK_GLOBAL_ID:
    case S_TASK_EXIT_STATUS:
    case S_TASK_PID:
    case S_JOB_PID_TO_GLOBAL_ID:
    case S_JOB_PID_TO_LOCAL_ID:
    case S_JOB_LOCAL_TO_GLOBAL_ID:
    case S_JOB_GLOBAL_TO_LOCAL_ID:
    case S_JOB_ALLOC_CORES:
    case S_JOB_ALLOC_MEM:
    case S_STEP_ALLOC_CORES:
    case S_STEP_ALLOC_MEM:
    case S_SLURM_RESTART_COUNT: return true;
    default: return false;
  }
}

spank_err_t put_item(Stack& stack, const TaskFacts* task, spank_item_t item, va_list& args) {
  const Facts& facts = stack.facts;
  switch (item) {
    case S_JOB_UID: return put_known(args, facts.uid);
    case S_JOB_GID: return put_known(args, facts.gid);
    case S_JOB_ID: return put_known(args, facts.job);
    case S_JOB_STEPID: return put_known(args, facts.step);
    case S_JOB_NNODES: return put_known(args, facts.num_nodes);
    case S_JOB_NODEID: return put_known(args, facts.node_id);
    case S_JOB_LOCAL_TASK_COUNT:
      return stack.context() == S_CTX_REMOTE ? put(args, static_cast<uint32_t>(facts.tasks.size())) : ESPANK_NOT_AVAIL;
    case S_JOB_TOTAL_TASK_COUNT: return put_known(args, facts.num_tasks);
    case S_JOB_NCPUS: return put_known(args, facts.num_cpus);
    case S_JOB_ARGV: return put_argv(stack, args);
    case S_JOB_ENV: return put_environment(stack, args);
    case S_TASK_ID:
    case S_TASK_GLOBAL_ID:
    case S_TASK_EXIT_STATUS:
    case S_TASK_PID: return put_of_task(task, item, args);
    case S_JOB_PID_TO_GLOBAL_ID:
    case S_JOB_PID_TO_LOCAL_ID: return put_by_process(facts, item, args);
    case S_JOB_LOCAL_TO_GLOBAL_ID:
    case S_JOB_GLOBAL_TO_LOCAL_ID: return put_by_number(facts, item, args);
    case S_JOB_SUPPLEMENTARY_GIDS: return put_groups(stack, args);
    case S_SLURM_VERSION: return put_text(stack, item, args, std::string(kVersion));
    case S_SLURM_VERSION_MAJOR:
    case S_SLURM_VERSION_MINOR:
    case S_SLURM_VERSION_MICRO: return put_text(stack, item, args, version_part(static_cast<size_t>(item - S_SLURM_VERSION_MAJOR)));
    case S_STEP_CPUS_PER_TASK: return put_known(args, facts.cpus_per_task);
    case S_JOB_ALLOC_CORES: return put_text(stack, item, args, facts.job_cpus);
    case S_JOB_ALLOC_MEM: return put_known(args, facts.job_mem_mb);
    case S_STEP_ALLOC_CORES: return put_text(stack, item, args, facts.step_cpus);
    case S_STEP_ALLOC_MEM: return put_known(args, facts.step_mem_mb);
    case S_SLURM_RESTART_COUNT: return put_known(args, facts.restarts);
    case S_JOB_ARRAY_ID: return put_known(args, facts.array_job);
    case S_JOB_ARRAY_TASK_ID: return put_known(args, facts.array_task);
  }
  return ESPANK_BAD_ARG;
}

}  // namespace
}  // namespace muster::spank

extern "C" __attribute__((visibility("default"))) spank_err_t spank_get_item(spank_t handle, spank_item_t item, ...) {
  using namespace muster::spank;
  if (!handle || handle->magic != spank_handle::kMagic) return ESPANK_BAD_ARG;
  Stack& s = *handle->stack;
  if (s.is_local() && is_remote_only(item)) return ESPANK_NOT_REMOTE;
  va_list args;
  va_start(args, item);
  spank_err_t rc = put_item(s, handle->task, item, args);
  va_end(args);
  return rc;
}
