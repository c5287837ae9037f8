#include "slurmstepd/stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "net/notify.h"
#include "net/shares.h"
#include "net/socket.h"
#include "os/error.h"
#include "wire/codec.h"

namespace muster::slurmstepd {
namespace {

constexpr size_t kReadSize = 64u << 10;
constexpr size_t kMostAttached = 16;
constexpr size_t kAttachedBehind = 1u << 20;  // more output unread: it is dropped
constexpr size_t kNotesBehind = 4u << 20;     // likewise notes
constexpr size_t kMostHeld = 32u << 20;
constexpr size_t kLettersBehind = 2 * mpi_rpc::kMaxLetter;
constexpr Duration kConnectPatience = seconds(30);  // srun listens already

struct Destination {
  net::Address address;
  std::string name;
  bool tcp = false;
};

Result<Destination> destination_of(const rpc::StepIo& io) {
  if (!io.path.empty()) {
    MUSTER_TRY(address, net::unix_address(io.path));
    return Destination{address, io.path};
  }
  std::string where = io.host + ":" + std::to_string(io.port);
  std::vector<net::Address> all = net::numeric_addresses(io.host, io.port);
  if (all.empty()) return fail(Errc::kConnectFailed, "srun's address is not numeric: " + where);
  return Destination{all.front(), where, true};
}

}  // namespace

template <class M>
void SrunStream::send(const M& m) {
  if (channel_) net::notify(*channel_, m);
  for (const net::ChannelPtr& c : attached_) net::notify(*c, m);
  drop_the_slow();
}

// close() does not report back, so readers that are dropped are forgotten here.
void SrunStream::drop_the_slow() {
  const size_t dropped = std::erase_if(attached_, [&](const net::ChannelPtr& c) {
    if (c->queued_bytes() <= kAttachedBehind) return false;
    input_.forget(c.get());
    c->close();
    loop_.defer([c] {});
    return true;
  });
  if (dropped > 0 && events_.detached) loop_.defer([this] { events_.detached(); });  // whoever sends may be in the middle of something
}

// Bounds half-sent frames and input not taken yet, of all connections together: only letters of MPI modules may be large. (A single user
// may have half of what is shared, hence twice as much.)
std::shared_ptr<net::Shares> SrunStream::bounds() {
  if (shares_) return shares_;
  net::ShareFigures figures;
  figures.bytes = 2 * (events_.takes_letters && events_.takes_letters() ? 2 * kLettersBehind : kMostHeld);
  return shares_ = net::Shares::make(loop_, {}, figures);
}

// Connects and says hello. An srun of the job's has its socket in the job's own /tmp, where it has one, and an srun outside in the node's.
void SrunStream::open(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io, bool named_by_root, Opened opened) {
  auto to = destination_of(io);
  if (!to) return loop_.defer([opened = std::move(opened), e = to.error()] { opened(std::unexpected(e)); });
  auto connected = [this, &launch, key = io.key, tcp = to->tcp, opened = std::move(opened)](Result<os::Fd> fd) {
    if (!fd) return opened(std::unexpected(fd.error()));
    if (tcp) net::tune_tcp(fd->get());
    net::Limits limits;
    limits.shares = bounds();
    net::Peer peer;
    peer.uid = launch.uid;
    net::ChannelPtr c = net::adopt_channel(loop_, fd->release(), peer, limits);
    step_rpc::IoHello hello;
    hello.key = key;
    hello.node = launch.node;
    for (const auto& t : launch.tasks) hello.ranks.push_back(t.rank);
    net::notify(*c, hello);
    opened(std::move(c));
  };
  auto errand = [to = *to] {
    os::Errand e;
    e.connect(to.address.storage, to.address.size, "srun at " + to.name);
    return e;
  };
  // Root's own rights lead to nothing inside, which is the user's, unless root is the user.
  const bool twice = !to->tcp && errands_.has_two_sides() && (!named_by_root || launch.uid.value == 0);
  auto first = [this, errand, connected, named_by_root, twice](os::Errand& done) {
    Result<os::Fd> fd = done.take(0);
    if (fd || !twice) return connected(std::move(fd));
    auto second = [connected](os::Errand& d) { connected(d.take(0)); };
    if (named_by_root) errands_.send(errand(), kConnectPatience, second);
    else errands_.send_outside(errand(), kConnectPatience, second);
  };
  if (named_by_root) errands_.send_as_ourselves(errand(), kConnectPatience, std::move(first));
  else errands_.send(errand(), kConnectPatience, std::move(first));
}

void SrunStream::connect(const step_rpc::StepdLaunch& launch, bool named_by_root, Connected done) {
  open(launch, launch.io, named_by_root, [this, done = std::move(done)](Result<net::ChannelPtr> channel) {
    if (!channel) return done(std::unexpected(channel.error()));
    channel_ = std::move(*channel);
    channel_->on_request = [this](net::Frame f) { on_frame(f); };
    channel_->on_closed = [this](const Error&) { srun_is_gone(); };
    done({});
  });
}

void SrunStream::srun_is_gone() {
  input_.forget(channel_.get());
  loop_.defer([c = std::move(channel_)] {});
  channel_ = nullptr;
  if (paused_) go_on_reading();
  if (events_.lost) events_.lost();
}

void SrunStream::attach(const step_rpc::StepdLaunch& launch, const rpc::StepIo& io, bool named_by_root,
                        std::function<step_rpc::TasksEnded()> over) {
  if (attaching_ >= kMostAttached) return;
  ++attaching_;
  open(launch, io, named_by_root, [this, over = std::move(over)](Result<net::ChannelPtr> c) {
    --attaching_;
    if (c && !closed_) attached(std::move(*c), over());
  });
}

void SrunStream::attached(net::ChannelPtr channel, const step_rpc::TasksEnded& over) {
  if (attached_.size() >= kMostAttached) {
    net::notify(*channel,
                step_rpc::StepNote{"slurmstepd: error: " + std::to_string(kMostAttached) + " readers are attached to this step already"});
    return channel->close();
  }
  net::Channel* raw = channel.get();
  channel->on_request = [this, weak = std::weak_ptr(channel)](net::Frame f) {
    step_rpc::IoData m;
    net::ChannelPtr from = weak.lock();
    if (from && f.message == step_rpc::IoData::kNumber && wire::decode(f.payload, m)) on_input(m, from);
  };
  channel->on_closed = [this, raw](const Error&) {
    input_.forget(raw);
    std::erase_if(attached_, [&](const net::ChannelPtr& x) { return x.get() == raw; });
    if (events_.detached) events_.detached();
  };
  if (!over.tasks.empty()) net::notify(*channel, over);
  if (end_said_) net::notify(*channel, step_rpc::StreamEnd{});
  attached_.push_back(std::move(channel));
}

void SrunStream::add_output(uint32_t rank, uint8_t stream, os::Fd fd, bool pty) {
  auto o = std::make_unique<Output>();
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  o->rank = rank;
  o->stream = stream;
  o->pty = pty;
  o->fd = std::move(fd);
  o->watch = loop_.watch(o->fd.get(), [this, raw = o.get()] { read_output(raw); });
  o->watch->pause_read(paused_);
  outputs_.push_back(std::move(o));
}

void SrunStream::read_output(Output* output) {
  std::span<char> buffer = loop_.scratch().first(std::min(kReadSize, loop_.scratch().size()));
  ssize_t got = ::read(output->fd.get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  step_rpc::IoData message;
  message.rank = output->rank;
  message.stream = output->stream;
  message.end = got <= 0;
  if (got > 0) message.data.assign(buffer.data(), static_cast<size_t>(got));
  send(message);
  if (message.end) {
    std::erase_if(outputs_, [&](const auto& x) {
      if (x.get() != output) return false;
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
  channel_->when_writable([this] { go_on_reading(); });
}

void SrunStream::go_on_reading() {
  paused_ = false;
  for (auto& o : outputs_) o->watch->pause_read(false);
}

void SrunStream::close_outputs() {
  for (auto& o : outputs_) o->watch.reset();
  outputs_.clear();
}

void SrunStream::input_taken(TaskInput::Sender sender, size_t bytes) {
  if (sender == channel_.get()) return net::notify(*channel_, step_rpc::IoTaken{bytes});
  for (const net::ChannelPtr& c : attached_)
    if (sender == c.get()) return net::notify(*c, step_rpc::IoTaken{bytes});
}

// Only a sender that breaks the protocol is refused.
void SrunStream::on_input(const step_rpc::IoData& m, const net::ChannelPtr& from) {
  if (input_.take(from.get(), m)) return;
  from->close();
  if (from == channel_) return srun_is_gone();
  input_.forget(from.get());
  std::erase(attached_, from);
  if (events_.detached) events_.detached();
}

void SrunStream::on_frame(const net::Frame& frame) {
  if (frame.message == step_rpc::IoData::kNumber) {
    step_rpc::IoData m;
    if (net::ChannelPtr from = channel_; wire::decode(frame.payload, m)) on_input(m, from);
  } else if (frame.message == step_rpc::IoSignal::kNumber) {
    step_rpc::IoSignal m;
    if (wire::decode(frame.payload, m)) events_.signal(m);
  } else if (frame.message == step_rpc::IoWindow::kNumber) {
    step_rpc::IoWindow m;
    if (wire::decode(frame.payload, m)) events_.window(m);
  } else if (frame.message == mpi_rpc::NodeLetter::kNumber) {
    mpi_rpc::NodeLetter m;
    if (wire::decode(frame.payload, m)) events_.letter(m);
  } else if (frame.message == mpi_rpc::NodesLost::kNumber) {
    mpi_rpc::NodesLost m;
    if (wire::decode(frame.payload, m)) events_.nodes_lost(m);
  }
}

void SrunStream::tasks_ended(const step_rpc::TasksEnded& m) { send(m); }
void SrunStream::note(const std::string& line) {
  if (!channel_ || channel_->queued_bytes() < kNotesBehind) send(step_rpc::StepNote{line});
}

void SrunStream::say(uint32_t rank, std::string text) { send(step_rpc::IoData{rank, 1, false, std::move(text)}); }

// No letter may be left out; a module that sends more than srun can take is ended together with its step.
void SrunStream::send_letter(const mpi_rpc::NodeLetter& m) {
  if (!channel_) return;
  if (channel_->queued_bytes() <= kLettersBehind) return net::notify(*channel_, m);
  channel_->close();
  srun_is_gone();
}

void SrunStream::abort_step() {
  if (channel_) net::notify(*channel_, mpi_rpc::StepAbort{});
}

void SrunStream::say_end() {
  end_said_ = true;
  send(step_rpc::StreamEnd{});
}

void SrunStream::close() {
  closed_ = true;
  if (channel_) channel_->close();
  channel_ = nullptr;
  for (const net::ChannelPtr& c : attached_) c->close();
  attached_.clear();
}

}  // namespace muster::slurmstepd
