#include "slurmstepd/stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "net/notify.h"
#include "net/socket.h"
#include "os/error.h"
#include "wire/codec.h"

namespace muster::slurmstepd {
namespace {

constexpr size_t kReadSize = 64u << 10;
constexpr size_t kMostAttached = 16;
constexpr size_t kAttachedBehind = 4u << 20;  // more output unread: it is dropped

Result<net::UniqueFd> connected_socket(const net::Address& a, const std::string& where) {
  net::UniqueFd fd(::socket(a.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return os::fail_errno("socket");
  while (::connect(fd.get(), a.get(), a.size) < 0)
    if (errno != EINTR) return os::fail_errno("srun at " + where);
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return fd;
}

Result<net::UniqueFd> connect_to(const rpc::StepIo& io) {
  if (!io.path.empty()) {
    MUSTER_TRY(address, net::unix_address(io.path));
    return connected_socket(address, io.path);
  }
  std::string where = io.host + ":" + std::to_string(io.port);
  std::vector<net::Address> all = net::numeric_addresses(io.host, io.port);
  if (all.empty()) return fail(Errc::kConnectFailed, "srun's address is not numeric: " + where);
  MUSTER_TRY(fd, connected_socket(all.front(), where));
  net::tune_tcp(fd.get());
  return fd;
}

}  // namespace

template <class M>
void SrunStream::send(const M& m) {
  if (channel_) net::notify(*channel_, m);
  for (const net::ChannelPtr& c : attached_) net::notify(*c, m);
  // close() gives no word of itself: who was dropped is forgotten here.
  std::erase_if(attached_, [&](const net::ChannelPtr& c) {
    if (c->queued_bytes() <= kAttachedBehind) return false;
    c->close();
    loop_.defer([c] {});
    return true;
  });
}

// Connects and says hello.
Result<net::ChannelPtr> SrunStream::open(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io) {
  MUSTER_TRY(fd, connect_to(io));
  net::ChannelPtr c = net::adopt_channel(loop_, fd.release(), net::Peer{});
  step_rpc::IoHello hello;
  hello.key = io.key;
  hello.node = launch.node;
  for (const auto& t : launch.tasks) hello.ranks.push_back(t.rank);
  net::notify(*c, hello);
  return c;
}

Result<> SrunStream::connect(const step_rpc::StepdLaunch& launch) {
  MUSTER_TRY(channel, open(launch, launch.io));
  channel_ = std::move(channel);
  channel_->on_request = [this](net::Frame f) { on_frame(f); };
  channel_->on_closed = [this](const Error&) {
    channel_ = nullptr;
    for (auto& [rank, input] : inputs_) input.queue.clear();
    if (events_.lost) events_.lost();
  };
  return {};
}

Result<> SrunStream::attach(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io, const step_rpc::TasksEnded& over) {
  if (attached_.size() >= kMostAttached) return fail(Errc::kError, "too many are attached to this step");
  MUSTER_TRY(c, open(launch, io));
  net::Channel* raw = c.get();
  c->on_request = [this, weak = std::weak_ptr(c)](net::Frame f) {
    step_rpc::IoData m;
    net::ChannelPtr from = weak.lock();
    // The end of one reader's input is not the end of the tasks'.
    if (from && f.message == step_rpc::IoData::kNumber && wire::decode(f.payload, m) && !m.end) on_input(std::move(m), from);
  };
  c->on_closed = [this, raw](const Error&) {
    std::erase_if(attached_, [&](const net::ChannelPtr& x) { return x.get() == raw; });
    if (events_.detached) events_.detached();
  };
  if (!over.tasks.empty()) net::notify(*c, over);
  attached_.push_back(std::move(c));
  return {};
}

void SrunStream::add_output(uint32_t rank, uint8_t stream, os::Fd fd, bool pty) {
  auto o = std::make_unique<Output>();
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  o->rank = rank;
  o->stream = stream;
  o->pty = pty;
  o->fd = std::move(fd);
  o->watch = loop_.watch(o->fd.get(), [this, raw = o.get()] { read_output(raw); });
  outputs_.push_back(std::move(o));
}

void SrunStream::read_output(Output* o) {
  std::span<char> buffer = loop_.scratch().first(std::min(kReadSize, loop_.scratch().size()));
  ssize_t n = ::read(o->fd.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  step_rpc::IoData m;
  m.rank = o->rank;
  m.stream = o->stream;
  m.end = n <= 0;
  if (n > 0) m.data.assign(buffer.data(), static_cast<size_t>(n));
  send(m);
  if (m.end) {
    std::erase_if(outputs_, [&](const auto& x) {
      if (x.get() != o) return false;
      x->watch.reset();
      return true;
    });
    if (outputs_.empty() && events_.output_ended) events_.output_ended();
  } else if (channel_ && channel_->queued_bytes() > (1u << 20) && !paused_) {
    pause_outputs();
  }
}

void SrunStream::pause_outputs() {
  paused_ = true;
  for (auto& o : outputs_) o->watch->pause_read(true);
  channel_->when_writable([this] {
    paused_ = false;
    for (auto& o : outputs_) o->watch->pause_read(false);
  });
}

void SrunStream::close_outputs() {
  for (auto& o : outputs_) o->watch.reset();
  outputs_.clear();
}

void SrunStream::add_input(uint32_t rank, os::Fd fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  inputs_[rank].fd = std::move(fd);
}

void SrunStream::drop_input(uint32_t rank) {
  auto at = inputs_.find(rank);
  if (at == inputs_.end()) return;
  at->second.watch.reset();
  for (const auto& c : at->second.queue) done_with(c);
  inputs_.erase(at);
}

void SrunStream::done_with(const std::shared_ptr<Chunk>& chunk) {
  if (--chunk->holders > 0 || chunk->data.empty()) return;
  if (net::ChannelPtr from = chunk->from.lock()) net::notify(*from, step_rpc::IoTaken{chunk->data.size()});
}

void SrunStream::on_input(step_rpc::IoData m, const net::ChannelPtr& from) {
  auto chunk = std::make_shared<Chunk>();
  chunk->data = std::move(m.data);
  chunk->holders = 1;
  chunk->from = from;
  std::vector<uint32_t> ranks;
  for (auto& [rank, input] : inputs_)
    if (m.rank == step_rpc::kAllTasks || m.rank == rank) ranks.push_back(rank);
  for (uint32_t rank : ranks) {
    Input& in = inputs_.at(rank);
    in.end = in.end || m.end;
    ++chunk->holders;
    in.queue.push_back(chunk);
  }
  for (uint32_t rank : ranks) write_input(rank);
  done_with(chunk);
}

void SrunStream::write_input(uint32_t rank) {
  auto at = inputs_.find(rank);
  if (at == inputs_.end()) return;
  Input& in = at->second;
  while (!in.queue.empty()) {
    const std::string& data = in.queue.front()->data;
    ssize_t n =
        data.size() == in.offset ? 0 : ::write(in.fd.get(), data.data() + in.offset, data.size() - in.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!in.watch) in.watch = loop_.watch(in.fd.get(), [] {}, [this, rank] { write_input(rank); });
      in.watch->pause_read(true);
      in.watch->want_write(true);
      return;
    }
    if (n < 0) return drop_input(rank);  // the task closed its input
    in.offset += static_cast<size_t>(n);
    if (in.offset < data.size()) continue;
    done_with(in.queue.front());
    in.queue.pop_front();
    in.offset = 0;
  }
  if (in.end) return drop_input(rank);
  if (in.watch) in.watch->want_write(false);
}

void SrunStream::on_frame(const net::Frame& f) {
  if (f.message == step_rpc::IoData::kNumber) {
    step_rpc::IoData m;
    if (wire::decode(f.payload, m)) on_input(std::move(m), channel_);
  } else if (f.message == step_rpc::IoSignal::kNumber) {
    step_rpc::IoSignal m;
    if (wire::decode(f.payload, m)) events_.signal(m);
  } else if (f.message == step_rpc::IoWindow::kNumber) {
    step_rpc::IoWindow m;
    if (wire::decode(f.payload, m)) events_.window(m);
  } else if (f.message == mpi_rpc::NodeLetter::kNumber) {
    mpi_rpc::NodeLetter m;
    if (wire::decode(f.payload, m)) events_.letter(m);
  } else if (f.message == mpi_rpc::NodesLost::kNumber) {
    mpi_rpc::NodesLost m;
    if (wire::decode(f.payload, m)) events_.nodes_lost(m);
  }
}

void SrunStream::tasks_ended(const step_rpc::TasksEnded& m) { send(m); }
void SrunStream::note(const std::string& line) { send(step_rpc::StepNote{line}); }

void SrunStream::say(uint32_t rank, std::string text) { send(step_rpc::IoData{rank, 1, false, std::move(text)}); }

void SrunStream::send_letter(const mpi_rpc::NodeLetter& m) {
  if (channel_) net::notify(*channel_, m);
}

void SrunStream::abort_step() {
  if (channel_) net::notify(*channel_, mpi_rpc::StepAbort{});
}

void SrunStream::say_end() { send(step_rpc::StreamEnd{}); }

void SrunStream::close() {
  if (channel_) channel_->close();
  channel_ = nullptr;
  for (const net::ChannelPtr& c : attached_) c->close();
  attached_.clear();
}

}  // namespace muster::slurmstepd
