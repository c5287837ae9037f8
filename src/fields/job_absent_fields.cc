// Fields of features that Muster does not have or does not record: each prints what Slurm prints where the
// feature is not in use, so that formats that name them go on working. The status says so.
#include "fields/field_table.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;
constexpr FieldStatus kConstant = FieldStatus::kConstant;

void none(V, S o) { o += "N/A"; }
void na(V, S o) { o += "NA"; }
void null(V, S o) { o += "(null)"; }
void zero(V, S o) { o += '0'; }

constexpr JobField kFields[] = {
    {'s', "Sluid", "", "SLUID", 0, kConstant, "Sortable unique id; Muster has none", none},
    {0, "AssocID", "", "ASSOC_ID", 0, kConstant, "Number of the association in the database", zero},
    {0, "BoardsPerNode", "", "BOARDS_PER_NODE", 0, kConstant, "Boards per node asked for", zero},
    {0, "NTPerBoard", "", "NTASKS_PER_BOARD", 0, kConstant, "Tasks per board", zero},
    {0, "SPerBoard", "", "SOCKETS_PER_BOARD", 0, kConstant, "Sockets per board", zero},
    {0, "BurstBufferState", "", "BURST_BUFFER_STATE", 0, kConstant, "State of the burst buffer", null},
    {0, "ContainerType", "", "CONTAINER_TYPE", 0, kConstant, "Type of the job container", null},
    {0, "CronJob", "", "CRON_JOB", 0, kConstant, "Whether scrontab made the job", [](V, S o) { o += "No"; }},
    {0, "HetJobID", "", "HET_JOB_ID", 0, kConstant, "Leader of the heterogeneous job", none},
    {0, "HetJobIDSet", "", "HET_JOB_ID_SET", 0, kConstant, "Ids of its components", none},
    {0, "HetJobOffset", "", "HET_JOB_OFFSET", 0, kConstant, "Offset within its components", none},
    {0, "LastSchedEval", "", "LAST_SCHED_EVAL", 0, kConstant, "When the scheduler looked at it last", none},
    {0, "Origin", "", "ORIGIN", 0, kConstant, "Cluster a federated job came from", na},
    {0, "OriginRaw", "", "ORIGIN_RAW", 0, kConstant, "Number of that cluster", na},
    {0, "PreemptTime", "", "PREEMPT_TIME", 0, kConstant, "When it was chosen for preemption", none},
    {0, "ResizeTime", "", "RESIZE_TIME", 0, kConstant, "When its size changed", none},
    {0, "tres-per-step", "", "TRES_PER_STEP", 0, kConstant, "TRES for a whole step; a job has none", none},
    {0, "SiblingsActive", "", "ACTIVE_SIBLINGS", 0, kConstant, "Clusters with a sibling of a federated job",
     na},
    {0, "SiblingsActiveRaw", "", "ACTIVE_SIBLINGS_RAW", 0, kConstant, "Their numbers", na},
    {0, "SiblingsViable", "", "VIABLE_SIBLINGS", 0, kConstant, "Clusters that could run a federated job", na},
    {0, "SiblingsViableRaw", "", "VIALBLE_SIBLINGS_RAW", 0, kConstant, "Their numbers",
     na},  // Slurm's spelling
};

}  // namespace

std::span<const JobField> job_absent_fields() { return kFields; }

}  // namespace muster::fields
