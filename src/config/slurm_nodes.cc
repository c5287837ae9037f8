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
void derive_shape(const Record& record, NodeTemplate& line, Findings& findings) {
  line.cpus_given = record.has("CPUs");
  line.topology_given = record.has("Boards") || record.has("Sockets") || record.has("SocketsPerBoard") || record.has("CoresPerSocket") ||
                        record.has("ThreadsPerCore");
  line.boards = count_of(record, "Boards", 1);
  line.cores_per_socket = count_of(record, "CoresPerSocket", 1);
  line.threads_per_core = count_of(record, "ThreadsPerCore", 1);
  bool per_board = record.has("SocketsPerBoard");
  if (per_board && record.has("Sockets"))
    findings.odd(record.pos("SocketsPerBoard"), "SocketsPerBoard", "cannot be combined with Sockets", "SocketsPerBoard counts",
                 "remove one of the two");
  uint64_t per_socket = uint64_t{line.cores_per_socket} * line.threads_per_core;
  uint64_t cpus = line.cpus_given ? count_of(record, "CPUs", 1) : 0;
  uint64_t sockets = line.boards;
  if (per_board) sockets = uint64_t{count_of(record, "SocketsPerBoard", 1)} * line.boards;
  else if (record.has("Sockets")) sockets = uint64_t{count_of(record, "Sockets", 1)} * line.boards;
  else if (line.cpus_given && cpus >= per_socket) sockets = std::max<uint64_t>(cpus / per_socket, line.boards);
  uint64_t cores = sockets * line.cores_per_socket, threads = cores * line.threads_per_core;
  if (threads > (1u << 20)) {
    findings.error(record.where(), "CoresPerSocket",
                   "the line describes a node of " + std::to_string(threads) + " CPUs, more than " + std::to_string(1u << 20));
    return;
  }
  line.sockets = static_cast<uint32_t>(sockets);
  if (!line.cpus_given) cpus = threads;
  if (cpus != sockets && cpus != cores && cpus != threads) {
    findings.notice(record.pos("CPUs"), "CPUs",
                    std::to_string(cpus) + " is neither the sockets (" + std::to_string(sockets) + "), the cores (" +
                        std::to_string(cores) + ") nor the threads (" + std::to_string(threads) + ") of the node; " +
                        std::to_string(threads) + " is taken",
                    "leave CPUs out, or correct Sockets, CoresPerSocket, ThreadsPerCore");
    cpus = threads;
  }
  line.cpus = static_cast<uint32_t>(cpus);
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

void check_gres_names(const Record& record, NodeTemplate& line, const Config& config, Findings& findings) {
  auto is_known = [&](const GresItem& item) { return std::ranges::find(config.gres_types, item.name) != config.gres_types.end(); };
  for (const GresItem& item : line.gres) {
    if (is_known(item)) continue;
    std::vector<std::string_view> known(config.gres_types.begin(), config.gres_types.end());
    std::string_view near = did_you_mean(item.name, known);
    findings.odd(record.pos("Gres"), "Gres", "\"" + item.name + "\" is not in GresTypes", "no job can ask for it",
                 near.empty() ? "add it: GresTypes=" + (known.empty() ? "" : join(config.gres_types, ",") + ",") + item.name
                              : "did you mean " + std::string(near) + "?");
  }
  if (std::ranges::all_of(line.gres, is_known)) return;
  std::erase_if(line.gres, [&](const GresItem& item) { return !is_known(item); });
  line.gres_text = GresItems{line.gres}.text();
}

// The cores and CPUs that a node keeps for the system must leave some for jobs.
void check_specialized(const Record& record, NodeTemplate& line, Findings& findings) {
  if (!line.cpu_spec_list.empty()) {
    Bitmap cpus;
    if (!Bitmap::parse_ranges(line.cpu_spec_list, cpus)) {
      findings.odd(record.pos("CpuSpecList"), "CpuSpecList", "must be CPU numbers such as 0-1,8", "no CPUs are kept for the system");
      line.cpu_spec_list.clear();
    } else if (line.core_spec_count) {
      findings.odd(record.pos("CpuSpecList"), "CpuSpecList", "cannot be combined with CoreSpecCount", "CpuSpecList counts",
                   "remove one of the two");
      line.core_spec_count = 0;
    }
  }
  if (line.mem_spec_limit_mb && line.mem_spec_limit_mb >= line.real_memory_mb) {
    findings.odd(record.pos("MemSpecLimit"), "MemSpecLimit", "must be less than RealMemory (" + std::to_string(line.real_memory_mb) + ")",
                 "no memory is kept for the system");
    line.mem_spec_limit_mb = 0;
  }
  const uint32_t cores = line.sockets * line.cores_per_socket;
  if (line.core_spec_count && line.core_spec_count >= cores) {
    findings.odd(record.pos("CoreSpecCount"), "CoreSpecCount", "must be less than the number of cores (" + std::to_string(cores) + ")",
                 cores > 1 ? "1 is taken" : "none is kept for the system");
    line.core_spec_count = cores > 1 ? 1 : 0;
  }
}

std::shared_ptr<const NodeTemplate> make_template(const Record& record, const Config& config, Findings& findings) {
  auto line = std::make_shared<NodeTemplate>();
  line->where = record.where();
  derive_shape(record, *line, findings);
  line->real_memory_mb = record.mem_mb("RealMemory").value_or(1);
  line->tmp_disk_mb = record.mem_mb("TmpDisk").value_or(0);
  line->mem_spec_limit_mb = record.mem_mb("MemSpecLimit").value_or(0);
  line->weight = count_of(record, "Weight", 1);
  line->core_spec_count = count_of(record, "CoreSpecCount", 0);
  line->restricted_cores_per_gpu = count_of(record, "RestrictedCoresPerGPU", 0);
  line->cpu_spec_list = record.text("CpuSpecList");
  for (std::string_view w : split(record.text("Features"), ',')) line->features.emplace_back(trim(w));
  read_gres(record, *line, findings);
  check_gres_names(record, *line, config, findings);
  line->state = upper(record.text("State"));
  if (line->state == "IDLE") line->state = "UNKNOWN";
  line->reason = record.text("Reason");
  line->parameters = record.text("Parameters");
  line->topology = record.text("Topology");
  line->cpu_bind = std::string(record.text("CpuBind"));
  line->tres_weights = record.text("TRESWeights");
  check_weights(record, "TRESWeights", config, findings);
  if (std::optional<int64_t> s = record.number("SuspendTime")) {
    line->suspend_never = *s < 0;
    if (*s >= 0) line->suspend_time_seconds = static_cast<uint32_t>(*s);
  }
  check_specialized(record, *line, findings);
  return line;
}

// The names of a list key such as NodeAddr, as many as there are nodes; empty when not given. `one_for_all`: a single name serves all
// nodes, which makes sense where several slurmd on one host share an address.
std::vector<std::string> in_step(const Record& record, std::string_view key, size_t nodes, bool one_for_all, Findings& findings) {
  std::string_view text = record.text(key);
  if (text.empty()) return {};
  Result<std::vector<std::string>> names = expand_hosts(text);
  if (!names) {
    findings.error(record.pos(key), std::string(key), names.error().text);
    return {};
  }
  if (names->size() == nodes || (one_for_all && names->size() == 1)) return std::move(*names);
  findings.error(record.pos(key), std::string(key),
                 "has " + std::to_string(names->size()) + " names for " + std::to_string(nodes) + " nodes of NodeName",
                 "give one for each node, in the same order");
  return {};
}

std::vector<uint16_t> ports_in_step(const Record& record, size_t nodes, uint16_t otherwise, Findings& findings) {
  std::string_view text = record.text("Port");
  if (text.empty()) return {otherwise};
  Result<std::vector<uint16_t>> ports = expand_ports(text, nodes + 1);
  if (!ports) {
    findings.error(record.pos("Port"), "Port", ports.error().text);
    return {otherwise};
  }
  if (ports->size() != 1 && ports->size() != nodes)
    findings.error(
        record.pos("Port"), "Port",
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

void add_nodes(const Record& record, Config& config, NodeIndex& index, Findings& findings) {
  Result<std::vector<std::string>> names = expand_hosts(record.text("NodeName"));
  if (!names) return findings.error(record.pos("NodeName"), "NodeName", names.error().text);
  if (names->empty()) return findings.error(record.pos("NodeName"), "NodeName", "has no value");
  if (config.nodes.size() + names->size() > kMaxNodes)
    return findings.error(record.pos("NodeName"), "NodeName", "makes more than " + std::to_string(kMaxNodes) + " nodes");
  std::vector<std::string> addresses = in_step(record, "NodeAddr", names->size(), true, findings);
  std::vector<std::string> hostnames = in_step(record, "NodeHostname", names->size(), true, findings);
  std::vector<std::string> bcast = in_step(record, "BcastAddr", names->size(), false, findings);
  std::vector<uint16_t> ports = ports_in_step(record, names->size(), config.slurmd_port, findings);
  if (ports.size() != 1 && ports.size() != names->size()) return;
  std::shared_ptr<const NodeTemplate> line = make_template(record, config, findings);
  if (names->size() > 64) {  // one big line reserves once; many small lines keep the usual doubling
    config.nodes.reserve(config.nodes.size() + names->size());
    index.reserve(config.nodes.size() + names->size());
  }
  for (size_t at = 0; at < names->size(); ++at) {
    NodeConfig node;
    node.name = std::move((*names)[at]);
    if (!is_node_name(node.name)) {
      findings.error(record.pos("NodeName"), "NodeName", "\"" + node.name.substr(0, 60) + "\" is not a node name",
                     "letters, digits, - _ and . make a name");
      return;
    }
    if (iequals(node.name, "ALL")) return findings.error(record.pos("NodeName"), "NodeName", "ALL is reserved: it stands for all nodes");
    if (std::optional<uint32_t> other = index.add(node.name, static_cast<uint32_t>(config.nodes.size()))) {
      findings.error(record.pos("NodeName"), "NodeName", node.name + " is already defined at " + config.nodes[*other].line->where.text());
      continue;
    }
    if (!addresses.empty()) node.given_address = nth(addresses, at);
    if (!hostnames.empty()) node.given_hostname = nth(hostnames, at);
    if (!bcast.empty()) node.bcast_address = bcast[at];
    node.port = nth(ports, at);
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
  const NodeTemplate& line = *node.line;
  NodeSpec spec;
  spec.name = node.name;
  spec.address = node.address();
  spec.hostname = node.hostname();
  spec.port = node.port;
  spec.cpus = line.cpus;
  spec.boards = line.boards;
  spec.sockets = line.sockets;
  spec.cores_per_socket = line.cores_per_socket;
  spec.threads_per_core = line.threads_per_core;
  spec.real_memory_mb = line.real_memory_mb;
  spec.tmp_disk_mb = line.tmp_disk_mb;
  spec.weight = line.weight;
  spec.features = line.features;
  spec.gres_text = line.gres_text;
  if (!line.cpu_spec_list.empty()) Bitmap::parse_ranges(line.cpu_spec_list, spec.specialized_cpus);
  spec.core_spec_count = line.core_spec_count;
  if (line.core_spec_count) spec.specialized_cpus = system_cpus(line, spec_cores_first);
  spec.restricted_cores_per_gpu = line.restricted_cores_per_gpu;
  spec.specialized_mem_mb = line.mem_spec_limit_mb;
  spec.cloud = line.state == "CLOUD";
  spec.future = line.state == "FUTURE";
  spec.external = line.state == "EXTERNAL";
  spec.topology = line.topology;
  spec.parameters = line.parameters;
  if (line.suspend_time_seconds) spec.suspend_time_seconds = *line.suspend_time_seconds;
  if (line.suspend_never) spec.suspend_time_seconds = kUnlimited32;
  spec.initial_state = node.state();
  spec.initial_reason = node.reason();
  spec.tres_weights = line.tres_weights;
  return spec;
}

}  // namespace muster::config
