// What PMIx is told of a step before its tasks start: its size, which process is on which node, who leads where, and where
// temporary files go.
#pragma once

#include <string>
#include <vector>

#include "model/mpi_rpc.h"
#include "plugin/mpi_pmix/library.h"

namespace muster::mpi_pmix {

// An array of pmix_info_t. What libpmix allocates for the values stays until the process ends.
class InfoList {
 public:
  explicit InfoList(const Library& library) : library_(library) {}
  void add(const char* key, const void* value, pmix_data_type_t type);
  void text(const char* key, const std::string& value) { add(key, value.c_str(), PMIX_STRING); }
  void flag(const char* key, bool value) { add(key, &value, PMIX_BOOL); }
  void number(const char* key, uint32_t value) { add(key, &value, PMIX_UINT32); }
  void small(const char* key, uint16_t value) { add(key, &value, PMIX_UINT16); }
  void rank(const char* key, uint32_t value) { add(key, &value, PMIX_PROC_RANK); }
  void list(const char* key, InfoList& members);
  pmix_info_t* data() { return infos_.data(); }
  size_t size() const { return infos_.size(); }

 private:
  const Library& library_;
  std::vector<pmix_info_t> infos_;
};

// Ranks as text: "0,1,5".
std::string joined(const std::vector<uint32_t>& ranks);

// "slurm.pmix.12.0": the name space of the step's processes, for as long as the step lives.
std::string name_space(const mpi_rpc::ModuleStart& start);

// Errors: those of PMIx about the maps of nodes and processes.
Result<InfoList> job_map(const Library& library, const mpi_rpc::ModuleStart& start);

}  // namespace muster::mpi_pmix
