// Library: OpenPMIx's functions, found in libpmix when a step asks for them. Nothing links libpmix.
#pragma once

#include <pmix.h>
#include <pmix_server.h>

#include "base/result.h"

namespace muster::mpi_pmix {

#define MUSTER_PMIX_FUNCTIONS(X) \
  X(PMIx_server_init)            \
  X(PMIx_server_register_nspace) \
  X(PMIx_server_register_client) \
  X(PMIx_server_setup_fork)      \
  X(PMIx_server_dmodex_request)  \
  X(PMIx_generate_regex)         \
  X(PMIx_generate_ppn)           \
  X(PMIx_Info_load)              \
  X(PMIx_Error_string)           \
  X(PMIx_Get_version)

struct Library {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_PMIX_FUNCTIONS(X)
#undef X

  // kUnsupported: libpmix is not on this node, lacks functions, or is of another major version than the headers here. The library stays
  // open for good.
  static Result<Library> open();
};

}  // namespace muster::mpi_pmix
