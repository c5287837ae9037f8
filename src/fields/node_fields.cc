// The facts of a node (fact.h): sinfo, scontrol show node, --json of both. sinfo prints lines of several nodes, so a row says which it is:
//
//   column(…)            what the nodes of a line have in common: the value of the first. Nodes that differ stand on lines of their own
//   line_column<K, G>(…) a value of the whole line: a count, or a range over its nodes
//   line_member(…)       in the line of sinfo --json: of the first node, or of the whole line where G is a value of that
#include "fields/node_fields.h"

#include <algorithm>

#include "base/text.h"
#include "fields/node_composites.h"
#include "fields/node_kinds.h"
#include "hostlist/hostlist.h"

namespace muster::fields {
namespace {

using NodeFact = Fact<NodeView, SinfoField>;

// Of a line without nodes documents show a node of which nothing is known.
std::optional<NodeView> node_or_nobody(const SinfoView& v) {
  static const NodeRow nobody;
  return NodeView{v.line.first ? *v.line.first : nobody, v.env};
}
template <auto Get>
constexpr bool kOfLine = std::is_invocable_v<decltype(Get), const SinfoLine&> || std::is_invocable_v<decltype(Get), const SinfoView&>;

template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto column(char letter, std::string_view name, std::string_view header) {
  return column_of<NodeFact, K, Get, node_of>(letter, name, header).split(Split::kAlways);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto line_column(char letter, std::string_view name, std::string_view header) {
  return column_of<NodeFact, K, Get>(letter, name, header);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto shown(std::string_view key, At place) {
  return shown_of<NodeFact, K, Get>(key, place);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<NodeFact, K, Get>(key, place);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto line_member(std::string_view key, uint16_t place) {
  if constexpr (kOfLine<Get>) return second_of<NodeFact, K, Get>(key, place);
  else return second_of<NodeFact, K, Get, node_or_nobody>(key, place);
}

using Row = NodeRow;
using Line = SinfoLine;

std::string node_list(const SinfoLine& line) {
  std::vector<std::string> names;
  names.reserve(line.nodes.size());
  for (const NodeRow* node : line.nodes) names.push_back(node->name);
  return compress_hosts_sorted(names);
}
size_t node_count(const SinfoLine& line) { return line.nodes.size(); }
std::string_view host(const Row& row) { return row.hostname.empty() ? row.name : row.hostname; }
std::string_view address(const Row& row) { return row.address.empty() ? row.name : row.address; }

void put_state(const SinfoView& view, std::string& out, bool compact) {
  const NodeRow* node = view.line.first;
  if (!node) {
    out += "n/a";
    return;
  }
  const NodeStateText text = node_state_text(node->state, node->flags, node->has_jobs);
  put(out, compact ? text.code : text.base);
  if (text.suffix) out += text.suffix;
}
void state_short(const SinfoView& view, std::string& out) { put_state(view, out, true); }
void state_word(const SinfoView& view, std::string& out) { put_state(view, out, false); }
int64_t state_order(const SinfoView& view) { return view.line.first ? node_state_order(*view.line.first) : -1; }
std::string state(const Row& row) { return node_state_long(row.state, row.flags); }
std::string_view state_after_reboot(const Row& row) { return row.next_state == "RESUME" ? "IDLE" : std::string_view(row.next_state); }

uint32_t cpus_in_use(const Row& row) { return std::min(row.cpus_allocated, row.cpus); }
uint32_t cpus_idle(const Row& row) { return row.cpus - cpus_in_use(row); }
uint32_t cores_per_gpu(const Row& row) {  // 1 of "1(0,4)"
  return parse_number<uint32_t>(std::string_view(row.restricted_cores).substr(0, row.restricted_cores.find('('))).value_or(0);
}
void sockets_cores_threads(const SinfoView& view, std::string& out) {
  std::string_view colon;
  for (const Extent& extent : {view.line.sockets, view.line.cores, view.line.threads}) {
    out += colon;
    if (Least::empty(extent)) out += Least::kColumnNone;
    else Least::column(out, extent, view.env);
    colon = ":";
  }
}

std::optional<UserNamed> owner(const Row& row) { return row.owned ? std::optional<UserNamed>({row.owner, ""}) : std::nullopt; }
std::optional<UserNamed> who_said_why(const Row& row) {
  return row.reason_time == kTimeUnset ? std::nullopt : std::optional<UserNamed>({row.reason_uid, ""});
}
struct SomeoneWithUid : Someone {
  static void column(std::string& out, const std::optional<UserNamed>& user, const Environment& env) { shown(out, user, env); }
};
bool has_reason(const NodeView& view) { return !view.row.reason.empty(); }
bool has_instance(const NodeView& view) { return !view.row.instance_id.empty() || !view.row.instance_type.empty(); }
const std::string& cluster(const NodeView& view) { return view.env.cluster; }
const std::string& line_cluster(const SinfoView& view) { return view.env.cluster; }

// What Muster's nodes do not have.
constexpr std::string_view no_text(const Row&) { return {}; }
constexpr std::string_view not_known(const Row&) { return "N/A"; }
constexpr int64_t zero(const Row&) { return 0; }
constexpr std::optional<uint64_t> no_number(const Row&) { return {}; }
constexpr Time never(const Row&) { return kTimeUnset; }

// A node without the counters that are asked for prints n/s, as scontrol(1) has it.
template <auto Member>
int64_t energy_number(const Row& row) {
  return row.energy ? static_cast<int64_t>((*row.energy).*Member) : 0;
}
template <auto Member>
std::string watts_text(const Row& row) {
  return row.energy && !row.energy->supported ? "n/s" : std::to_string(energy_number<Member>(row));
}
std::string watts_now(const Row& row) { return watts_text<&NodeEnergy::watts_now>(row); }
std::string watts_average(const Row& row) { return watts_text<&NodeEnergy::watts_average>(row); }
std::optional<uint64_t> known_watts(const Row& row) {
  return row.energy && row.energy->supported ? std::optional<uint64_t>(row.energy->watts_now) : std::nullopt;
}
int64_t energy_sampled(const Row& row) { return row.energy && row.energy->supported ? unix_seconds(row.energy->sampled) : 0; }

// In the order of sinfo's columns.
constexpr NodeFact kFacts[] = {
    field<Text, &Row::name>("Nodes", line_column<Text, node_list>('N', "NodeList", "NODELIST").cut(kWideHeader).none(""),
                            shown("NodeName", at(10, 10)).none(""), member("name", 360)),
    field<Text, host>("Host names of the nodes", column<Text, &Row::hostname>('n', "NodeHost", "HOSTNAMES").cut(kWideHeader).none(""),
                      shown("NodeHostName", at(80, 20)).none(""), member("hostname", 390)),
    field<Text, address>("Addresses of the nodes", column<Text, &Row::address>('o', "NodeAddr", "NODE_ADDR").cut(kWideHeader).none(""),
                         shown("NodeAddr", at(80, 10)).none(""), member("address", 380)),
    composite("Number of nodes", line_column<Number, node_count>('D', "Nodes", "NODES"),
              line_member("nodes", 30).written(Shape::kObject, json_line_nodes)),
    composite("Nodes allocated/idle", line_column<AllocatedIdle, &Line::node_counts>('A', "NodeAI", "NODES(A/I)")),
    composite("Nodes allocated/idle/other/total", line_column<Counts, &Line::node_counts>('F', "NodeAIOT", "NODES(A/I/O/T)")),
    composite("State, short", line_column('t', "StateCompact", "STATE").written(state_short).order(state_order).split(Split::kAlways)),
    composite("State", line_column('T', "StateLong", "STATE").written(state_word).order(state_order).split(Split::kAlways)),
    field<StateWords, state>("State with all flags", column(0, "StateComplete", "STATECOMPLETE").order(state_order),
                             shown("State", at(120, 10)), member("state", 400),
                             line_member("node.state", 20).written(Shape::kTexts, json_line_state)),
    field<Number, &Row::cpus_allocated>("CPUs allocated/idle/other/total",
                                        line_column<Counts, &Line::cpu_counts>('C', "CPUsState", "CPUS(A/I/O/T)"),
                                        shown("CPUAlloc", at(20, 10)), member<Number, cpus_in_use>("alloc_cpus", 540)),
    field<Number, &Row::cpus>("CPUs of a node", line_column<Least, &Line::cpus>('c', "CPUs", "CPUS").split(Split::kExact),
                              shown("CPUTot", at(20, 30)), member("cpus", 130),
                              line_member("cpus", 40).written(Shape::kObject, json_line_cpus)),
    field<Number, &Row::sockets>("Sockets of a node", line_column<Least, &Line::sockets>('X', "Sockets", "SOCKETS").split(Split::kExact),
                                 shown("Sockets", at(100, 40)), member("sockets", 590), line_member<Least, &Line::sockets>("sockets", 50)),
    field<Number, &Row::cores_per_socket>("Cores of a socket", line_column<Least, &Line::cores>('Y', "Cores", "CORES").split(Split::kExact),
                                          shown("CoresPerSocket", at(10, 30)).then(" "), member("cores", 80),
                                          line_member<Least, &Line::cores>("cores", 60)),
    field<Number, &Row::threads_per_core>(
        "Threads of a core", line_column<Least, &Line::threads>('Z', "Threads", "THREADS").split(Split::kExact),
        shown("ThreadsPerCore", at(120, 20)), member("threads", 600), line_member<Least, &Line::threads>("threads", 70)),
    composite("Sockets, cores and threads",
              line_column('z', "SocketCoreThread", "S:C:T").written(sockets_cores_threads).split(Split::kExact)),
    field<Number, &Row::real_memory_mb>(
        "Memory of a node, MiB", line_column<Least, &Line::memory_mb>('m', "Memory", "MEMORY").split(Split::kExact),
        shown("RealMemory", at(100, 10)), member("real_memory", 450), line_member("memory", 90).written(Shape::kObject, json_line_memory)),
    field<Number, &Row::tmp_disk_mb>(
        "Temporary disk of a node, MiB", line_column<Least, &Line::disk_mb>('d', "Disk", "TMP_DISK").split(Split::kExact),
        shown("TmpDisk", at(120, 30)), member("temporary_disk", 610), line_member<Least, &Line::disk_mb>("disk", 80)),
    field<Number, &Row::weight>("Scheduling weight", line_column<Least, &Line::weight>('w', "Weight", "WEIGHT").split(Split::kExact),
                                shown("Weight", at(120, 40)), member("weight", 620), line_member<Least, &Line::weight>("weight", 100)),
    field<Load, &Row::cpu_load>("Load as the system reports it",
                                line_column<Between<Load>, &Line::load>('O', "CPUsLoad", "CPU_LOAD").split(Split::kExact),
                                shown("CPULoad", at(20, 40)), member("cpu_load", 110)),
    field<FreeMb, &Row::free_mem_mb>("Free memory as the system reports it, MiB",
                                     line_column<Between<FreeMb>, &Line::free_mem_mb>('e', "FreeMem", "FREE_MEM").split(Split::kExact),
                                     shown("FreeMem", at(100, 30)), member("free_mem", 120)),
    field<Number, &Row::mem_allocated_mb>("Memory of a node held by jobs, MiB", column(0, "AllocMem", "ALLOCMEM"),
                                          shown("AllocMem", at(100, 20)), member("alloc_memory", 530)),
    field<List, &Row::features>("Features", column('f', "Features", "AVAIL_FEATURES"), shown("AvailableFeatures", at(30, 10)),
                                member("features", 250), line_member<JoinedList, &Row::features>("features.total", 110)),
    field<List, &Row::features_active>("Features in force", column('b', "features_act", "ACTIVE_FEATURES"),
                                       shown("ActiveFeatures", at(40, 10)), member("active_features", 260),
                                       line_member<JoinedList, &Row::features_active>("features.active", 120)),
    field<Text, &Row::gres>("Generic resources", column('G', "Gres", "GRES"), shown("Gres", at(50, 10)), member("gres", 280),
                            line_member("gres.total", 130)),
    field<Text, &Row::gres_used>("Generic resources in use", column(0, "GresUsed", "GRES_USED"), shown("GresUsed", at(70, 10)).details(),
                                 member("gres_used", 300), line_member("gres.used", 140)),
    field<Text, &Row::reason>("Why they are unavailable", column('E', "Reason", "REASON").none("none"),
                              shown("Reason", at(200, 10)).when(has_reason).written(show_reason), member("reason", 480),
                              line_member("reason.description", 190)),
    field<Moment, &Row::reason_time>("When the reason was given", column('H', "TimeStamp", "TIMESTAMP").none("Unknown").by_text(),
                                     member("reason_changed_at", 490), line_member("reason.time", 200)),
    field<Someone, who_said_why>("Who gave the reason", column('u', "User", "USER").none("Unknown"), member("reason_set_by_user", 500),
                                 line_member("reason.user", 210)),
    field<SomeoneWithUid, who_said_why>("Who gave the reason, with uid", column('U', "UserLong", "USER").none("Unknown")),
    field<Text, &Row::version>("Version of slurmd", column('v', "Version", "VERSION").none("N/A"), shown("Version", at(80, 40)).if_any(" "),
                               member("version", 650)),
    field<Text, &Row::comment>("Comment", column(0, "Comment", "COMMENT"), shown("Comment", at(210, 10)).if_any(), member("comment", 470),
                               line_member("comment", 170)),
    field<Text, &Row::extra>("Text of the site", column(0, "Extra", "EXTRA"), shown("Extra", at(230, 10)).if_any(), member("extra", 230),
                             line_member("extra", 180)),
    field<Number, &Row::port>("Port of slurmd on the first node", column(0, "Port", "PORT").split(Split::kNever), shown("Port", at(80, 30)),
                              member("port", 440), line_member("port", 10)),
    field<Text, &Row::reservation>("Reservation that has the nodes", column('i', "", "RESERVATION").none(""), member("reservation", 520),
                                   line_member("reservation", 220)),
    // without a column
    field<Text, &Row::arch>("Architecture", shown("Arch", at(10, 20)).if_any(), member("architecture", 10)),
    field<Text, &Row::os>("Operating system", shown("OS", at(90, 10)).if_any().then(" "), member("operating_system", 410)),
    field<Number, &Row::boards>("Boards", shown("Boards", at(100, 50)), member("boards", 30)),
    field<Number, &Row::cpus_effective>("CPUs that jobs can get", shown("CPUEfctv", at(20, 20)), member("effective_cpus", 140)),
    field<Number, cpus_idle>("CPUs that no job holds", member("alloc_idle_cpus", 550)),
    field<Asked, &Row::core_spec_count>("Cores kept for the system", shown("CoreSpecCount", at(110, 10)).if_any(),
                                        member<Number>("specialized_cores", 90)),
    field<Text, &Row::cpu_spec_list>("CPUs kept for the system", shown("CPUSpecList", at(110, 20)).if_any(),
                                     member("specialized_cpus", 150)),
    field<Asked, &Row::mem_spec_mb>("Memory kept for the system, MiB", shown("MemSpecLimit", at(110, 30)).if_any(),
                                    member<Number>("specialized_memory", 350)),
    field<Text, &Row::restricted_cores>("Cores kept for jobs with GPUs", shown("RestrictedCoresPerGPU", at(110, 40)).if_any(),
                                        member<Number, cores_per_gpu>("res_cores_per_gpu", 460)),
    field<Someone, owner>("The user it is kept for", shown("Owner", at(120, 50)).none("N/A"), member("owner", 420)),
    field<Text, &Row::mcs_label>("The security label it is kept for", shown("MCS_label", at(120, 60)).none("N/A"),
                                 member("mcs_label", 340)),
    field<Text, &Row::next_state>("State after the reboot", shown("NextState", at(130, 10)).if_any(),
                                  member<Words, state_after_reboot>("next_state_after_reboot", 370)),
    field<List, &Row::partitions>("Partitions it is in", shown("Partitions", at(140, 10)).if_any().then(" "), member("partitions", 430)),
    field<Moment, &Row::boot_time>("When the system began", shown("BootTime", at(150, 10)).none("None"), member("boot_time", 40)),
    field<Moment, &Row::slurmd_start>("When slurmd began", shown("SlurmdStartTime", at(150, 20)).none("None"),
                                      member("slurmd_start_time", 580)),
    field<Moment, &Row::last_busy>("When it last ran a job", shown("LastBusyTime", at(160, 10)), member("last_busy", 330)),
    field<Moment, &Row::resume_after>("When it comes back by itself", shown("ResumeAfterTime", at(160, 20)).none("None"),
                                      member("resume_after", 510)),
    field<Amounts, &Row::tres_configured>("TRES it has", shown("CfgTRES", at(170, 10)).none(""), member("tres", 640)),
    field<Amounts, &Row::tres_allocated>("TRES that jobs hold", shown("AllocTRES", at(180, 10)).none(""), member("tres_used", 560)),
    field<Text, &Row::instance_id>("Instance of the cloud", shown("InstanceId", at(220, 10)).when(has_instance),
                                   member("instance_id", 310)),
    field<Text, &Row::instance_type>("Its type in the cloud", shown("InstanceType", at(220, 20)).when(has_instance),
                                     member("instance_type", 320)),
    field<Text, cluster>("The cluster", member("cluster_name", 70), line_member<Text, line_cluster>("cluster", 160)),
    composite("The partition that the line is of", line_member("partition", 150).written(Shape::kObject, json_line_partition)),
    field<Text, watts_now>("Watts now", shown("CurrentWatts", at(190, 10)), member<Quantity, known_watts>("energy.current_watts", 190)),
    field<Text, watts_average>("Watts on average", shown("AveWatts", at(190, 20)),
                               member<Number, energy_number<&NodeEnergy::watts_average>>("energy.average_watts", 160)),
    field<Number, energy_number<&NodeEnergy::joules>>("Energy since the last start", member("energy.consumed_energy", 180)),
    field<Number, energy_number<&NodeEnergy::joules_before>>("Energy at the last reading but one",
                                                             member("energy.previous_consumed_energy", 200)),
    field<Number, energy_sampled>("When energy was read last", member("energy.last_collected", 210)),
    // what Slurm has and Muster does not
    absent_field<Text, not_known>("", "GRES that drain", shown("GresDrain", at(60, 10)).details(), member("gres_drained", 290)),
    absent_field<Number, zero>("energy before the last start", "Energy at the last start", member("energy.base_consumed_energy", 170)),
    absent_field<Text, no_text>("", "Address of burst buffers", member("burstbuffer_network_address", 20)),
    absent_field<Moment, never>("", "When the certificate was renewed", member("tls_cert_last_renewal", 50)),
    absent_field<Text, no_text>("", "Flags of the certificate", member("cert_flags", 60).written(Shape::kTexts, json_no_names)),
    absent_field<Number, zero>("", "How tasks are bound where nobody asks", member("cpu_binding", 100)),
    absent_field<Text, no_text>("", "Sensors of the node", member("external_sensors", 220).written(Shape::kObject, json_empty_object)),
    absent_field<Text, no_text>("", "Power of the node", member("power", 240).written(Shape::kObject, json_empty_object)),
    absent_field<Text, no_text>("", "CPUs kept for GPUs", member("gpu_spec", 270)),
    absent_field<Text, no_text>("", "Weighted TRES in use", member("tres_weighted", 570).written(Shape::kReal, json_no_weight)),
    absent_field<Text, no_text>("", "Where it stands in the topology", member("topology", 630)),
};

constexpr std::array<std::span<const NodeFact>, 1> kSubjects = {kFacts};
constexpr auto kColumns = columns_of<kSubjects>();
constexpr auto kRecord = in_order<kSubjects, &NodeFact::shown>();
constexpr auto kObject = in_order<kSubjects, &NodeFact::member>();
constexpr auto kLine = in_order<kSubjects, &NodeFact::second>();

}  // namespace

std::span<const SinfoField> sinfo_node_fields() { return kColumns; }
ShownRecord<NodeView> node_record() { return record_of<NodeView, kRecord>(); }
DocumentObject<NodeView> node_object() { return object_of<NodeView, kObject>(); }
DocumentObject<SinfoView> sinfo_object() { return object_of<SinfoView, kLine>(); }

}  // namespace muster::fields
