// sinfo's fields of nodes: those of the whole line (counts, ranges, list) and those that the line's nodes have in common.
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "fields/field_table.h"
#include "fields/sinfo_view.h"
#include "fields/values.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

using V = const SinfoView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
constexpr Split kApart = Split::kAlways;
constexpr Split kExact = Split::kExact;

// Prints a value that all nodes of the line share; nothing when the line has no nodes.
template <auto F>
void of_nodes(V v, S o) {
  if (v.line.first) F(*v.line.first, v.env, o);
}

void least(S o, const Extent& e) {
  if (e.min > e.max) {
    o += '0';
    return;
  }
  put_number(o, e.min);
  if (e.max > e.min) o += '+';
}
int64_t least_order(const Extent& e) { return e.min > e.max ? 0 : static_cast<int64_t>(e.min); }

void counts(S o, const StateCounts& c) {
  put_number(o, c.allocated);
  o += '/';
  put_number(o, c.idle);
  o += '/';
  put_number(o, c.other);
  o += '/';
  put_number(o, c.total());
}

void load(S o, uint64_t hundredths) {
  if (hundredths >= 0xfffffffeu) {
    o += "N/A";
    return;
  }
  char text[32];
  int n = std::snprintf(text, sizeof text, "%.2f", static_cast<double>(hundredths) / 100.0);
  o.append(text, static_cast<size_t>(n));
}
void memory(S o, uint64_t mb) {
  if (mb >= 0xfffffffffffffffeull) o += "N/A";
  else put_number(o, mb);
}
template <auto F>
void between(S o, const Extent& e) {
  if (e.min > e.max) {
    o += "N/A";
    return;
  }
  F(o, e.min);
  if (e.max == e.min) return;
  o += '-';
  F(o, e.max);
}

std::string node_list(const SinfoLine& line) {
  std::vector<std::string> names;
  names.reserve(line.nodes.size());
  for (const NodeRow* n : line.nodes) names.push_back(n->name);
  return compress_hosts_sorted(names);
}

void state_text(V v, S o, bool compact) {
  if (!v.line.first) {
    o += "n/a";
    return;
  }
  NodeStateText t = node_state_text(v.line.first->state, v.line.first->flags, v.line.first->has_jobs);
  put(o, compact ? t.code : t.base);
  if (t.suffix) o += t.suffix;
}
void state_complete(const NodeRow& n, const Environment&, S o) { put(o, to_lower(node_state_long(n.state, n.flags))); }
int64_t state_order(V v) { return v.line.first ? node_state_order(*v.line.first) : -1; }

void reason_user_long(const NodeRow& n, const Environment& env, S o) {
  put(o, reason_owner(n, env));
  if (n.reason_time == kTimeUnset) return;
  o += '(';
  put_number(o, n.reason_uid.value);
  o += ')';
}

using N = const NodeRow&;
using E = const Environment&;

constexpr SinfoField kFields[] = {
    {'N', "NodeList", "", "NODELIST", kWideHeader, kWorks, "Nodes", [](V v, S o) { put(o, node_list(v.line)); }},
    {'n', "NodeHost", "", "HOSTNAMES", kWideHeader, kWorks, "Host names of the nodes", of_nodes<[](N n, E, S o) { put(o, n.hostname); }>,
     nullptr, kApart},
    {'o', "NodeAddr", "", "NODE_ADDR", kWideHeader, kWorks, "Addresses of the nodes", of_nodes<[](N n, E, S o) { put(o, n.address); }>,
     nullptr, kApart},
    {'D', "Nodes", "", "NODES", 0, kWorks, "Number of nodes", [](V v, S o) { put_number(o, v.line.nodes.size()); },
     [](V v) { return static_cast<int64_t>(v.line.nodes.size()); }},
    {'A', "NodeAI", "", "NODES(A/I)", 0, kWorks, "Nodes allocated/idle",
     [](V v, S o) {
       put_number(o, v.line.node_counts.allocated);
       o += '/';
       put_number(o, v.line.node_counts.idle);
     },
     [](V v) { return int64_t{v.line.node_counts.allocated}; }},
    {'F', "NodeAIOT", "", "NODES(A/I/O/T)", 0, kWorks, "Nodes allocated/idle/other/total", [](V v, S o) { counts(o, v.line.node_counts); },
     [](V v) { return int64_t{v.line.node_counts.allocated}; }},
    {'t', "StateCompact", "", "STATE", 0, kWorks, "State, short", [](V v, S o) { state_text(v, o, true); }, state_order, kApart},
    {'T', "StateLong", "", "STATE", 0, kWorks, "State", [](V v, S o) { state_text(v, o, false); }, state_order, kApart},
    {0, "StateComplete", "", "STATECOMPLETE", 0, kWorks, "State with all flags", of_nodes<state_complete>, state_order, kApart},
    {'C', "CPUsState", "", "CPUS(A/I/O/T)", 0, kWorks, "CPUs allocated/idle/other/total", [](V v, S o) { counts(o, v.line.cpu_counts); },
     [](V v) { return int64_t{v.line.cpu_counts.allocated}; }},
    {'c', "CPUs", "", "CPUS", 0, kWorks, "CPUs of a node", [](V v, S o) { least(o, v.line.cpus); },
     [](V v) { return least_order(v.line.cpus); }, kExact},
    {'X', "Sockets", "", "SOCKETS", 0, kWorks, "Sockets of a node", [](V v, S o) { least(o, v.line.sockets); },
     [](V v) { return least_order(v.line.sockets); }, kExact},
    {'Y', "Cores", "", "CORES", 0, kWorks, "Cores of a socket", [](V v, S o) { least(o, v.line.cores); },
     [](V v) { return least_order(v.line.cores); }, kExact},
    {'Z', "Threads", "", "THREADS", 0, kWorks, "Threads of a core", [](V v, S o) { least(o, v.line.threads); },
     [](V v) { return least_order(v.line.threads); }, kExact},
    {'z', "SocketCoreThread", "", "S:C:T", 0, kWorks, "Sockets, cores and threads",
     [](V v, S o) {
       least(o, v.line.sockets);
       o += ':';
       least(o, v.line.cores);
       o += ':';
       least(o, v.line.threads);
     },
     nullptr, kExact},
    {'m', "Memory", "", "MEMORY", 0, kWorks, "Memory of a node, MiB", [](V v, S o) { least(o, v.line.memory_mb); },
     [](V v) { return least_order(v.line.memory_mb); }, kExact},
    {'d', "Disk", "", "TMP_DISK", 0, kWorks, "Temporary disk of a node, MiB", [](V v, S o) { least(o, v.line.disk_mb); },
     [](V v) { return least_order(v.line.disk_mb); }, kExact},
    {'w', "Weight", "", "WEIGHT", 0, kWorks, "Scheduling weight", [](V v, S o) { least(o, v.line.weight); },
     [](V v) { return least_order(v.line.weight); }, kExact},
    {'O', "CPUsLoad", "", "CPU_LOAD", 0, kWorks, "Load as the system reports it", [](V v, S o) { between<load>(o, v.line.load); },
     [](V v) { return least_order(v.line.load); }, kExact},
    {'e', "FreeMem", "", "FREE_MEM", 0, kWorks, "Free memory as the system reports it, MiB",
     [](V v, S o) { between<memory>(o, v.line.free_mem_mb); }, [](V v) { return least_order(v.line.free_mem_mb); }, kExact},
    {0, "AllocMem", "", "ALLOCMEM", 0, kWorks, "Memory of a node held by jobs, MiB",
     of_nodes<[](N n, E, S o) { put_number(o, n.mem_allocated_mb); }>, nullptr, kApart},
    {'f', "Features", "", "AVAIL_FEATURES", 0, kWorks, "Features", of_nodes<[](N n, E, S o) { put_or(o, join(n.features, ",")); }>, nullptr,
     kApart},
    {'b', "features_act", "", "ACTIVE_FEATURES", 0, kWorks, "Features in force",
     of_nodes<[](N n, E, S o) { put_or(o, join(n.features_active, ",")); }>, nullptr, kApart},
    {'G', "Gres", "", "GRES", 0, kWorks, "Generic resources", of_nodes<[](N n, E, S o) { put_or(o, n.gres); }>, nullptr, kApart},
    {0, "GresUsed", "", "GRES_USED", 0, kWorks, "Generic resources in use", of_nodes<[](N n, E, S o) { put_or(o, n.gres_used); }>, nullptr,
     kApart},
    {'E', "Reason", "", "REASON", 0, kWorks, "Why they are unavailable", of_nodes<[](N n, E, S o) { put_or(o, n.reason, "none"); }>,
     nullptr, kApart},
    {'H', "TimeStamp", "", "TIMESTAMP", 0, kWorks, "When the reason was given",
     of_nodes<[](N n, E e, S o) { put_time(o, n.reason_time, e, "Unknown"); }>, nullptr, kApart},
    {'u', "User", "", "USER", 0, kWorks, "Who gave the reason", of_nodes<[](N n, E e, S o) { put(o, reason_owner(n, e)); }>, nullptr,
     kApart},
    {'U', "UserLong", "", "USER", 0, kWorks, "Who gave the reason, with uid", of_nodes<reason_user_long>, nullptr, kApart},
    {'v', "Version", "", "VERSION", 0, kWorks, "Version of slurmd", of_nodes<[](N n, E, S o) { put_or(o, n.version, "N/A"); }>, nullptr,
     kApart},
    {0, "Comment", "", "COMMENT", 0, kWorks, "Comment", of_nodes<[](N n, E, S o) { put_or(o, n.comment); }>, nullptr, kApart},
    {0, "Extra", "", "EXTRA", 0, kWorks, "Text of the site", of_nodes<[](N n, E, S o) { put_or(o, n.extra); }>, nullptr, kApart},
    {0, "Port", "", "PORT", 0, kWorks, "Port of slurmd on the first node", of_nodes<[](N n, E, S o) { put_number(o, n.port); }>},
    {'i', "", "", "RESERVATION", 0, kWorks, "Reservation that has the nodes", of_nodes<[](N n, E, S o) { put(o, n.reservation); }>, nullptr,
     kApart},
};

}  // namespace

std::span<const SinfoField> sinfo_node_fields() { return kFields; }

}  // namespace muster::fields
