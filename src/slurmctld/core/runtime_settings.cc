// scontrol setdebug, setdebugflags, schedloglevel, fsdampeningfactor and update SuspendExc*: keys of slurm.conf that hold until
// it is read again. Not in the log: a restart reads the files.
#include <algorithm>
#include <span>

#include "base/text.h"
#include "config/kept_up.h"
#include "config/runtime.h"
#include "hostlist/hostlist.h"
#include "slurmctld/core/decide.h"

namespace muster::slurmctld {
namespace {

constexpr std::string_view kKeys[] = {"SlurmctldDebug",  "DebugFlags",      "FairShareDampeningFactor",
                                      "SuspendExcNodes", "SuspendExcParts", "SuspendExcStates"};
constexpr std::string_view kNodeKeys[] = {"SlurmctldDebug", "DebugFlags"};

bool listed(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::any_of(keys, [&](std::string_view k) { return iequals(k, key); });
}

bool listed_in(const std::vector<std::string>& flags, std::string_view name) {
  return std::ranges::any_of(flags, [&](const std::string& f) { return iequals(f, name); });
}

Result<> check_nodes(const Cluster& cluster, std::string_view text) {
  MUSTER_TRY(sets, config::parse_kept_up(text));
  for (const config::KeptUp& set : sets) {
    for (const std::string& name : set.nodes)
      if (!cluster.node(name)) return fail(Errc::kInvalidNodeName, {}, "no node is called '" + name + "'");
  }
  return {};
}

// SuspendExcNodes is a list of hosts, some with a :count; += and -= work on single nodes and only without counts.
Result<rpc::KeyValue> whole_value(const View& v, const config::Config& c, rpc::KeyValue kv) {
  if (!iequals(kv.key, "SuspendExcNodes")) return kv;
  MUSTER_TRY_VOID(check_nodes(v.cluster, kv.value));
  if (kv.op == "=") return kv;
  if ((c.suspend_exc_nodes + kv.value).find(':') != std::string::npos)
    return fail(Errc::kInvalidNodeName, {}, "with += and -= nodes are listed without a count");
  MUSTER_TRY(names, expand_hosts(c.suspend_exc_nodes));
  MUSTER_TRY(more, expand_hosts(kv.value));
  std::erase_if(names, [&](const std::string& n) { return std::ranges::find(more, n) != more.end(); });
  if (kv.op == "+=") names.insert(names.end(), more.begin(), more.end());
  return rpc::KeyValue{kv.key, "=", compress_hosts(names)};
}

node_rpc::SetLogging logging_of(const rpc::UpdateConfig& c) {
  node_rpc::SetLogging order;
  for (const rpc::KeyValue& kv : c.changes) {
    if (iequals(kv.key, "SlurmctldDebug")) order.level = kv.value;
    else order.flags.push_back((kv.op == "-=" ? "-" : "+") + kv.value);
  }
  return order;
}

constexpr std::string_view kPowerKeys[] = {"SuspendExcNodes", "SuspendExcParts", "SuspendExcStates"};

}  // namespace

std::shared_ptr<const config::LoadedConfig> keep_power_settings(const config::LoadedConfig& now,
                                                                std::shared_ptr<const config::LoadedConfig> read) {
  if (!listed_in(read->config.reconfig_flags, "KeepPowerSaveSettings")) return read;
  auto out = std::make_shared<config::LoadedConfig>(*read);
  for (const config::ConfigValue& value : now.config.values)
    if (listed(kPowerKeys, value.row->name)) (void)config::set_value(out->config, value.row->name, "=", value.text);  // it was valid
  return out;
}

Result<ConfigDecision> decide(const View& view, const rpc::UpdateConfig& request) {
  ConfigDecision out;
  auto loaded = std::make_shared<config::LoadedConfig>(*view.settings.loaded);
  for (const rpc::KeyValue& kv : request.changes) {
    if (!listed(request.nodes.empty() ? std::span<const std::string_view>(kKeys) : kNodeKeys, kv.key))
      return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + kv.key);
    MUSTER_TRY(change, whole_value(view, loaded->config, kv));
    MUSTER_TRY_VOID(config::set_value(loaded->config, change.key, change.op, change.value));
  }
  if (request.nodes.empty()) {
    out.loaded = std::move(loaded);
    return out;
  }
  MUSTER_TRY(nodes, select_nodes(view, request.nodes));
  node_rpc::SetLogging order = logging_of(request);
  for (const Node* n : nodes) {
    out.orders.push_back({n->id, order});
    if (!n->connected)
      out.reply.errors.push_back(
          {n->spec->name, errc_number(Errc::kCommunicationFailed), std::string(errc_text(Errc::kCommunicationFailed))});
  }
  return out;
}

}  // namespace muster::slurmctld
