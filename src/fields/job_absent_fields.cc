// Fields of features that Muster does not have or does not record: each prints what Slurm prints where the feature is not in use, so
// formats that name them go on working. Their status says so.
#include "fields/field_table.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const JobView&;
using S = std::string&;

void none(V, S o) { o += "N/A"; }
void na(V, S o) { o += "NA"; }
void null(V, S o) { o += "(null)"; }
void zero(V, S o) { o += '0'; }

constexpr auto row = absent<JobView>;

constexpr JobField kFields[] = {
    row(0, "AssocID", "ASSOC_ID", "accounting", "Number of the association in the database", zero),
    row(0, "BoardsPerNode", "BOARDS_PER_NODE", "", "Boards per node asked for; no option asks for any", zero),
    row(0, "NTPerBoard", "NTASKS_PER_BOARD", "", "Tasks per board; no option asks for any", zero),
    row(0, "SPerBoard", "SOCKETS_PER_BOARD", "", "Sockets per board; no option asks for any", zero),
    row(0, "BurstBufferState", "BURST_BUFFER_STATE", "burst buffers", "State of the burst buffer", null),
    row(0, "ContainerType", "CONTAINER_TYPE", "OCI containers", "Type of the job container", null),
    row(0, "CronJob", "CRON_JOB", "scrontab", "Whether scrontab made the job", [](V, S o) { o += "No"; }),
    row(0, "HetJobID", "HET_JOB_ID", "heterogeneous jobs", "Leader of the heterogeneous job", none),
    row(0, "HetJobIDSet", "HET_JOB_ID_SET", "heterogeneous jobs", "Ids of its components", none),
    row(0, "HetJobOffset", "HET_JOB_OFFSET", "heterogeneous jobs", "Offset within its components", none),
    row(0, "Origin", "ORIGIN", "federation", "Cluster a federated job came from", na),
    row(0, "OriginRaw", "ORIGIN_RAW", "federation", "Number of that cluster", na),
    row(0, "PreemptTime", "PREEMPT_TIME", "policy", "When it was chosen for preemption", none),
    row(0, "tres-per-step", "TRES_PER_STEP", "", "TRES for a whole step; a job has none, squeue -s shows a step's", none),
    row(0, "SiblingsActive", "ACTIVE_SIBLINGS", "federation", "Clusters with a sibling of a federated job", na),
    row(0, "SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", "federation", "Their numbers", na),
    row(0, "SiblingsViable", "VIABLE_SIBLINGS", "federation", "Clusters that could run a federated job", na),
    row(0, "SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW", "federation", "Their numbers", na),  // Slurm's spelling
};

}  // namespace

std::span<const JobField> job_absent_fields() { return kFields; }

}  // namespace muster::fields
