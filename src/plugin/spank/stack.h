// Stack: the plugins of one program, in the order of plugstack.conf, and what they share: their options, what they may know
// (facts.h) and where their words go. The functions of <slurm/spank.h> that plugins call are in api.cc and items.cc.
//
// One stack a process at a time: spank_context(), slurm_error() and their like have no argument to tell stacks apart.
// Not safe for threads: a program calls its plugins from one thread.
//
// A callback that returns anything but 0 has failed. If the plugin is `required`, the rest of the stack is not called and the caller gets
// the error; else a line in the log tells of it and the stack goes on. An optional plugin whose init failed is not called again.
#pragma once

#include <slurm/spank.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/log_level.h"
#include "plugin/spank/facts.h"
#include "plugin/spank/plugin.h"

namespace muster::spank {

struct Option {
  const Plugin* plugin = nullptr;
  std::string name, arg_info, usage;
  int has_arg = 0, val = 0;  // as in struct spank_option
  spank_opt_cb_f callback = nullptr;
  std::string key;  // option_text.h
};

class Stack {
 public:
  struct Ports {
    std::function<void(os::LogLevel, const std::string&)> log;
    std::function<void(const std::string&)> say;  // slurm_spank_log: to the user as it is
  };

  // Opens the plugins. Errors: a required one cannot be loaded (kSpankError). Optional ones that cannot are logged and left out.
  static Result<std::unique_ptr<Stack>> load(const std::vector<step_rpc::SpankPlugin>& plugins, spank_context_t context, Ports ports);
  ~Stack();
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  // `task` is for the callbacks of tasks. Error kSpankError: "required plugin NAME: CALLBACK() failed with rc=N".
  Result<> call(Callback callback, const TaskFacts* task = nullptr);
  bool has(Callback callback) const;
  // After a failed init: the plugin says that the job is at fault, not the node.
  bool blames_job() const { return blames_job_; }

  const std::deque<Option>& options() const { return options_; }
  // Hands over the options that the user gave, in that order; the callback of each sees its value. The error names a refused value.
  Result<> give(const Option& option, const std::optional<std::string>& value);
  // Keeps entries for spank_option_getopt alone: no callback of an option is called.
  void keep(const std::vector<std::string>& entries) { given_.insert(given_.end(), entries.begin(), entries.end()); }
  // Gives entries "KEY=value" (option_text.h); entries of options that no plugin here has are kept.
  Result<> give_entries(const std::vector<std::string>& entries);
  const std::deque<std::string>& given() const { return given_; }  // as entries, at addresses that do not change

  Facts facts;
  JobEnvironment* environment = nullptr;  // in slurmstepd
  std::vector<std::string> job_control;   // NAME=value, for prologs and epilogs

  // For api.cc and items.cc alone.
  static Stack* current();
  spank_context_t context() const { return context_; }
  bool is_local() const { return context_ == S_CTX_LOCAL || context_ == S_CTX_ALLOCATOR; }
  spank_err_t add_option(const Plugin& plugin, const spank_option& option);
  void log(os::LogLevel level, const std::string& text) const { ports_.log(level, text); }
  void say(const std::string& text) const { ports_.say(text); }
  // Keeps a text or a list for a plugin, until the next one for the same item.
  char* hold(spank_item_t item, const std::string& text);
  char** hold(spank_item_t item, const std::vector<std::string>& list);

 private:
  Stack(spank_context_t context, Ports ports);
  Result<> run(Plugin& plugin, Callback callback, const TaskFacts* task);

  spank_context_t context_;
  Ports ports_;
  std::deque<Plugin> plugins_;
  std::deque<Option> options_;
  std::deque<std::string> given_;
  bool blames_job_ = false;
  std::map<spank_item_t, std::string> held_texts_;
  struct HeldList {
    std::vector<std::string> texts;
    std::vector<char*> pointers;
  };
  std::map<spank_item_t, HeldList> held_lists_;
};

}  // namespace muster::spank

// What plugins are handed as spank_t: which plugin of which stack is called, and in which callback.
struct spank_handle {
  static constexpr uint32_t kMagic = 0x5b4a6e13;
  uint32_t magic = kMagic;
  muster::spank::Stack* stack = nullptr;
  muster::spank::Plugin* plugin = nullptr;
  muster::spank::Callback callback{};
  const muster::spank::TaskFacts* task = nullptr;  // in a callback of a task
};
