// Reads NodeName and DownNodes lines.
#include <algorithm>

#include "base/text.h"
#include "config/hosts.h"
#include "config/slurm_build.h"

namespace muster::config {

namespace {

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  return out;
}

uint32_t count_of(const Record& r, std::string_view key, uint32_t otherwise) {
  return static_cast<uint32_t>(r.number(key).value_or(otherwise));
}

// Derives boards, sockets, cores, threads and CPUs from one another as slurm.conf(5) says.
void derive_shape(const Record& r, NodeTemplate& t, Findings& f) {
  t.cpus_given = r.has("CPUs");
  t.topology_given = r.has("Boards") || r.has("Sockets") || r.has("SocketsPerBoard") || r.has("CoresPerSocket") || r.has("ThreadsPerCore");
  t.boards = count_of(r, "Boards", 1);
  t.cores_per_socket = count_of(r, "CoresPerSocket", 1);
  t.threads_per_core = count_of(r, "ThreadsPerCore", 1);
  bool per_board = r.has("SocketsPerBoard");
  if (per_board && r.has("Sockets"))
    f.odd(r.pos("SocketsPerBoard"), "SocketsPerBoard", "cannot be combined with Sockets", "SocketsPerBoard counts",
          "remove one of the two");
  uint64_t per_socket = uint64_t{t.cores_per_socket} * t.threads_per_core;
  uint64_t cpus = t.cpus_given ? count_of(r, "CPUs", 1) : 0;
  uint64_t sockets = t.boards;
  if (per_board) sockets = uint64_t{count_of(r, "SocketsPerBoard", 1)} * t.boards;
  else if (r.has("Sockets")) sockets = uint64_t{count_of(r, "Sockets", 1)} * t.boards;
  else if (t.cpus_given && cpus >= per_socket) sockets = std::max<uint64_t>(cpus / per_socket, t.boards);
  uint64_t cores = sockets * t.cores_per_socket, threads = cores * t.threads_per_core;
  if (threads > (1u << 20)) {
    f.error(r.where(), "CoresPerSocket",
            "the line describes a node of " + std::to_string(threads) + " CPUs, more than " + std::to_string(1u << 20));
    return;
  }
  t.sockets = static_cast<uint32_t>(sockets);
  if (!t.cpus_given) cpus = threads;
  if (cpus != sockets && cpus != cores && cpus != threads) {
    f.notice(r.pos("CPUs"), "CPUs",
             std::to_string(cpus) + " is neither the sockets (" + std::to_string(sockets) + "), the cores (" + std::to_string(cores) +
                 ") nor the threads (" + std::to_string(threads) + ") of the node; " + std::to_string(threads) + " is taken",
             "leave CPUs out, or correct Sockets, CoresPerSocket, ThreadsPerCore");
    cpus = threads;
  }
  t.cpus = static_cast<uint32_t>(cpus);
}

// The readable items of a Gres= value that breaks a rule. Counts of the same resource add up; an untyped item is dropped beside typed items
// of the same name.
std::vector<GresItem> readable_gres(std::string_view text) {
  std::vector<GresItem> out;
  for (std::string_view piece : split(text, ',')) {
    auto parsed = GresItems::parse(piece);
    if (!parsed || parsed->list.empty()) continue;
    GresItem& item = parsed->list.front();
    auto same =
        std::ranges::find_if(out, [&](const GresItem& o) { return o.name == item.name && o.type == item.type && o.suffix == item.suffix; });
    if (same != out.end()) same->count += item.count;
    else out.push_back(std::move(item));
  }
  std::erase_if(out, [&](const GresItem& item) {
    return item.type.empty() && std::ranges::any_of(out, [&](const GresItem& o) { return o.name == item.name && !o.type.empty(); });
  });
  return out;
}

void read_gres(const Record& r, NodeTemplate& t, Findings& f) {
  t.gres_text = r.text("Gres");
  auto parsed = GresItems::parse(t.gres_text);
  if (parsed) {
    t.gres = std::move(parsed->list);
    return;
  }
  t.gres = readable_gres(t.gres_text);
  t.gres_text = GresItems{t.gres}.text();
  f.odd(r.pos("Gres"), "Gres", parsed.error().text, t.gres_text.empty() ? "the nodes have no generic resources" : t.gres_text + " is taken",
        parsed.error().hint);
}

void check_gres_names(const Record& r, NodeTemplate& t, const Config& config, Findings& f) {
  auto is_known = [&](const GresItem& item) { return std::ranges::find(config.gres_types, item.name) != config.gres_types.end(); };
  for (const GresItem& item : t.gres) {
    if (is_known(item)) continue;
    std::vector<std::string_view> known(config.gres_types.begin(), config.gres_types.end());
    std::string_view near = did_you_mean(item.name, known);
    f.odd(r.pos("Gres"), "Gres", "\"" + item.name + "\" is not in GresTypes", "no job can ask for it",
          near.empty() ? "add it: GresTypes=" + (known.empty() ? "" : join(config.gres_types, ",") + ",") + item.name
                       : "did you mean " + std::string(near) + "?");
  }
  if (std::ranges::all_of(t.gres, is_known)) return;
  std::erase_if(t.gres, [&](const GresItem& item) { return !is_known(item); });
  t.gres_text = GresItems{t.gres}.text();
}

// The cores and CPUs that a node keeps for the system must leave some for jobs.
void check_specialized(const Record& r, NodeTemplate& t, Findings& f) {
  if (!t.cpu_spec_list.empty()) {
    Bitmap cpus;
    if (!Bitmap::parse_ranges(t.cpu_spec_list, cpus)) {
      f.odd(r.pos("CpuSpecList"), "CpuSpecList", "must be CPU numbers such as 0-1,8", "no CPUs are kept for the system");
      t.cpu_spec_list.clear();
    } else if (t.core_spec_count) {
      f.odd(r.pos("CpuSpecList"), "CpuSpecList", "cannot be combined with CoreSpecCount", "CpuSpecList counts", "remove one of the two");
      t.core_spec_count = 0;
    }
  }
  if (t.mem_spec_limit_mb && t.mem_spec_limit_mb >= t.real_memory_mb) {
    f.odd(r.pos("MemSpecLimit"), "MemSpecLimit", "must be less than RealMemory (" + std::to_string(t.real_memory_mb) + ")",
          "no memory is kept for the system");
    t.mem_spec_limit_mb = 0;
  }
  const uint32_t cores = t.sockets * t.cores_per_socket;
  if (t.core_spec_count && t.core_spec_count >= cores) {
    f.odd(r.pos("CoreSpecCount"), "CoreSpecCount", "must be less than the number of cores (" + std::to_string(cores) + ")",
          cores > 1 ? "1 is taken" : "none is kept for the system");
    t.core_spec_count = cores > 1 ? 1 : 0;
  }
}

std::shared_ptr<const NodeTemplate> make_template(const Record& r, const Config& config, Findings& f) {
  auto t = std::make_shared<NodeTemplate>();
  t->where = r.where();
  derive_shape(r, *t, f);
  t->real_memory_mb = r.mem_mb("RealMemory").value_or(1);
  t->tmp_disk_mb = r.mem_mb("TmpDisk").value_or(0);
  t->mem_spec_limit_mb = r.mem_mb("MemSpecLimit").value_or(0);
  t->weight = count_of(r, "Weight", 1);
  t->core_spec_count = count_of(r, "CoreSpecCount", 0);
  t->restricted_cores_per_gpu = count_of(r, "RestrictedCoresPerGPU", 0);
  t->cpu_spec_list = r.text("CpuSpecList");
  for (std::string_view w : split(r.text("Features"), ',')) t->features.emplace_back(trim(w));
  read_gres(r, *t, f);
  check_gres_names(r, *t, config, f);
  t->state = upper(r.text("State"));
  if (t->state == "IDLE") t->state = "UNKNOWN";
  t->reason = r.text("Reason");
  t->parameters = r.text("Parameters");
  t->topology = r.text("Topology");
  t->cpu_bind = std::string(r.text("CpuBind"));
  t->tres_weights = r.text("TRESWeights");
  check_weights(r, "TRESWeights", config, f);
  if (std::optional<int64_t> s = r.number("SuspendTime")) {
    t->suspend_never = *s < 0;
    if (*s >= 0) t->suspend_time_seconds = static_cast<uint32_t>(*s);
  }
  check_specialized(r, *t, f);
  return t;
}

// The names of a list key such as NodeAddr, as many as there are nodes; empty when not given. `one_for_all`: a single name serves all
// nodes, which makes sense where several slurmd on one host share an address.
std::vector<std::string> in_step(const Record& r, std::string_view key, size_t nodes, bool one_for_all, Findings& f) {
  std::string_view text = r.text(key);
  if (text.empty()) return {};
  Result<std::vector<std::string>> names = expand_hosts(text);
  if (!names) {
    f.error(r.pos(key), std::string(key), names.error().text);
    return {};
  }
  if (names->size() == nodes || (one_for_all && names->size() == 1)) return std::move(*names);
  f.error(r.pos(key), std::string(key),
          "has " + std::to_string(names->size()) + " names for " + std::to_string(nodes) + " nodes of NodeName",
          "give one for each node, in the same order");
  return {};
}

std::vector<uint16_t> ports_in_step(const Record& r, size_t nodes, uint16_t otherwise, Findings& f) {
  std::string_view text = r.text("Port");
  if (text.empty()) return {otherwise};
  Result<std::vector<uint16_t>> ports = expand_ports(text, nodes + 1);
  if (!ports) {
    f.error(r.pos("Port"), "Port", ports.error().text);
    return {otherwise};
  }
  if (ports->size() != 1 && ports->size() != nodes)
    f.error(
        r.pos("Port"), "Port",
        "has " + std::string(ports->size() > nodes ? "more" : "fewer") + " ports than the " + std::to_string(nodes) + " nodes of NodeName",
        "give one port, or one for each node");
  return std::move(*ports);
}

bool is_node_name(std::string_view s) {
  if (s.empty() || s.size() > 255) return false;
  for (char c : s)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.')) return false;
  return true;
}

template <class T>
const T& nth(const std::vector<T>& list, size_t i) {
  return list[list.size() == 1 ? 0 : i];
}

void add_nodes(const Record& r, Config& config, NodeIndex& index, Findings& f) {
  Result<std::vector<std::string>> names = expand_hosts(r.text("NodeName"));
  if (!names) return f.error(r.pos("NodeName"), "NodeName", names.error().text);
  if (names->empty()) return f.error(r.pos("NodeName"), "NodeName", "has no value");
  if (config.nodes.size() + names->size() > kMaxNodes)
    return f.error(r.pos("NodeName"), "NodeName", "makes more than " + std::to_string(kMaxNodes) + " nodes");
  std::vector<std::string> addresses = in_step(r, "NodeAddr", names->size(), true, f);
  std::vector<std::string> hostnames = in_step(r, "NodeHostname", names->size(), true, f);
  std::vector<std::string> bcast = in_step(r, "BcastAddr", names->size(), false, f);
  std::vector<uint16_t> ports = ports_in_step(r, names->size(), config.slurmd_port, f);
  if (ports.size() != 1 && ports.size() != names->size()) return;
  std::shared_ptr<const NodeTemplate> line = make_template(r, config, f);
  if (names->size() > 64) {  // one big line reserves once; many small lines keep the usual doubling
    config.nodes.reserve(config.nodes.size() + names->size());
    index.reserve(config.nodes.size() + names->size());
  }
  for (size_t i = 0; i < names->size(); ++i) {
    NodeConfig node;
    node.name = std::move((*names)[i]);
    if (!is_node_name(node.name)) {
      f.error(r.pos("NodeName"), "NodeName", "\"" + node.name.substr(0, 60) + "\" is not a node name",
              "letters, digits, - _ and . make a name");
      return;
    }
    if (iequals(node.name, "ALL")) return f.error(r.pos("NodeName"), "NodeName", "ALL is reserved: it stands for all nodes");
    if (std::optional<uint32_t> other = index.add(node.name, static_cast<uint32_t>(config.nodes.size()))) {
      f.error(r.pos("NodeName"), "NodeName", node.name + " is already defined at " + config.nodes[*other].line->where.text());
      continue;
    }
    if (!addresses.empty()) node.given_address = nth(addresses, i);
    if (!hostnames.empty()) node.given_hostname = nth(hostnames, i);
    if (!bcast.empty()) node.bcast_address = bcast[i];
    node.port = nth(ports, i);
    node.line = line;
    config.nodes.push_back(std::move(node));
  }
}

}  // namespace

void build_nodes(const std::vector<const Line*>& lines, Config& config, NodeIndex& index, Findings& findings) {
  Record defaults(ConfFile::kSlurm, Section::kNode);
  for (const Line* line : lines) {
    const KeyValue* name = line->find("NodeName");
    if (name && iequals(name->value, "DEFAULT")) {
      defaults.add(*line, findings);
      continue;
    }
    Record r = defaults;
    r.add(*line, findings);
    add_nodes(r, config, index, findings);
  }
}

void apply_down_nodes(const std::vector<const Line*>& lines, Config& config, const NodeIndex& index, Findings& findings) {
  for (const Line* line : lines) {
    Record r(ConfFile::kSlurm, Section::kDownNodes);
    r.add(*line, findings);
    ForeignNodes foreign;
    Bitmap nodes = resolve_nodes(r.text("DownNodes"), r.pos("DownNodes"), "DownNodes", config, index, findings, &foreign);
    foreign.tell("DownNodes", findings);
    auto down = std::make_shared<const std::pair<std::string, std::string>>(upper(r.text("State")), std::string(r.text("Reason")));
    nodes.for_each([&](size_t i) { config.nodes[i].down = down; });
  }
}

namespace {

// The CPUs that CoreSpecCount keeps for the system.
Bitmap system_cpus(const NodeTemplate& t, bool first) {
  Bitmap out;
  const uint32_t cores = t.sockets * t.cores_per_socket, threads = cores ? t.cpus / cores : 0;
  if (threads == 0 || t.cpus % cores) return out;
  specialized_cores(t.sockets, t.cores_per_socket, t.core_spec_count, first).for_each([&](size_t core) {
    out.set_range(core * threads, (core + 1) * threads);
  });
  return out;
}

}  // namespace

NodeSpec to_node_spec(const NodeConfig& node, bool spec_cores_first) {
  const NodeTemplate& t = *node.line;
  NodeSpec s;
  s.name = node.name;
  s.address = node.address();
  s.hostname = node.hostname();
  s.port = node.port;
  s.cpus = t.cpus;
  s.boards = t.boards;
  s.sockets = t.sockets;
  s.cores_per_socket = t.cores_per_socket;
  s.threads_per_core = t.threads_per_core;
  s.real_memory_mb = t.real_memory_mb;
  s.tmp_disk_mb = t.tmp_disk_mb;
  s.weight = t.weight;
  s.features = t.features;
  s.gres_text = t.gres_text;
  if (!t.cpu_spec_list.empty()) Bitmap::parse_ranges(t.cpu_spec_list, s.specialized_cpus);
  s.core_spec_count = t.core_spec_count;
  if (t.core_spec_count) s.specialized_cpus = system_cpus(t, spec_cores_first);
  s.restricted_cores_per_gpu = t.restricted_cores_per_gpu;
  s.specialized_mem_mb = t.mem_spec_limit_mb;
  s.cloud = t.state == "CLOUD";
  s.future = t.state == "FUTURE";
  s.external = t.state == "EXTERNAL";
  s.topology = t.topology;
  s.parameters = t.parameters;
  if (t.suspend_time_seconds) s.suspend_time_seconds = *t.suspend_time_seconds;
  if (t.suspend_never) s.suspend_time_seconds = kUnlimited32;
  s.initial_state = node.state();
  s.initial_reason = node.reason();
  s.tres_weights = t.tres_weights;
  return s;
}

}  // namespace muster::config
