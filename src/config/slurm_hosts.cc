// The controllers, from the keys that releases before SlurmctldHost had: ControlMachine and ControlAddr, BackupController and BackupAddr.
// Many sites' files still use them.
#include "base/text.h"
#include "config/slurm_build.h"

namespace muster::config {
namespace {

const KeyValue* last_of(const std::vector<const Line*>& lines, std::string_view key) {
  const KeyValue* found = nullptr;
  for (const Line* line : lines)
    if (const KeyValue* kv = line->find(key)) found = kv;
  return found;
}

}  // namespace

bool is_older_controller_key(std::string_view key) {
  for (std::string_view k : {"ControlMachine", "ControlAddr", "BackupController", "BackupAddr"})
    if (iequals(key, k)) return true;
  return false;
}

std::vector<OlderController> controllers_of_older_keys(const std::vector<const Line*>& lines) {
  std::vector<OlderController> out;
  if (last_of(lines, "SlurmctldHost")) return out;
  for (const auto& [machine, address] : {std::pair("ControlMachine", "ControlAddr"), std::pair("BackupController", "BackupAddr")}) {
    const KeyValue* name = last_of(lines, machine);
    if (!name || name->value.empty()) continue;
    KeyValue host = *name;
    host.key = "SlurmctldHost";
    host.value = name->value.substr(0, name->value.find(','));  // the value may list several names of one machine
    if (const KeyValue* a = last_of(lines, address); a && !a->value.empty()) host.value += "(" + a->value + ")";
    out.push_back({name->key, std::move(host)});
  }
  return out;
}

}  // namespace muster::config
