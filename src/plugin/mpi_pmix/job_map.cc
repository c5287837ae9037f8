#include "plugin/mpi_pmix/job_map.h"

#include <algorithm>

namespace muster::mpi_pmix {

std::string joined(const std::vector<uint32_t>& ranks) {
  std::string out;
  for (uint32_t r : ranks) out += (out.empty() ? "" : ",") + std::to_string(r);
  return out;
}

namespace {

// One process, as PMIX_PROC_INFO_ARRAY has it.
struct Process {
  uint32_t rank, node, on_node;
};

void add_process(const Library& library, InfoList& all, const Process& process, const std::string& host) {
  InfoList one(library);
  one.rank(PMIX_RANK, process.rank);
  one.number(PMIX_APPNUM, 0);
  one.rank(PMIX_APPLDR, 0);
  one.rank(PMIX_APP_RANK, process.rank);
  one.rank(PMIX_GLOBAL_RANK, process.rank);
  one.small(PMIX_LOCAL_RANK, static_cast<uint16_t>(process.on_node));
  one.small(PMIX_NODE_RANK, static_cast<uint16_t>(process.on_node));
  one.number(PMIX_NODEID, process.node);
  one.text(PMIX_HOSTNAME, host);
  all.list(PMIX_PROC_INFO_ARRAY, one);
}

Result<> add_maps(const Library& library, const mpi_rpc::StepMpi& setup, InfoList& all) {
  std::string names, ranks;
  for (const mpi_rpc::NodeRanks& n : setup.nodes) {
    names += (names.empty() ? "" : ",") + n.node;
    ranks += (&n == &setup.nodes.front() ? "" : ";") + joined(n.ranks);
  }
  char* map = nullptr;
  if (auto rc = library.PMIx_generate_regex(names.c_str(), &map); rc != PMIX_SUCCESS)
    return fail("PMIx_generate_regex: " + std::string(library.PMIx_Error_string(rc)));
  all.add(PMIX_NODE_MAP, map, PMIX_REGEX);
  map = nullptr;
  if (auto rc = library.PMIx_generate_ppn(ranks.c_str(), &map); rc != PMIX_SUCCESS)
    return fail("PMIx_generate_ppn: " + std::string(library.PMIx_Error_string(rc)));
  all.add(PMIX_PROC_MAP, map, PMIX_REGEX);
  return {};
}

}  // namespace

void InfoList::add(const char* key, const void* value, pmix_data_type_t type) {
  infos_.emplace_back();
  library_.PMIx_Info_load(&infos_.back(), key, value, type);
}

void InfoList::list(const char* key, InfoList& members) {
  pmix_data_array_t array{PMIX_INFO, members.size(), members.data()};
  add(key, &array, PMIX_DATA_ARRAY);
}

std::string name_space(const mpi_rpc::ModuleStart& start) {
  return "slurm.pmix." + std::to_string(start.job.value) + "." + std::to_string(start.step.value);
}

Result<InfoList> job_map(const Library& library, const mpi_rpc::ModuleStart& start) {
  const mpi_rpc::StepMpi& setup = start.setup;
  const mpi_rpc::NodeRanks& here = setup.nodes[start.node_id];
  uint32_t size = 0;
  for (const mpi_rpc::NodeRanks& n : setup.nodes) size += static_cast<uint32_t>(n.ranks.size());
  InfoList all(library);
  all.text(PMIX_JOBID, name_space(start));
  for (const char* key : {PMIX_UNIV_SIZE, PMIX_JOB_SIZE, PMIX_APP_SIZE, PMIX_MAX_PROCS}) all.number(key, size);
  all.number(PMIX_JOB_NUM_APPS, 1);
  all.number(PMIX_NUM_NODES, static_cast<uint32_t>(setup.nodes.size()));
  all.number(PMIX_LOCAL_SIZE, static_cast<uint32_t>(here.ranks.size()));
  all.number(PMIX_NODE_SIZE, static_cast<uint32_t>(here.ranks.size()));
  all.rank(PMIX_APPLDR, 0);
  if (!here.ranks.empty()) all.rank(PMIX_LOCALLDR, std::ranges::min(here.ranks));
  all.text(PMIX_LOCAL_PEERS, joined(here.ranks));
  all.text(PMIX_HOSTNAME, here.node);
  all.number(PMIX_NODEID, start.node_id);
  all.text(PMIX_TMPDIR, setup.task_directory);
  all.text(PMIX_NSDIR, setup.task_directory);
  all.flag(PMIX_TDIR_RMCLEAN, true);
  MUSTER_TRY_VOID(add_maps(library, setup, all));
  for (uint32_t n = 0; n < setup.nodes.size(); ++n)
    for (uint32_t i = 0; i < setup.nodes[n].ranks.size(); ++i)
      add_process(library, all, {setup.nodes[n].ranks[i], n, i}, setup.nodes[n].node);
  return all;
}

}  // namespace muster::mpi_pmix
