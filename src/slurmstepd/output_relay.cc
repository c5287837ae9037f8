#include "slurmstepd/output_relay.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "os/error.h"

namespace muster::slurmstepd {
namespace {

constexpr size_t kLastBytes = 1u << 20;  // more than a pipe holds: a process that escaped may write for ever
constexpr size_t kEnoughWaits = 256u << 10;
constexpr Duration kAsLongAsItTakes = minutes(60 * 24 * 365);  // it ends with its pipe, or with the step

}  // namespace

Result<OutputRelay::Sink*> OutputRelay::sink_of(int file) {
  if (auto at = sinks_.find(file); at != sinks_.end()) return at->second.get();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return os::fail_errno("pipe");
  auto reading = std::make_shared<os::Fd>(ends[0]);
  auto sink = std::make_unique<Sink>();
  sink->pipe.reset(ends[1]);
  ::fcntl(sink->pipe.get(), F_SETFL, O_NONBLOCK);
  Sink* raw = sink.get();
  sink->watch = loop_.watch(
      sink->pipe.get(), [] {}, [this, raw] { write_to(*raw); });
  sink->watch->pause_read(true);
  sinks_[file] = std::move(sink);
  os::Errand errand;
  errand.copy(reading->get(), file);
  errands_.send(std::move(errand), kAsLongAsItTakes, [this, raw, reading](os::Errand&) {
    raw->open = false;
    raw->waiting.clear();
    if (raw->watch) raw->watch->want_write(false);
    hold_up(*raw, false);
    look_if_done();
  });
  return raw;
}

Result<> OutputRelay::add(os::Fd from, int file, const std::string& label) {
  MUSTER_TRY(sink, sink_of(file));
  ::fcntl(from.get(), F_SETFL, ::fcntl(from.get(), F_GETFL) | O_NONBLOCK);
  flows_.push_back(std::make_unique<Flow>(Flow{std::move(from), sink, !label.empty(), LineHolder(label), nullptr}));
  Flow* flow = flows_.back().get();
  flow->watch = loop_.watch(flow->from.get(), [this, flow] { read_from(*flow); });
  return {};
}

// Returns how much there was to read.
size_t OutputRelay::read_from(Flow& flow) {
  std::span<char> buffer = loop_.scratch();
  const ssize_t n = ::read(flow.from.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (n <= 0) {  // a terminal that nobody has open any more says EIO
    end(flow);
    return 0;
  }
  const std::string_view data(buffer.data(), static_cast<size_t>(n));
  pass_on(*flow.sink, flow.labelled ? flow.lines.add(data) : std::string(data));
  return data.size();
}

void OutputRelay::end(Flow& flow) {
  flow.watch.reset();
  flow.from.reset();
  pass_on(*flow.sink, flow.lines.rest());
}

// A reader that is gone loses what is written, and the tasks go on.
void OutputRelay::pass_on(Sink& sink, std::string_view text) {
  if (!sink.open || !sink.pipe) return;
  sink.waiting += text;
  write_to(sink);
}

void OutputRelay::write_to(Sink& sink) {
  while (!sink.waiting.empty()) {
    const ssize_t n = ::write(sink.pipe.get(), sink.waiting.data(), sink.waiting.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) sink.waiting.clear();
    else sink.waiting.erase(0, static_cast<size_t>(n));
  }
  if (sink.watch) sink.watch->want_write(!sink.waiting.empty());
  hold_up(sink, sink.waiting.size() > kEnoughWaits);
  if (drained_ && sink.waiting.empty()) close(sink);
}

void OutputRelay::hold_up(const Sink& sink, bool hold) {
  for (const auto& flow : flows_)
    if (flow->sink == &sink && flow->watch) flow->watch->pause_read(hold);
}

void OutputRelay::close(Sink& sink) {
  sink.watch.reset();
  sink.pipe.reset();
}

void OutputRelay::finish(Duration patience, std::function<void()> done) {
  done_ = std::move(done);
  if (!std::exchange(finishing_, true)) {
    for (auto& flow : flows_) {
      size_t got = 0;
      while (flow->from && got < kLastBytes)
        if (const size_t n = read_from(*flow); n > 0) got += n;
        else break;
      if (flow->from) end(*flow);
    }
    drained_ = true;
    for (auto& [file, sink] : sinks_)
      if (sink->waiting.empty()) close(*sink);
    timer_ = loop_.after(patience, [this] {
      for (auto& [file, sink] : sinks_) sink->open = false;
      look_if_done();
    });
  }
  look_if_done();
}

void OutputRelay::look_if_done() {
  if (!finishing_ || std::ranges::any_of(sinks_, [](const auto& s) { return s.second->open; })) return;
  timer_.reset();
  if (auto done = std::exchange(done_, nullptr)) done();
}

}  // namespace muster::slurmstepd
