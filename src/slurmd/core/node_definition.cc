#include "slurmd/core/node_definition.h"

#include <algorithm>

#include "base/text.h"
#include "config/parser.h"
#include "model/gres_items.h"

namespace muster::slurmd {
namespace {

constexpr std::string_view kMake[] = {"CPUs", "Procs", "Boards", "Sockets", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore"};
constexpr std::string_view kOthers[] = {"NodeName", "NodeHostname", "Port"};

const rpc::KeyValue* find(const std::vector<rpc::KeyValue>& keys, std::string_view key) {
  const auto at = std::ranges::find_if(keys, [&](const rpc::KeyValue& kv) { return iequals(kv.key, key); });
  return at == keys.end() ? nullptr : &*at;
}

bool is_control(unsigned char c) { return c < ' ' || c == 127; }

}  // namespace

Result<std::vector<rpc::KeyValue>> parse_conf_option(std::string_view text) {
  if (std::ranges::any_of(text, is_control)) return fail(Errc::kInvalidArgument, "--conf must not contain control characters");
  const config::ParsedFile parsed = config::parse_text(text, "--conf");
  if (!parsed.errors.empty()) return fail(Errc::kInvalidArgument, "--conf: " + parsed.errors.front().message, parsed.errors.front().hint);
  std::vector<rpc::KeyValue> out;
  for (const config::Line& line : parsed.lines)
    for (const config::KeyValue& kv : line.values) {
      for (std::string_view other : kOthers)
        if (iequals(kv.key, other)) return fail(Errc::kInvalidArgument, "--conf: " + kv.key + " is not supported; -N gives the name");
      if (kv.op != config::Assign::kSet) return fail(Errc::kInvalidArgument, "--conf: " + kv.key + " is written with = alone");
      out.push_back({kv.key, "=", kv.value});
    }
  return out;
}

bool has_gpus(const std::vector<rpc::KeyValue>& conf) {
  const rpc::KeyValue* gres = find(conf, "Gres");
  if (!gres) return false;
  const Parsed<GresItems> items(gres->value);
  return items.parsed() && std::ranges::any_of(items->list, [](const GresItem& item) { return item.name == "gpu"; });
}

std::vector<rpc::KeyValue> node_definition(const NodeHardware& machine, const std::vector<rpc::KeyValue>& conf, const std::string& gpus) {
  std::vector<rpc::KeyValue> out;
  auto add = [&](const char* key, uint64_t value) { out.push_back({key, "=", std::to_string(value)}); };
  if (std::ranges::none_of(kMake, [&](std::string_view key) { return find(conf, key) != nullptr; })) {
    add("CPUs", machine.cpus);
    add("Boards", machine.boards);
    add("SocketsPerBoard", machine.sockets / std::max(1u, machine.boards));
    add("CoresPerSocket", machine.cores_per_socket);
    add("ThreadsPerCore", machine.threads_per_core);
  }
  if (!find(conf, "RealMemory")) add("RealMemory", machine.real_memory_mb);
  out.insert(out.end(), conf.begin(), conf.end());
  if (gpus.empty() || has_gpus(conf)) return out;
  const auto gres = std::ranges::find_if(out, [](const rpc::KeyValue& kv) { return iequals(kv.key, "Gres"); });
  if (gres == out.end()) out.push_back({"Gres", "=", gpus});
  else gres->value += (gres->value.empty() ? "" : ",") + gpus;
  return out;
}

std::string node_line(const std::string& name, const std::vector<rpc::KeyValue>& definition) {
  std::string out = "NodeName=" + name;
  for (const rpc::KeyValue& kv : definition) out += " " + kv.key + "=\"" + kv.value + "\"";
  return out;
}

}  // namespace muster::slurmd
