#include "slurmstepd/output_relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/files.h"

namespace muster::slurmstepd {
namespace {

constexpr int kLastReads = 64;  // more than a pipe holds: a process that escaped may write for ever

}  // namespace

void OutputRelay::add(os::Fd from, int file, const std::string& label) {
  ::fcntl(from.get(), F_SETFL, ::fcntl(from.get(), F_GETFL) | O_NONBLOCK);
  flows_.push_back(std::make_unique<Flow>(Flow{std::move(from), file, !label.empty(), LineHolder(label), nullptr}));
  Flow* flow = flows_.back().get();
  flow->watch = loop_.watch(flow->from.get(), [this, flow] { pass_on(*flow); });
}

bool OutputRelay::pass_on(Flow& flow) {
  if (!flow.from) return false;
  std::span<char> buffer = loop_.scratch();
  const ssize_t n = ::read(flow.from.get(), buffer.data(), buffer.size());
  if (n < 0 && errno == EINTR) return true;
  if (n < 0 && errno == EAGAIN) return false;
  if (n <= 0) {  // a terminal that nobody has open any more says EIO
    end(flow);
    return false;
  }
  const std::string_view data(buffer.data(), static_cast<size_t>(n));
  // A full file system loses output, as it does for a task that writes by itself.
  [[maybe_unused]] auto written = os::write_all(flow.file, flow.labelled ? flow.lines.add(data) : std::string(data));
  return true;
}

void OutputRelay::end(Flow& flow) {
  flow.watch.reset();
  flow.from.reset();
  [[maybe_unused]] auto written = os::write_all(flow.file, flow.lines.rest());
}

void OutputRelay::finish() {
  for (auto& flow : flows_) {
    for (int reads = 0; reads < kLastReads && pass_on(*flow); ++reads) {
    }
    if (flow->from) end(*flow);
  }
  flows_.clear();
}

}  // namespace muster::slurmstepd
