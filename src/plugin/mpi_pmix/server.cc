#include "plugin/mpi_pmix/server.h"

#include <stdlib.h>

#include <algorithm>
#include <cstring>

#include "plugin/mpi_pmix/job_map.h"

namespace muster::mpi_pmix {
namespace {

// libpmix calls back without a context. This is the one mutable global of the folder; written once, before PMIx_server_init.
struct Current {
  Server* server = nullptr;
} current;

// The answer must live until libpmix has copied it.
Reply reply_to(pmix_modex_cbfunc_t callback, void* context) {
  return [callback, context](pmix_status_t status, std::string data) {
    auto* kept = new std::string(std::move(data));
    callback(
        status, kept->data(), kept->size(), context, [](void* p) { delete static_cast<std::string*>(p); }, kept);
  };
}

std::optional<uint32_t> timeout_in(const pmix_info_t* info, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!strncmp(info[i].key, PMIX_TIMEOUT, PMIX_MAX_KEYLEN) && info[i].value.type == PMIX_INT && info[i].value.data.integer >= 0)
      return static_cast<uint32_t>(info[i].value.data.integer);
  return std::nullopt;
}

}  // namespace

// The functions that libpmix calls, on its own thread.
struct Callbacks {
  static pmix_status_t connected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
    debug("process " + std::to_string(proc->rank) + " connected");
    return PMIX_OPERATION_SUCCEEDED;
  }

  static pmix_status_t finalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
    debug("process " + std::to_string(proc->rank) + " finalized");
    return PMIX_OPERATION_SUCCEEDED;
  }

  static pmix_status_t abort(const pmix_proc_t* proc, void*, int status, const char text[], pmix_proc_t*, size_t, pmix_op_cbfunc_t callback,
                             void* context) {
    Server* s = current.server;
    s->post_([s, rank = proc->rank, status, text = std::string(text ? text : ""), callback, context] {
      s->events_.abort(rank, status, text);
      if (callback) callback(PMIX_SUCCESS, context);
    });
    return PMIX_SUCCESS;
  }

  static pmix_status_t fence(const pmix_proc_t* procs, size_t count, const pmix_info_t* info, size_t info_count, char* data, size_t size,
                             pmix_modex_cbfunc_t callback, void* context) {
    Server* s = current.server;
    auto ranks = s->ranks_of(procs, count);
    if (!ranks) return PMIX_ERR_NOT_SUPPORTED;
    Operation o;
    o.ranks = std::move(*ranks);
    if (data) o.data.assign(data, size);
    o.timeout_seconds = timeout_in(info, info_count);
    s->post_([s, o = std::move(o), reply = reply_to(callback, context)]() mutable { s->events_.fence(std::move(o), std::move(reply)); });
    return PMIX_SUCCESS;
  }

  static pmix_status_t wanted(const pmix_proc_t* proc, const pmix_info_t* info, size_t count, pmix_modex_cbfunc_t callback, void* context) {
    Server* s = current.server;
    if (s->name_ != proc->nspace) return PMIX_ERR_NOT_SUPPORTED;
    s->post_([s, rank = proc->rank, timeout = timeout_in(info, count), reply = reply_to(callback, context)]() mutable {
      s->events_.wanted(rank, timeout, std::move(reply));
    });
    return PMIX_SUCCESS;
  }

  static void debug(std::string text) {
    Server* s = current.server;
    s->post_([s, text = std::move(text)] { s->events_.debug(text); });
  }

  static pmix_server_module_t table() {
    pmix_server_module_t t{};
    t.client_connected2 = connected;
    t.client_finalized = finalized;
    t.abort = abort;
    t.fence_nb = fence;
    t.direct_modex = wanted;
    return t;
  }
};

Result<> Server::check(const char* what, pmix_status_t rc) const {
  if (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED) return {};
  return fail(std::string(what) + ": " + library_.PMIx_Error_string(rc));
}

pmix_proc_t Server::process(uint32_t rank) const {
  pmix_proc_t p{};
  strncpy(p.nspace, name_.c_str(), PMIX_MAX_NSLEN);
  p.rank = rank;
  return p;
}

std::optional<std::vector<uint32_t>> Server::ranks_of(const pmix_proc_t* procs, size_t count) const {
  std::vector<uint32_t> ranks;
  bool all = procs == nullptr || count == 0;
  for (size_t i = 0; i < count; ++i) {
    if (name_ != procs[i].nspace) return std::nullopt;
    all = all || procs[i].rank == PMIX_RANK_WILDCARD;
    if (procs[i].rank < size_) ranks.push_back(procs[i].rank);
  }
  if (all) {
    ranks.resize(size_);
    for (uint32_t i = 0; i < size_; ++i) ranks[i] = i;
  }
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  if (ranks.empty()) return std::nullopt;
  return ranks;
}

Result<> Server::initialize(const mpi_rpc::ModuleStart& start) {
  // Several nodes may be on one host: each is called what slurm.conf calls it.
  ::setenv("PMIX_HOSTNAME", start.setup.nodes[start.node_id].node.c_str(), 1);
  InfoList options(library_);
  options.text(PMIX_SERVER_TMPDIR, start.setup.directory);
  options.text(PMIX_SYSTEM_TMPDIR, start.setup.directory);
  options.text(PMIX_SERVER_NSPACE, "slurm.stepd." + std::to_string(start.job.value) + "." + std::to_string(start.step.value));
  options.rank(PMIX_SERVER_RANK, start.node_id);
  options.number(PMIX_USERID, start.uid.value);
  options.number(PMIX_GRPID, start.gid.value);
  options.flag(PMIX_SERVER_TOOL_SUPPORT, false);
  if (start.setup.share_topology) options.flag(PMIX_SERVER_SHARE_TOPOLOGY, true);
  pmix_server_module_t table = Callbacks::table();
  return check("PMIx_server_init", library_.PMIx_server_init(&table, options.data(), options.size()));
}

Result<std::vector<mpi_rpc::TaskVariables>> Server::start(const mpi_rpc::ModuleStart& start) {
  current.server = this;
  name_ = name_space(start);
  for (const mpi_rpc::NodeRanks& n : start.setup.nodes) size_ += static_cast<uint32_t>(n.ranks.size());
  MUSTER_TRY_VOID(initialize(start));
  MUSTER_TRY(map, job_map(library_, start));
  const std::vector<uint32_t>& ranks = start.setup.nodes[start.node_id].ranks;
  MUSTER_TRY_VOID(check("PMIx_server_register_nspace", library_.PMIx_server_register_nspace(name_.c_str(), static_cast<int>(ranks.size()),
                                                                                            map.data(), map.size(), nullptr, nullptr)));
  std::vector<mpi_rpc::TaskVariables> out;
  for (uint32_t rank : ranks) {
    pmix_proc_t who = process(rank);
    MUSTER_TRY_VOID(check("PMIx_server_register_client",
                          library_.PMIx_server_register_client(&who, start.uid.value, start.gid.value, nullptr, nullptr, nullptr)));
    auto** env = static_cast<char**>(::calloc(1, sizeof(char*)));
    MUSTER_TRY_VOID(check("PMIx_server_setup_fork", library_.PMIx_server_setup_fork(&who, &env)));
    mpi_rpc::TaskVariables task{rank, {}};
    for (char** e = env; e && *e; ++e) {
      task.environment.emplace_back(*e);
      ::free(*e);
    }
    ::free(env);
    out.push_back(std::move(task));
  }
  return out;
}

void Server::find(uint32_t rank, Reply reply) {
  pmix_proc_t who = process(rank);
  auto* kept = new Reply(std::move(reply));
  auto rc = library_.PMIx_server_dmodex_request(
      &who,
      [](pmix_status_t status, char* data, size_t size, void* context) {
        auto* r = static_cast<Reply*>(context);
        (*r)(status, data ? std::string(data, size) : std::string());
        delete r;
      },
      kept);
  if (rc == PMIX_SUCCESS) return;
  (*kept)(rc, {});
  delete kept;
}

}  // namespace muster::mpi_pmix
