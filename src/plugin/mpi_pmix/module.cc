#include "plugin/mpi_pmix/module.h"

#include <algorithm>

#include "net/notify.h"
#include "plugin/mpi_pmix/job_map.h"

namespace muster::mpi_pmix {
namespace {

// A letter is the data and some words around it.
constexpr size_t kMostFenceData = mpi_rpc::kMaxLetter - (64u << 10);
constexpr uint32_t kNowhere = 0xffffffffu;

pmix_status_t status_of(Errc code) {
  switch (code) {
    case Errc::kTimedOut:
      return PMIX_ERR_TIMEOUT;
    case Errc::kConnectFailed:
      return PMIX_ERR_LOST_CONNECTION;
    case Errc::kFrameTooLong:
      return PMIX_ERR_OUT_OF_RESOURCE;
    default:
      return PMIX_ERROR;
  }
}

}  // namespace

template <class M>
void Module::tell(const M& m) {
  net::notify(*channel_, m);
}

Module::Module(net::Loop& loop, int fd) : loop_(loop) {
  channel_ = net::adopt_channel(loop_, fd, net::Peer{});
  channel_->on_request = [this](net::Frame f) { on_frame(f); };
  channel_->on_closed = [this](const Error&) { loop_.stop(); };
}

void Module::on_frame(const net::Frame& f) {
  if (f.message == mpi_rpc::ModuleStart::kNumber && !start_) {
    mpi_rpc::ModuleStart m;
    if (!wire::decode(f.payload, m) || m.node_id >= m.setup.nodes.size()) return loop_.stop();
    start_ = std::move(m);
    start();
  } else if (!server_) {
    return;
  } else if (f.message == mpi_rpc::NodeLetter::kNumber) {
    mpi_rpc::NodeLetter m;
    if (wire::decode(f.payload, m)) on_letter(std::move(m));
  } else if (f.message == mpi_rpc::NodesLost::kNumber) {
    mpi_rpc::NodesLost m;
    if (!wire::decode(f.payload, m)) return;
    for (uint32_t node : m.nodes) {
      fences_->lost(node);
      questions_->lost(node);
    }
  } else if (f.message == mpi_rpc::ModuleEnd::kNumber) {
    net::notify(*channel_, mpi_rpc::ModuleEnd{});
  } else if (f.message == mpi_rpc::TaskGone::kNumber) {
    mpi_rpc::TaskGone m;
    // libpmix learns of it by the end of its connection.
    if (wire::decode(f.payload, m)) debug("process " + std::to_string(m.rank) + " ended with status " + std::to_string(m.status));
  }
}

void Module::start() {
  auto variables = start_server();
  if (!variables) return tell(mpi_rpc::ModuleFailed{std::string(variables.error().message())});
  debug(std::string(library_->PMIx_Get_version()) + " is ready for " + std::to_string(variables->size()) + " processes");
  tell(mpi_rpc::ModuleReady{std::move(*variables)});
}

Result<std::vector<mpi_rpc::TaskVariables>> Module::start_server() {
  std::vector<std::string> names;
  for (uint32_t n = 0; n < start_->setup.nodes.size(); ++n) {
    names.push_back(start_->setup.nodes[n].node);
    for (uint32_t rank : start_->setup.nodes[n].ranks) {
      if (rank >= places_.size()) places_.resize(rank + 1, kNowhere);
      places_[rank] = n;
    }
  }
  fences_.emplace(start_->node_id, names, kMostFenceData,
                  [this](const std::vector<uint32_t>& to, const mpi::Letter& l) { send(to, l); });
  questions_.emplace(names, [this](uint32_t to, const mpi::Letter& l) { send({to}, l); });
  MUSTER_TRY(library, Library::open());
  library_ = library;
  Server::Events events;
  events.fence = [this](Operation o, Reply r) { enter(std::move(o), std::move(r)); };
  events.wanted = [this](uint32_t rank, std::optional<uint32_t> timeout, Reply r) { ask(rank, timeout, std::move(r)); };
  events.abort = [this](uint32_t rank, int status, const std::string& text) {
    tell(mpi_rpc::ModuleAbort{"PMIx_Abort by task " + std::to_string(rank) + ", status " + std::to_string(status) +
                              (text.empty() ? "" : ": " + text.substr(0, 1024))});
  };
  events.debug = [this](const std::string& text) { debug(text); };
  server_.emplace(*library_, loop_.poster(), std::move(events));
  return server_->start(*start_);
}

// ---- other nodes
void Module::send(const std::vector<uint32_t>& to, const mpi::Letter& letter) {
  mpi_rpc::NodeLetter m;
  m.to = to;
  wire::encode(letter, m.content);
  if (m.content.size() <= mpi_rpc::kMaxLetter) return tell(m);
  // Only an answer can be so long: fences have a bound of their own.
  m.content.clear();
  wire::encode(mpi::Questions::answer_to(letter.number, {PMIX_ERR_OUT_OF_RESOURCE, {}}), m.content);
  tell(m);
}

void Module::on_letter(mpi_rpc::NodeLetter m) {
  mpi::Letter letter;
  if (!wire::decode(m.content, letter)) return;
  if (letter.kind == mpi::LetterKind::kAnswer) return questions_->on_answer(m.from, std::move(letter));
  if (letter.kind != mpi::LetterKind::kQuestion) return fences_->on_letter(m.from, std::move(letter));
  // The answer comes on libpmix's thread.
  server_->find(letter.rank, [this, post = loop_.poster(), from = m.from, number = letter.number](pmix_status_t status, std::string data) {
    post([this, from, number, status, data = std::move(data)]() mutable {
      send({from}, mpi::Questions::answer_to(number, {status, std::move(data)}));
    });
  });
}

std::optional<uint32_t> Module::node_of(uint32_t rank) const {
  if (rank >= places_.size() || places_[rank] == kNowhere) return std::nullopt;
  return places_[rank];
}

void Module::enter(Operation o, Reply reply) {
  std::vector<uint32_t> nodes;
  for (uint32_t rank : o.ranks)
    if (auto node = node_of(rank)) nodes.push_back(*node);
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  if (!std::ranges::binary_search(nodes, start_->node_id)) return reply(PMIX_ERR_BAD_PARAM, {});
  // The same words for the same processes on each node.
  std::string group = o.ranks.size() == places_.size() ? "*" : joined(o.ranks);
  debug("fence of " + group + " with " + std::to_string(o.data.size()) + " bytes");
  fences_->enter(group, std::move(nodes), std::move(o.data), deadline(o.timeout_seconds),
                 [this, reply = std::move(reply)](Result<std::string> r) {
                   r ? reply(PMIX_SUCCESS, std::move(*r)) : refuse(reply, r.error());
                 });
  watch_deadlines();
}

void Module::ask(uint32_t rank, std::optional<uint32_t> timeout, Reply reply) {
  auto node = node_of(rank);
  if (!node || *node == start_->node_id) return reply(PMIX_ERR_NOT_FOUND, {});
  debug("data of process " + std::to_string(rank) + " is asked of node " + start_->setup.nodes[*node].node);
  questions_->ask(*node, rank, deadline(timeout), [this, reply = std::move(reply)](Result<mpi::Answer> a) {
    a ? reply(a->status, std::move(a->data)) : refuse(reply, a.error());
  });
  watch_deadlines();
}

void Module::refuse(const Reply& reply, const Error& error) {
  tell(mpi_rpc::ModuleNote{"error: mpi/pmix: " + std::string(error.message())});
  reply(status_of(error.code), {});
}

// ---- time
Duration Module::deadline(std::optional<uint32_t> asked) const {
  uint32_t limit = asked.value_or(start_->setup.timeout_seconds);
  return limit ? net::Loop::monotonic() + seconds(limit) : Duration::max();
}

void Module::watch_deadlines() {
  Duration now = net::Loop::monotonic();
  std::optional<Duration> next = fences_->expire(now);
  if (auto other = questions_->expire(now); other && (!next || *other < *next)) next = other;
  timer_.reset();
  if (next) timer_ = loop_.after(*next - now, [this] { watch_deadlines(); });
}

void Module::debug(const std::string& text) {
  if (start_->setup.debug) tell(mpi_rpc::ModuleNote{"debug: mpi/pmix: " + text});
}

}  // namespace muster::mpi_pmix
