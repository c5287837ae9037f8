// The functions of <slurm/spank.h> that plugins call, except spank_get_item (items.cc). They find their stack by the handle, or, where the
// interface has none, as the one of this process.
#include <stdarg.h>
#include <stdio.h>

#include <algorithm>
#include <cstring>

#include "base/errc.h"
#include "plugin/spank/option_text.h"
#include "plugin/spank/stack.h"

#define MUSTER_API extern "C" __attribute__((visibility("default")))

namespace muster::spank {
namespace {

// The interface asks for it: spank_context() and the words of plugins come without a handle.
Stack* current_stack = nullptr;

bool valid(spank_t handle) { return handle && handle->magic == spank_handle::kMagic; }
bool is_name(const char* var) { return var && *var && !strchr(var, '='); }

spank_err_t copy_value(const char* value, char* buf, int len) {
  if (!value) return ESPANK_ENV_NOEXIST;
  const size_t size = strlen(value) + 1;
  if (!buf || len <= 0 || size > static_cast<size_t>(len)) return ESPANK_NOSPACE;
  memcpy(buf, value, size);
  return ESPANK_SUCCESS;
}

void set_in(std::vector<std::string>& list, const std::string& name, const char* value) {
  std::string entry = name + "=" + value;
  auto at = std::ranges::find_if(list, [&](const std::string& e) { return is_entry_of(e, name); });
  if (at == list.end()) list.push_back(std::move(entry));
  else *at = std::move(entry);
}

spank_err_t check_remote(spank_t handle, const char* var) {
  if (!valid(handle) || !is_name(var)) return ESPANK_BAD_ARG;
  if (handle->stack->is_local()) return ESPANK_NOT_REMOTE;
  return handle->stack->environment ? ESPANK_SUCCESS : ESPANK_NOT_AVAIL;
}

spank_err_t check_local(spank_t handle, const char* var) {
  if (!valid(handle) || !is_name(var)) return ESPANK_BAD_ARG;
  return handle->stack->is_local() ? ESPANK_SUCCESS : ESPANK_NOT_LOCAL;
}

// spank(8) SPANK OPTIONS: the callbacks in which options may be asked for.
bool options_are_known(Callback c) {
  using enum Callback;
  return c == kJobProlog || c == kLocalUserInit || c == kUserInit || c == kTaskInitPrivileged || c == kTaskInit || c == kTaskExit ||
         c == kJobEpilog;
}

std::string formatted(const char* format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int size = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string out(static_cast<size_t>(std::max(size, 0)), '\0');
  vsnprintf(out.data(), out.size() + 1, format, args);
  return out;
}

void log_line(os::LogLevel level, const char* format, va_list args) {
  const std::string text = formatted(format, args);
  if (current_stack) current_stack->log(level, text);
  else fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace

void provide_api(Stack* current) { current_stack = current; }
Stack* api_stack() { return current_stack; }

}  // namespace muster::spank

using namespace muster;
using namespace muster::spank;

// ---- where
MUSTER_API int spank_symbol_supported(const char* symbol) {
  std::string_view name = symbol ? symbol : "";
  if (!name.starts_with(kSymbolPrefix)) return 0;
  return std::ranges::find(kCallbackNames, name.substr(kSymbolPrefix.size())) != kCallbackNames.end() ? 1 : 0;
}

MUSTER_API spank_context_t spank_context() { return current_stack ? current_stack->context() : S_CTX_ERROR; }

MUSTER_API int spank_remote(spank_t handle) {
  if (!valid(handle)) return -1;
  return handle->stack->context() == S_CTX_REMOTE ? 1 : 0;
}

// ---- environments and the program
MUSTER_API spank_err_t spank_getenv(spank_t handle, const char* var, char* buf, int len) {
  if (auto rc = check_remote(handle, var); rc != ESPANK_SUCCESS) return rc;
  return copy_value(find_variable(handle->stack->environment->entries(), var), buf, len);
}

MUSTER_API spank_err_t spank_setenv(spank_t handle, const char* var, const char* val, int overwrite) {
  if (auto rc = check_remote(handle, var); rc != ESPANK_SUCCESS) return rc;
  if (!val) return ESPANK_BAD_ARG;
  JobEnvironment& env = *handle->stack->environment;
  if (!overwrite && find_variable(env.entries(), var)) return ESPANK_ENV_EXISTS;
  env.set(std::string(var) + "=" + val);
  return ESPANK_SUCCESS;
}

MUSTER_API spank_err_t spank_unsetenv(spank_t handle, const char* var) {
  if (auto rc = check_remote(handle, var); rc != ESPANK_SUCCESS) return rc;
  handle->stack->environment->unset(var);
  return ESPANK_SUCCESS;
}

// The task's own process has a copy of what the stack knows, so the words are this task's alone.
MUSTER_API spank_err_t spank_prepend_task_argv(spank_t handle, int argc, const char* argv[]) {
  if (!valid(handle) || argc < 0 || (argc > 0 && !argv)) return ESPANK_BAD_ARG;
  if (handle->stack->context() != S_CTX_REMOTE) return ESPANK_NOT_REMOTE;
  if (handle->callback != Callback::kTaskInitPrivileged && handle->callback != Callback::kTaskInit) return ESPANK_NOT_TASK;
  const std::vector<const char*> words(argv, argv + argc);
  if (std::ranges::find(words, nullptr) != words.end()) return ESPANK_BAD_ARG;
  std::optional<std::vector<std::string>>& task = handle->stack->facts.argv;
  if (!task) return ESPANK_NOT_AVAIL;
  task->insert(task->begin(), words.begin(), words.end());
  return ESPANK_SUCCESS;
}

MUSTER_API spank_err_t spank_job_control_getenv(spank_t handle, const char* var, char* buf, int len) {
  if (auto rc = check_local(handle, var); rc != ESPANK_SUCCESS) return rc;
  return copy_value(find_variable(handle->stack->job_control, var), buf, len);
}

MUSTER_API spank_err_t spank_job_control_setenv(spank_t handle, const char* var, const char* val, int overwrite) {
  if (auto rc = check_local(handle, var); rc != ESPANK_SUCCESS) return rc;
  if (!val) return ESPANK_BAD_ARG;
  std::vector<std::string>& list = handle->stack->job_control;
  if (!overwrite && find_variable(list, var)) return ESPANK_ENV_EXISTS;
  set_in(list, var, val);
  return ESPANK_SUCCESS;
}

MUSTER_API spank_err_t spank_job_control_unsetenv(spank_t handle, const char* var) {
  if (auto rc = check_local(handle, var); rc != ESPANK_SUCCESS) return rc;
  std::erase_if(handle->stack->job_control, [&](const std::string& e) { return is_entry_of(e, var); });
  return ESPANK_SUCCESS;
}

// ---- options
MUSTER_API spank_err_t spank_option_register(spank_t handle, struct spank_option* opt) {
  if (!valid(handle) || !opt || handle->callback != Callback::kInit) return ESPANK_BAD_ARG;
  return handle->stack->add_option(*handle->plugin, *opt);
}

MUSTER_API spank_err_t spank_option_getopt(spank_t handle, struct spank_option* opt, char** optargp) {
  if (!valid(handle) || !opt || !opt->name) return ESPANK_BAD_ARG;
  if (!options_are_known(handle->callback)) return ESPANK_NOT_AVAIL;
  if (optargp) *optargp = nullptr;
  const std::string key = option_key(handle->plugin->name(), opt->name);
  const std::deque<std::string>& given = handle->stack->given();
  auto last = std::find_if(given.rbegin(), given.rend(), [&](const std::string& e) { return is_entry_of(e, key); });
  if (last == given.rend()) return ESPANK_ERROR;
  std::string_view value = value_of(*last);
  // The plugin may keep the pointer: the list stays as it is as long as the stack does.
  if (optargp && opt->has_arg && !(opt->has_arg == 2 && value.empty())) *optargp = const_cast<char*>(value.data());
  return ESPANK_SUCCESS;
}

// ---- words
MUSTER_API const char* spank_strerror(spank_err_t err) {
  if (err == ESPANK_SUCCESS) return "Success";
  if (err == ESPANK_JOB_FAILURE) return "Job failure";
  if (err == ESPANK_NODE_FAILURE) return "Node failure";
  const std::string_view text = err >= ESPANK_ERROR && err <= ESPANK_NOT_LOCAL ? errc_text_of_number(err) : "Unknown";
  return text.data();  // the views are of literals
}

MUSTER_API void slurm_spank_log(const char* format, ...) {
  va_list args;
  va_start(args, format);
  const std::string text = formatted(format, args);
  va_end(args);
  if (current_stack) current_stack->say(text);
  else fprintf(stderr, "%s\n", text.c_str());
}

#define MUSTER_LOG_FUNCTION(name, level)          \
  MUSTER_API void name(const char* format, ...) { \
    va_list args;                                 \
    va_start(args, format);                       \
    log_line(level, format, args);                \
    va_end(args);                                 \
  }
MUSTER_LOG_FUNCTION(slurm_error, os::LogLevel::kError)
MUSTER_LOG_FUNCTION(slurm_info, os::LogLevel::kInfo)
MUSTER_LOG_FUNCTION(slurm_verbose, os::LogLevel::kVerbose)
MUSTER_LOG_FUNCTION(slurm_debug, os::LogLevel::kDebug)
MUSTER_LOG_FUNCTION(slurm_debug2, os::LogLevel::kDebug2)
MUSTER_LOG_FUNCTION(slurm_debug3, os::LogLevel::kDebug3)
