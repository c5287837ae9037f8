// Facts of features that Muster does not have or does not record: each prints what Slurm prints where the feature is not in use, so
// formats and programs that name them go on working. Their status says so. Included by job_fields.cc alone.
#pragma once

#include "fields/job_composites.h"
#include "fields/job_fact.h"

namespace muster::fields::missing {

inline std::string_view no_text(const JobRow&) { return {}; }
inline uint32_t zero(const JobRow&) { return 0; }

constexpr JobFact text(std::string_view needs, std::string_view doc, auto... forms) {
  return absent_field<Text, no_text>(needs, doc, forms...);
}
constexpr JobFact number(std::string_view needs, std::string_view doc, auto... forms) {
  return absent_field<Number, zero>(needs, doc, forms...);
}

constexpr JobFact kFacts[] = {
    number("accounting", "Number of the association in the database", column(0, "AssocID", "ASSOC_ID"), member("association_id", 90)),
    number("", "Boards per node asked for; no option asks for any", column(0, "BoardsPerNode", "BOARDS_PER_NODE")),
    number("", "Tasks per board; no option asks for any", column(0, "NTPerBoard", "NTASKS_PER_BOARD"),
           member<Quantity>("tasks_per_board", 740)),
    number("", "Sockets per board; no option asks for any", column(0, "SPerBoard", "SOCKETS_PER_BOARD"), member("sockets_per_board", 1050)),
    text("burst buffers", "State of the burst buffer", column(0, "BurstBufferState", "BURST_BUFFER_STATE"),
         member("burst_buffer_state", 150)),
    text("OCI containers", "Type of the job container", column(0, "ContainerType", "CONTAINER_TYPE")),
    text("federation", "Cluster a federated job came from", column(0, "Origin", "ORIGIN").none("NA"), member("federation_origin", 440)),
    text("federation", "Number of that cluster", column(0, "OriginRaw", "ORIGIN_RAW").none("NA")),
    text("", "TRES for a whole step; a job has none, squeue -s shows a step's", column(0, "tres-per-step", "TRES_PER_STEP").none("N/A")),
    text("federation", "Clusters with a sibling of a federated job", column(0, "SiblingsActive", "ACTIVE_SIBLINGS").none("NA"),
         member("federation_siblings_active", 450)),
    text("federation", "Their numbers", column(0, "SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW").none("NA")),
    text("federation", "Clusters that could run a federated job", column(0, "SiblingsViable", "VIABLE_SIBLINGS").none("NA"),
         member("federation_siblings_viable", 460)),
    text("federation", "Their numbers", column(0, "SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW").none("NA")),  // Slurm's spelling
    text("", "The node whose failure ended it", member("failed_node", 420)),
    text("", "Its security context", member("selinux_context", 1020)),
    number("", "Lowest CPU frequency; steps have one", member<Asked>("cpu_frequency_minimum", 280)),
    number("", "Highest CPU frequency", member<Asked>("cpu_frequency_maximum", 290)),
    number("", "Governor of the CPU frequency", member<Asked>("cpu_frequency_governor", 300)),
    composite("Power management of Cray systems", member("power", 840).written(Shape::kObject, json_power)),
    composite("Its priority in each partition", member("priority_by_partition", 900).written(Shape::kObjects, json_no_priorities)),
};

}  // namespace muster::fields::missing
