#include "plugin/spank/stack.h"

#include <algorithm>

#include "plugin/spank/option_text.h"

namespace muster::spank {

// The functions of spank.h are linked into the program only for the plugins: this reference brings them in.
void provide_api(Stack* current);
Stack* api_stack();

Stack::Stack(spank_context_t context, Ports ports) : context_(context), ports_(std::move(ports)) { provide_api(this); }

Stack::~Stack() {
  if (current() == this) provide_api(nullptr);
}

Stack* Stack::current() { return api_stack(); }

Result<std::unique_ptr<Stack>> Stack::load(const std::vector<step_rpc::SpankPlugin>& plugins, spank_context_t context, Ports ports) {
  std::unique_ptr<Stack> out(new Stack(context, std::move(ports)));
  for (const step_rpc::SpankPlugin& from : plugins) {
    auto plugin = Plugin::load(from);
    if (plugin) {
      out->plugins_.push_back(std::move(*plugin));
    } else if (from.required) {
      return std::unexpected(plugin.error());
    } else {
      out->log(os::LogLevel::kError, "spank: " + std::string(plugin.error().message()) + ": it is optional and left out");
    }
  }
  // In sbatch and salloc plugins' option tables are not read: spank(8).
  if (context == S_CTX_ALLOCATOR) return out;
  for (Plugin& p : out->plugins_)
    for (spank_option* o = p.option_table(); o && o->name; ++o) out->add_option(p, *o);
  return out;
}

bool Stack::has(Callback callback) const {
  return std::ranges::any_of(plugins_, [&](const Plugin& p) { return !p.disabled && p.callback(callback); });
}

Result<> Stack::call(Callback callback, const TaskFacts* task) {
  for (Plugin& p : plugins_)
    if (!p.disabled && p.callback(callback)) MUSTER_TRY_VOID(run(p, callback, task));
  return {};
}

Result<> Stack::run(Plugin& plugin, Callback callback, const TaskFacts* task) {
  spank_handle handle;
  handle.stack = this;
  handle.plugin = &plugin;
  handle.callback = callback;
  handle.task = task;
  std::vector<char*> argv = plugin.argv();
  const int rc = plugin.callback(callback)(&handle, plugin.argc(), argv.data());
  handle.magic = 0;  // a plugin that keeps the handle finds it invalid
  if (rc == 0) return {};
  std::string text = std::string(plugin.required() ? "required" : "optional") + " plugin " + plugin.file() + ": " +
                     std::string(callback_name(callback)) + "() failed with rc=" + std::to_string(rc);
  if (plugin.required()) {
    blames_job_ = callback == Callback::kInit && plugin.blames_job();
    return fail(Errc::kSpankError, std::move(text));
  }
  plugin.disabled = callback == Callback::kInit;
  log(os::LogLevel::kError, "spank: " + text + (plugin.disabled ? ": it is not called again" : ": ignored"));
  return {};
}

// ---- options
spank_err_t Stack::add_option(const Plugin& plugin, const spank_option& option) {
  if (!option.name || !*option.name || std::string_view(option.name).size() > SPANK_OPTION_MAXLEN || option.has_arg < 0 ||
      option.has_arg > 2) {
    log(os::LogLevel::kError, "spank: " + plugin.file() + ": an option needs a name of at most " + std::to_string(SPANK_OPTION_MAXLEN) +
                                  " characters and has_arg of 0, 1 or 2");
    return ESPANK_BAD_ARG;
  }
  if (auto other = std::ranges::find(options_, option.name, &Option::name); other != options_.end()) {
    log(os::LogLevel::kError, "spank: " + plugin.file() + ": option --" + option.name + " is one of " + other->plugin->file() + " already");
    return ESPANK_BAD_ARG;
  }
  Option added;
  added.plugin = &plugin;
  added.name = option.name;
  added.arg_info = option.arginfo ? option.arginfo : "";
  added.usage = option.usage ? option.usage : "";
  added.has_arg = option.has_arg;
  added.val = option.val;
  added.callback = option.cb;
  added.key = option_key(plugin.name(), option.name);
  options_.push_back(std::move(added));
  return ESPANK_SUCCESS;
}

Result<> Stack::give(const Option& o, const std::optional<std::string>& value) {
  if (o.plugin->disabled) return {};
  given_.push_back(o.key + "=" + value.value_or(""));
  if (!o.callback) return {};
  const bool none = o.has_arg == 0 || !value || (o.has_arg == 2 && value->empty());
  const char* text = none ? nullptr : value_of(given_.back()).data();  // a plugin may keep it
  if (o.callback(o.val, text, context_ == S_CTX_REMOTE ? 1 : 0) == 0) return {};
  if (o.has_arg == 0) return fail(Errc::kSpankError, "Invalid use of --" + o.name + ": plugin " + o.plugin->file() + " refuses it");
  return fail(Errc::kSpankError, "Invalid --" + o.name + " argument: " + value.value_or(""));
}

Result<> Stack::give_entries(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    auto at = std::ranges::find_if(options_, [&](const Option& o) { return is_entry_of(entry, o.key); });
    if (at == options_.end()) {
      given_.push_back(entry);
      continue;
    }
    auto ok = give(*at, std::string(value_of(entry)));
    if (ok) continue;
    if (at->plugin->required()) return ok;
    log(os::LogLevel::kError, "spank: optional plugin " + at->plugin->file() + ": " + std::string(ok.error().message()));
  }
  return {};
}

// ---- what plugins look at
char* Stack::hold(spank_item_t item, const std::string& text) {
  std::string& held = held_texts_[item];
  held = text;
  return held.data();
}

char** Stack::hold(spank_item_t item, const std::vector<std::string>& list) {
  HeldList& held = held_lists_[item];
  held.texts = list;
  held.pointers.clear();
  for (std::string& t : held.texts) held.pointers.push_back(t.data());
  held.pointers.push_back(nullptr);
  return held.pointers.data();
}

const char* find_variable(const std::vector<std::string>& entries, std::string_view name) {
  for (const std::string& e : entries)
    if (is_entry_of(e, name)) return e.c_str() + name.size() + 1;
  return nullptr;
}

}  // namespace muster::spank
