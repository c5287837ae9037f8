#include "plugin/spank/plugin.h"

#include <dlfcn.h>

#include <cstring>

namespace muster::spank {

Result<Plugin> Plugin::load(const step_rpc::SpankPlugin& from) {
  Plugin plugin;
  plugin.required_ = from.required;
  plugin.arguments_ = from.arguments;
  plugin.file_ = from.path.substr(from.path.rfind('/') + 1);
  const std::string start = from.where + ": plugin " + from.path + ": ";
  // Local: plugins that have symbols of the same names must not disturb each other.
  void* object = ::dlopen(from.path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!object) {
    const char* why = ::dlerror();
    return fail(Errc::kSpankError, start + (why ? why : "cannot be loaded"));
  }
  auto symbol = [&](const char* name) { return ::dlsym(object, name); };
  auto* type = static_cast<const char*>(symbol("plugin_type"));
  auto* name = static_cast<const char*>(symbol("plugin_name"));
  if (!type || !name || strcmp(type, "spank") != 0)
    return fail(Errc::kSpankError, start + "is not a SPANK plugin (it has no SPANK_PLUGIN)");
  plugin.name_ = name;
  for (size_t i = 0; i < kCallbackNames.size(); ++i) {
    std::string full = std::string(kSymbolPrefix) + std::string(kCallbackNames[i]);
    plugin.callbacks_[i] = reinterpret_cast<spank_f*>(symbol(full.c_str()));
  }
  plugin.table_ = static_cast<spank_option*>(symbol("spank_options"));
  if (auto* mode = static_cast<const int*>(symbol("slurm_spank_init_failure_mode"))) plugin.failure_mode_ = *mode;
  return plugin;
}

std::vector<char*> Plugin::argv() {
  std::vector<char*> out;
  for (std::string& a : arguments_) out.push_back(a.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace muster::spank
