#include "plugin/mpi_pmix/module.h"

#include <algorithm>

#include "plugin/mpi_pmix/job_map.h"

namespace muster::mpi_pmix {
namespace {

constexpr uint32_t kNowhere = 0xffffffffu;

pmix_status_t status_of(Errc code) {
  switch (code) {
    case Errc::kTimedOut: return PMIX_ERR_TIMEOUT;
    case Errc::kConnectFailed: return PMIX_ERR_LOST_CONNECTION;
    case Errc::kFrameTooLong: return PMIX_ERR_OUT_OF_RESOURCE;
    default: return PMIX_ERROR;
  }
}

}  // namespace

Result<std::vector<mpi_rpc::TaskVariables>> Module::prepare() {
  for (uint32_t n = 0; n < setup().nodes.size(); ++n) {
    for (uint32_t rank : setup().nodes[n].ranks) {
      if (rank >= places_.size()) places_.resize(rank + 1, kNowhere);
      places_[rank] = n;
    }
  }
  questions_.emplace(node_names(), [this](uint32_t to, const mpi::Letter& l) { send({to}, l); });
  MUSTER_TRY(variables, start_server());
  debug(std::string(library_->PMIx_Get_version()) + " is ready for " + std::to_string(variables.size()) + " processes");
  return variables;
}

Result<std::vector<mpi_rpc::TaskVariables>> Module::start_server() {
  MUSTER_TRY(library, open_library_());
  library_ = library;
  Server::Events events;
  events.fence = [this](Operation o, Reply r) { enter(std::move(o), std::move(r)); };
  events.wanted = [this](uint32_t rank, std::optional<uint32_t> timeout, Reply r) { ask(rank, timeout, std::move(r)); };
  events.abort = [this](uint32_t rank, int status, const std::string& text) {
    tell(mpi_rpc::ModuleAbort{"PMIx_Abort by task " + std::to_string(rank) + ", status " + std::to_string(status) +
                              (text.empty() ? "" : ": " + text.substr(0, 1024))});
  };
  events.debug = [this](const std::string& text) { debug(text); };
  server_.emplace(*library_, loop().poster(), std::move(events));
  return server_->start(start());
}

// libpmix learns of the task's end by the end of its connection.
void Module::on_task_gone(const mpi_rpc::TaskGone& gone) {
  debug("process " + std::to_string(gone.rank) + " ended with status " + std::to_string(gone.status));
}

// ---- other nodes
void Module::on_letter(uint32_t from, mpi::Letter letter) {
  if (letter.kind == mpi::LetterKind::kAnswer) return questions_->on_answer(from, std::move(letter));
  if (letter.kind != mpi::LetterKind::kQuestion) return mpi::Module::on_letter(from, std::move(letter));
  // libpmix would wait for a process that is not of this node until the step's end.
  if (node_of(letter.rank) != start().node_id) return answer(from, letter.number, {PMIX_ERR_NOT_FOUND, {}});
  // The answer comes on libpmix's thread.
  server_->find(letter.rank, [this, post = loop().poster(), from, number = letter.number](pmix_status_t status, std::string data) {
    post([this, from, number, status, data = std::move(data)]() mutable { answer(from, number, {status, std::move(data)}); });
  });
}

void Module::answer(uint32_t to, uint64_t question, mpi::Answer answer) {
  if (!send({to}, mpi::Questions::answer_to(question, std::move(answer))))
    send({to}, mpi::Questions::answer_to(question, {PMIX_ERR_OUT_OF_RESOURCE, {}}));
}

void Module::on_lost(uint32_t node) {
  mpi::Module::on_lost(node);
  questions_->lost(node);
}

std::optional<Duration> Module::expire(Duration now) {
  const std::optional<Duration> fence = mpi::Module::expire(now), question = questions_->expire(now);
  return fence && question ? std::min(*fence, *question) : fence ? fence : question;
}

std::optional<uint32_t> Module::node_of(uint32_t rank) const {
  if (rank >= places_.size() || places_[rank] == kNowhere) return std::nullopt;
  return places_[rank];
}

void Module::enter(Operation operation, Reply reply) {
  std::vector<uint32_t> nodes;
  for (uint32_t rank : operation.ranks)
    if (auto node = node_of(rank)) nodes.push_back(*node);
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  if (!std::ranges::binary_search(nodes, start().node_id)) return reply(PMIX_ERR_BAD_PARAM, {});
  // The same processes must be named by the same words on each node.
  std::string group = operation.ranks.size() == places_.size() ? "*" : joined(operation.ranks);
  debug("fence of " + group + " with " + std::to_string(operation.data.size()) + " bytes");
  enter_fence(
      group, std::move(nodes), std::move(operation.data), deadline(operation.timeout_seconds),
      [this, reply = std::move(reply)](Result<std::string> r) { r ? reply(PMIX_SUCCESS, std::move(*r)) : refuse(reply, r.error()); });
}

void Module::ask(uint32_t rank, std::optional<uint32_t> timeout, Reply reply) {
  auto node = node_of(rank);
  if (!node || *node == start().node_id) return reply(PMIX_ERR_NOT_FOUND, {});
  debug("data of process " + std::to_string(rank) + " is asked of node " + setup().nodes[*node].node);
  questions_->ask(*node, rank, deadline(timeout), [this, reply = std::move(reply)](Result<mpi::Answer> a) {
    a ? reply(a->status, std::move(a->data)) : refuse(reply, a.error());
  });
  watch_deadlines();
}

void Module::refuse(const Reply& reply, const Error& error) {
  tell(mpi_rpc::ModuleNote{"error: mpi/pmix: " + std::string(error.message())});
  reply(status_of(error.code), {});
}

void Module::debug(const std::string& text) {
  if (setup().debug) tell(mpi_rpc::ModuleNote{"debug: mpi/pmix: " + text});
}

}  // namespace muster::mpi_pmix
