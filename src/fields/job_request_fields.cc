// Fields of what the job asked for besides amounts: partition, features, node lists, dependencies, policies.
#include "fields/field_table.h"
#include "fields/job_values.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

constexpr JobField kFields[] = {
    {'P', "Partition", "", "PARTITION", 0, kWorks, "Partition, or all that were asked for while pending",
     [](V v, S o) { put(o, v.row.partition); }},
    {'f', "Feature", "", "FEATURES", 0, kWorks, "Features required", [](V v, S o) { put_or(o, v.request.features.text()); }},
    {0, "Prefer", "", "PREFER", 0, kWorks, "Features preferred", [](V v, S o) { put_or(o, v.request.prefer.text()); }},
    {0, "ClusterFeature", "", "CLUSTER_FEATURES", 0, kWorks, "Cluster features required",
     [](V v, S o) { put_or(o, v.request.cluster_features); }},
    {'n', "ReqNodes", "", "REQ_NODES", 0, kWorks, "Nodes asked for by name", [](V v, S o) { put(o, v.request.required_nodes.text()); }},
    {'x', "ExcNodes", "", "EXC_NODES", 0, kWorks, "Nodes excluded by name", [](V v, S o) { put(o, v.request.excluded_nodes.text()); }},
    {'E', "Dependency", "", "DEPENDENCY", 0, kWorks, "Dependencies still open", [](V v, S o) { put_or(o, v.row.dependency); }},
    {'v', "Reservation", "", "RESERVATION", 0, kWorks, "Reservation", [](V v, S o) { put_or(o, v.request.reservation); }},
    {'W', "Licenses", "", "LICENSES", 0, kWorks, "Licences asked for", [](V v, S o) { put_or(o, licenses_text(v.request, v.row.tasks)); }},
    {0, "LicensesAlloc", "", "LICENSES_ALLOC", 0, kWorks, "Licences held",
     [](V v, S o) { put_or(o, v.row.state == JobState::kPending ? std::string() : licenses_text(v.request, v.row.tasks)); }},
    {0, "Network", "", "NETWORK", 0, kWorks, "Network asked for", [](V v, S o) { put_or(o, v.request.network); }},
    {'h', "OverSubscribe", "", "OVER_SUBSCRIBE", 0, kWorks, "Whether it may share: YES, NO, OK",
     [](V v, S o) { put(o, oversubscribe_text(v)); }},
    {0, "Exclusive", "", "EXCLUSIVE", 0, kWorks, "What it wants for itself: NO, NODE, USER, MCS, TOPO",
     [](V v, S o) { put(o, exclusive_text(v)); }},
    {'O', "Contiguous", "", "CONTIGUOUS", 0, kWorks, "1 if its nodes must be neighbours",
     [](V v, S o) { put_number(o, v.request.contiguous ? 1 : 0); }},
    {'y', "Nice", "", "NICE", 0, kWorks, "Adjustment of its priority", [](V v, S o) { put_number(o, v.request.nice); },
     [](V v) { return int64_t{v.request.nice}; }},
    {0, "MCSLabel", "", "MCSLABEL", 0, kWorks, "MCS label", [](V v, S o) { put_or(o, v.request.mcs_label); }},
    {0, "Profile", "", "PROFILE", 0, kWorks, "Profile asked for", [](V v, S o) { put_or(o, v.request.profile, "NotSet"); }},
    {0, "Reboot", "", "REBOOT", 0, kWorks, "1 if its nodes are rebooted first", [](V v, S o) { put_number(o, v.request.reboot ? 1 : 0); }},
    {0, "Requeue", "", "REQUEUE", 0, kWorks, "1 if it is requeued when a node fails",
     [](V v, S o) { put_number(o, v.request.requeue == TriState::kNo ? 0 : 1); }},
    {0, "ReqSwitch", "", "REQ_SWITCH", 0, kWorks, "Most switches wanted", [](V v, S o) { put_number(o, v.request.switches); },
     [](V v) { return int64_t{v.request.switches}; }},
    {0, "SegmentSize", "", "SEGMENT_SIZE", 0, kWorks, "Nodes in one segment", [](V v, S o) { put_number_or(o, v.request.segment, "N/A"); }},
    {0, "BurstBuffer", "", "BURST_BUFFER", 0, kWorks, "Burst buffer specification", [](V v, S o) { put_or(o, v.request.burst_buffer); }},
    {0, "tres-bind", "", "TRES_BIND", 0, kWorks, "Binding of tasks to devices", [](V v, S o) { put_or(o, v.request.tres_bind, "N/A"); }},
    {0, "tres-freq", "", "TRES_FREQ", 0, kWorks, "Frequencies of devices", [](V v, S o) { put_or(o, v.request.tres_freq, "N/A"); }},
    {0, "tres-per-job", "", "TRES_PER_JOB", 0, kWorks, "TRES for the whole job",
     [](V v, S o) { put_or(o, v.request.tres_per_job.text(), "N/A"); }},
    {'b', "tres-per-node", "", "TRES_PER_NODE", 0, kWorks, "TRES on every node",
     [](V v, S o) { put_or(o, v.request.tres_per_node.text(), "N/A"); }},
    {0, "tres-per-socket", "", "TRES_PER_SOCKET", 0, kWorks, "TRES on every socket",
     [](V v, S o) { put_or(o, v.request.tres_per_socket.text(), "N/A"); }},
    {0, "tres-per-task", "", "TRES_PER_TASK", 0, kWorks, "TRES for every task",
     [](V v, S o) { put_or(o, tres_per_task_text(v.request), "N/A"); }},
};

}  // namespace

std::span<const JobField> job_request_fields() { return kFields; }

}  // namespace muster::fields
