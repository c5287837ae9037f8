#include "plugin/mpi_program/module.h"

namespace muster::mpi {
namespace {

// A letter is the data and some words around it.
constexpr size_t kMostFenceData = mpi_rpc::kMaxLetter - (64u << 10);

}  // namespace

Module::Module(net::Loop& loop, int fd) : loop_(loop) {
  channel_ = net::adopt_channel(loop_, fd, net::Peer{});
  channel_->on_request = [this](net::Frame f) { on_frame(f); };
  channel_->on_closed = [this](const Error&) { loop_.stop(); };
}

void Module::on_frame(const net::Frame& frame) {
  if (frame.message == mpi_rpc::ModuleStart::kNumber && !start_) {
    begin(frame);
  } else if (!prepared_) {
    return;
  } else if (frame.message == mpi_rpc::NodeLetter::kNumber) {
    mpi_rpc::NodeLetter m;
    Letter letter;
    if (wire::decode(frame.payload, m) && wire::decode(m.content, letter)) on_letter(m.from, std::move(letter));
  } else if (frame.message == mpi_rpc::NodesLost::kNumber) {
    mpi_rpc::NodesLost m;
    if (!wire::decode(frame.payload, m)) return;
    for (uint32_t node : m.nodes) on_lost(node);
  } else if (frame.message == mpi_rpc::TaskGone::kNumber) {
    mpi_rpc::TaskGone m;
    if (wire::decode(frame.payload, m)) on_task_gone(m);
  } else if (frame.message == mpi_rpc::ModuleEnd::kNumber) {
    tell(mpi_rpc::ModuleEnd{});
  }
}

void Module::begin(const net::Frame& f) {
  mpi_rpc::ModuleStart m;
  if (!wire::decode(f.payload, m) || m.node_id >= m.setup.nodes.size()) return loop_.stop();
  start_ = std::move(m);
  fences_.emplace(start_->node_id, node_names(), kMostFenceData,
                  [this](const std::vector<uint32_t>& to, const Letter& letter) { send(to, letter); });
  auto variables = prepare();
  if (!variables) return tell(mpi_rpc::ModuleFailed{std::string(variables.error().message())});
  prepared_ = true;
  tell(mpi_rpc::ModuleReady{std::move(*variables)});
}

std::vector<std::string> Module::node_names() const {
  std::vector<std::string> names;
  for (const mpi_rpc::NodeRanks& n : setup().nodes) names.push_back(n.node);
  return names;
}

bool Module::send(const std::vector<uint32_t>& to, const Letter& letter) {
  mpi_rpc::NodeLetter m;
  m.to = to;
  wire::encode(letter, m.content);
  if (m.content.size() > mpi_rpc::kMaxLetter) return false;
  tell(m);
  return true;
}

void Module::enter_fence(const std::string& group, std::vector<uint32_t> nodes, std::string data, Duration deadline, Fences::Done done) {
  fences_->enter(group, std::move(nodes), std::move(data), deadline, std::move(done));
  watch_deadlines();
}

Duration Module::deadline(std::optional<uint32_t> limit) const {
  const uint32_t most = limit.value_or(setup().timeout_seconds);
  return most ? net::Loop::monotonic() + seconds(most) : Duration::max();
}

void Module::watch_deadlines() {
  const Duration now = net::Loop::monotonic();
  const std::optional<Duration> next = expire(now);
  timer_.reset();
  if (next) timer_ = loop_.after(*next - now, [this] { watch_deadlines(); });
}

}  // namespace muster::mpi
