// StepLauncher with --mpi: letters that the nodes' MPI modules send to each other go through here (model/mpi_rpc.h). A letter to a node
// whose stream is not there yet is kept. When a node is over, the others are told, after the letters it sent.
#include <algorithm>

#include "cli/srun/step_launcher.h"
#include "wire/codec.h"

namespace muster::cli {
namespace {

constexpr size_t kMostKept = 256u << 20;  // bytes kept for nodes that have not connected yet

}  // namespace

void StepLauncher::pass_on(const Node& from, const net::Frame& frame) {
  mpi_rpc::NodeLetter letter;
  if (plan_.attach || !wire::decode(frame.payload, letter) || letter.content.size() > mpi_rpc::kMaxLetter) return;
  if (!letters_) {
    letters_ = true;
    if (!lost_nodes().empty()) tell_of_lost_nodes();
  }
  // A module's first letter has no addressee: it says that there is a module.
  letter.from = static_cast<uint32_t>(&from - nodes_.data());
  std::vector<uint32_t> to = std::move(letter.to);
  letter.to.clear();
  for (uint32_t node : to)
    if (node < nodes_.size() && node != letter.from) deliver(nodes_[node], letter);
}

void StepLauncher::deliver(Node& n, const mpi_rpc::NodeLetter& m) {
  if (n.over) return;  // whoever asks it for something is told that it is over
  std::string bytes = wire::encoded(m);
  if (n.stream) return n.stream->notify(mpi_rpc::NodeLetter::kNumber, std::move(bytes));
  kept_letters_ += bytes.size();
  if (kept_letters_ <= kMostKept) return n.letters.push_back(std::move(bytes));
  log_.error("More than {} MiB of MPI start-up data wait for node {}", kMostKept >> 20, n.step->address.name);
  if (!ending_) end_step("Job step aborted");
}

void StepLauncher::deliver_kept(Node& n) {
  for (std::string& bytes : n.letters) {
    kept_letters_ -= std::min(kept_letters_, bytes.size());
    n.stream->notify(mpi_rpc::NodeLetter::kNumber, std::move(bytes));
  }
  n.letters.clear();
  if (letters_ && !lost_nodes().empty()) n.stream->notify(mpi_rpc::NodesLost::kNumber, wire::encoded(mpi_rpc::NodesLost{lost_nodes()}));
}

std::vector<uint32_t> StepLauncher::lost_nodes() const {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].over) out.push_back(i);
  return out;
}

// Tells the nodes which of them are over: once a turn, however many ended in it.
void StepLauncher::tell_of_lost_nodes() {
  if (!letters_ || std::exchange(telling_, true)) return;
  loop_.defer([this] {
    telling_ = false;
    const std::string bytes = wire::encoded(mpi_rpc::NodesLost{lost_nodes()});
    for (Node& n : nodes_)
      if (n.stream) n.stream->notify(mpi_rpc::NodesLost::kNumber, bytes);
  });
}

}  // namespace muster::cli
