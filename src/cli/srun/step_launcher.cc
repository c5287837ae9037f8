#include "cli/srun/step_launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "hostlist/hostlist.h"
#include "net/credential.h"
#include "net/notify.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::cli {
namespace {

constexpr Duration kLaunchTimeout = seconds(60), kLineDelay = milliseconds(20);
constexpr Duration kInterruptWindow = seconds(1);
constexpr size_t kMostStrangers = 64;  // beside the nodes that are still to come

// Our address as the node sees it: the one on the route to it.
Result<std::string> address_towards(const rpc::NodeAddress& node) {
  const auto all = net::resolve(node.host, node.port ? node.port : 1);
  if (!all) return fail(Errc::kConnectFailed, "node " + node.name + ": " + std::string(cannot_reach(all.error()).message()));
  for (const net::Address& a : *all) {
    net::UniqueFd fd(::socket(a.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t size = sizeof own;
    if (!fd || ::connect(fd.get(), a.get(), a.size) < 0 || ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &size) < 0) continue;
    std::string text = net::address_text(own);
    text = text.substr(0, text.rfind(':'));
    if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
    return text;
  }
  return fail(Errc::kConnectFailed, "no route to node " + node.name + " at " + node.host);
}

// Each process begins at another port of the range, so that many sruns at once do not all try the same ones.
Result<net::UniqueFd> bind_port_within(std::pair<uint16_t, uint16_t> range) {
  auto [first, last] = range;
  if (first == 0) return net::bind_tcp("*", 0);
  const uint32_t count = last - first + 1u, start = static_cast<uint32_t>(::getpid());
  for (uint32_t i = 0; i < count; ++i)
    if (auto fd = net::bind_tcp("*", static_cast<uint16_t>(first + (start + i) % count))) return fd;
  return fail(Errc::kConnectFailed, "no port of SrunPortRange=" + std::to_string(first) + "-" + std::to_string(last) + " is free");
}

uint16_t port_of(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof a;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size);
  std::string text = net::address_text(a);
  return parse_number<uint16_t>(std::string_view(text).substr(text.rfind(':') + 1)).value_or(0);
}

}  // namespace

StepLauncher::StepLauncher(LaunchPlan plan, const os::CliLog& log)
    : plan_(std::move(plan)),
      log_(log),
      name_(std::to_string(plan_.step.job.value) + "." + std::to_string(plan_.step.step.value)),
      report_(name_, plan_.step.num_tasks) {}

StepLauncher::~StepLauncher() = default;

// The values that patterns in file names can refer to.
FileNames StepLauncher::file_names() const {
  FileNames names;
  names.job = plan_.step.job;
  names.step = plan_.step.step;
  names.sluid = plan_.step.sluid;
  names.node = plan_.step.nodes.empty() ? "" : plan_.step.nodes.front().address.name;
  names.job_name = plan_.job_name;
  names.user = plan_.user_name;
  names.array_job = plan_.array_job;
  names.array_task = plan_.array_task;
  return names;
}

int StepLauncher::run() {
  FileNames names = file_names();
  Result<> ready;
  if (!plan_.async) {
    ready = output_.prepare(plan_.request, names, plan_.step.num_tasks);
    if (ready) ready = open_input();
    if (ready) ready = listen();
  }
  if (!ready) {
    log_.error("{}", ready.error().message());
    return 1;
  }
  request_ = std::make_shared<const StepRequest>(plan_.request);
  for (LaunchPart& part : plan_.more) {
    for (auto file : {&StepRequest::std_in, &StepRequest::std_out, &StepRequest::std_err}) part.request.*file = plan_.request.*file;
    more_requests_.push_back(std::make_shared<const StepRequest>(std::move(part.request)));
  }
  wire_signals();
  nodes_.resize(plan_.step.nodes.size());
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].step = &plan_.step.nodes[i];
  for (size_t i = 0; i < nodes_.size() && (plan_.threads == 0 || i < plan_.threads); ++i) launch_next();
  if (plan_.request.pty)
    if (auto raw = os::RawMode::enter(0)) raw_.emplace(std::move(*raw));
  loop_.run();
  raw_.reset();
  flush_lines();
  return failed_ && report_.exit_code() == 0 ? 1 : report_.exit_code();
}

// ---- the nodes
Result<> StepLauncher::listen() {
  MUSTER_TRY(key, net::random_key());
  io_.key = key;
  bool local = std::ranges::all_of(plan_.step.nodes, [&](const rpc::StepNode& n) { return plan_.dialer.is_local(n.address.name); });
  // A user who may write nowhere (a /tmp that is only root's) is reached over a port, as by nodes elsewhere.
  if (!local || !listen_in_folder()) MUSTER_TRY_VOID(listen_on_port());
  listener_watch_ = loop_.watch(listener_.get(), [this] { accept_stream(); });
  return {};
}

Result<> StepLauncher::listen_in_folder() {
  MUSTER_TRY(dir, os::TempDir::create("srun"));
  const std::string path = dir.path() + "/io";
  MUSTER_TRY(fd, net::bind_unix(path));
  socket_dir_.emplace(std::move(dir));
  listener_ = std::move(fd);
  io_.path = path;
  return {};
}

Result<> StepLauncher::listen_on_port() {
  MUSTER_TRY(host, address_towards(plan_.step.nodes.front().address));
  MUSTER_TRY(fd, bind_port_within(plan_.ports));
  listener_ = std::move(fd);
  io_.host = host;
  io_.port = port_of(listener_.get());
  return {};
}

std::string StepLauncher::ranks_text(const Node& n) {
  Bitmap ranks;
  for (uint32_t rank : n.step->ranks) ranks.set(rank);
  return ranks.count() == 1 ? ranks.to_ranges() : "[" + ranks.to_ranges() + "]";
}

void StepLauncher::launch_next() {
  if (asked_ < nodes_.size()) launch(nodes_[asked_++]);
}

void StepLauncher::launch(Node& node) {
  if (!plan_.attach)
    log_.verbose("launching StepId={} on host {}, {} tasks: {}", name_, node.step->address.name, node.step->ranks.size(), ranks_text(node));
  NodeRequest ask;
  ask.node = node.step->address;
  ask.timeout = launch_timeout();
  if (plan_.attach) {
    ask.message = wire::number_of<rpc::AttachTasks>;
    wire::encode(rpc::AttachTasks{node.step->address.name, plan_.step.credential, io_}, ask.payload);
  } else {
    rpc::LaunchStep m;
    m.node = node.step->address.name;
    const auto place = static_cast<size_t>(&node - nodes_.data());
    const auto after = std::ranges::upper_bound(plan_.more, place, {}, &LaunchPart::first_node);
    const auto part = static_cast<size_t>(after - plan_.more.begin());  // 0: the first component
    m.credential = part ? plan_.more[part - 1].credential : plan_.step.credential;
    m.request = part ? more_requests_[part - 1] : request_;
    m.io = io_;
    m.srun_host = short_hostname();
    ask.message = wire::number_of<rpc::LaunchStep>;
    wire::encode(m, ask.payload);
  }
  ask_node(loop_, plan_.dialer, std::move(ask), [this, &node](Result<net::Frame> r) {
    // The answer of a slurmd that dies is lost; if the stream of the tasks is there, they were launched.
    if (!r && !(node.stream && r.error().code == Errc::kReceiveFailed)) return launch_failed(node, r.error());
    launched(node);
  });
}

Duration StepLauncher::launch_timeout() const { return plan_.launch_timeout.value_or(kLaunchTimeout); }

// Its tasks have been seen, so their stream is on its way, unless the node was lost meanwhile.
void StepLauncher::launched(Node& n) {
  n.launched = true;
  say_started(n);
  launch_next();
  if (plan_.async) return node_over(n);  // nobody listens to it, so the launch is all there is to wait for
  if (!n.stream && !n.over) n.awaited = loop_.after(launch_timeout(), [this, &n] { node_lost(n); });
}

void StepLauncher::launch_failed(Node& node, const Error& error) {
  if (node.over) return;
  if (plan_.attach) {
    log_.error("Attaching to StepId={} failed on node {}: {}", name_, node.step->address.name, error.message());
  } else {
    log_.error("Task launch for StepId={} failed on node {}: {}", name_, node.step->address.name, error.message());
    if (!failed_) log_.error("Application launch failed: {}", error.message());
  }
  failed_ = true;
  step_rpc::TasksEnded m;
  for (uint32_t rank : node.step->ranks) m.tasks.push_back({rank, 0, {}});
  report_.ended(node.step->address.name, m);
  if (!ending_ && !plan_.attach) end_step("Job step aborted");
  launch_next();  // the node learns at once that the step ends
  node_over(node);
}

void StepLauncher::accept_stream() {
  for (;;) {
    int fd = ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    net::ChannelPtr channel = net::adopt_channel(loop_, fd, net::Peer{});
    net::Channel* raw = channel.get();
    // The callbacks are the same before and after the hello, because all frames may come in one turn.
    channel->on_request = [this, raw](net::Frame f) {
      Node* n = node_of(raw);
      n ? on_stream(*n, f) : on_hello(raw, f);
    };
    channel->on_closed = [this, raw](const Error&) {
      if (Node* n = node_of(raw)) stream_over(*n);
      else turn_away(raw);
    };
    strangers_.push_back({std::move(channel), loop_.after(launch_timeout(), [this, raw] { turn_away(raw); })});
    if (strangers_.size() > nodes_.size() + kMostStrangers) turn_away(strangers_.front().channel.get());
  }
}

void StepLauncher::turn_away(const net::Channel* stranger) {
  auto at = std::ranges::find_if(strangers_, [&](const Stranger& s) { return s.channel.get() == stranger; });
  if (at == strangers_.end()) return;
  at->channel->close();
  loop_.defer([c = at->channel] {});  // keeps it alive until its own callback has returned
  strangers_.erase(at);
}

void StepLauncher::on_hello(net::Channel* raw, const net::Frame& frame) {
  auto at = std::ranges::find_if(strangers_, [&](const Stranger& s) { return s.channel.get() == raw; });
  if (at == strangers_.end()) return;
  step_rpc::IoHello hello;
  bool good = frame.message == step_rpc::IoHello::kNumber && wire::decode(frame.payload, hello) && hello.key == io_.key;
  // Two components may have a part of the same node, with tasks of their own.
  auto node = std::ranges::find_if(
      nodes_, [&](const Node& n) { return n.step->address.name == hello.node && (plan_.more.empty() || hello.ranks == n.step->ranks); });
  if (!good || node == nodes_.end() || node->stream || node->over) return turn_away(raw);
  node->stream = std::move(at->channel);
  node->awaited.reset();
  strangers_.erase(at);
  deliver_kept(*node);
  if (ending_) net::notify(*node->stream, step_rpc::IoSignal{0, true, plan_.kill_wait_seconds});
  start_input();
}

StepLauncher::Node* StepLauncher::node_of(const net::Channel* stream) {
  auto at = std::ranges::find_if(nodes_, [&](const Node& n) { return n.stream.get() == stream; });
  return at == nodes_.end() ? nullptr : &*at;
}

void StepLauncher::on_stream(Node& node, const net::Frame& frame) {
  if (frame.message == step_rpc::IoData::kNumber) {
    step_rpc::IoData m;
    if (!wire::decode(frame.payload, m)) return;
    output_.write(m.rank, m.stream, m.data);
    if (m.end) output_.end(m.rank, m.stream);
    if (output_.broken() && !ending_) end_step(nullptr);
  } else if (frame.message == step_rpc::TasksEnded::kNumber) {
    step_rpc::TasksEnded m;
    if (!wire::decode(frame.payload, m)) return;
    // A node speaks for its own tasks alone.
    std::erase_if(m.tasks, [&](const auto& task) { return std::ranges::find(node.step->ranks, task.rank) == node.step->ranks.end(); });
    tasks_ended(node, m);
  } else if (frame.message == step_rpc::StreamEnd::kNumber) {
    net::ChannelPtr c = node.stream;
    c->close();
    loop_.defer([c] {});  // keeps it alive until its own callback has returned
    stream_over(node);
  } else if (frame.message == mpi_rpc::NodeLetter::kNumber) {
    pass_on(node, frame);
  } else if (frame.message == mpi_rpc::StepAbort::kNumber) {
    if (!ending_) abort_step();
  } else if (frame.message == step_rpc::StepNote::kNumber) {
    step_rpc::StepNote m;
    if (!wire::decode(frame.payload, m)) return;
    m.text += raw_ ? "\r\n" : "\n";
    output_.fresh_line();
    [[maybe_unused]] ssize_t written = ::write(2, m.text.data(), m.text.size());
  } else if (frame.message == step_rpc::IoTaken::kNumber) {
    step_rpc::IoTaken m;
    if (!wire::decode(frame.payload, m)) return;
    node.input_unacknowledged -= std::min(node.input_unacknowledged, m.bytes);
    if (input_watch_) input_watch_->pause_read(false);
  }
}

void StepLauncher::stream_over(Node& n) {
  n.stream = nullptr;
  if (!n.over) node_lost(n);
}

// The node's part is over; tasks whose end was not reported ended with the node.
void StepLauncher::node_lost(Node& node) {
  step_rpc::TasksEnded lost;
  for (uint32_t rank : node.step->ranks)
    if (report_.is_running(rank)) lost.tasks.push_back({rank, SIGKILL, {}});
  if (!lost.tasks.empty()) {
    output_.fresh_line();
    if (plan_.attach) log_.error("The connection to StepId={} on node {} ended before its tasks", name_, node.step->address.name);
    else log_.error("Node failure on {}", node.step->address.name);
    failed_ = true;
    node.over = true;  // nothing more is sent to it
    tasks_ended(node, lost);
  }
  node_over(node);
}

// Nothing waits for the node any more: neither the others' letters nor srun's input, which may have been held up for it.
void StepLauncher::node_over(Node& n) {
  n.over = true;
  n.awaited.reset();
  tell_of_lost_nodes();
  if (input_watch_) input_watch_->pause_read(false);
  start_input();
  check_done();
}

void StepLauncher::tasks_ended(Node& node, const step_rpc::TasksEnded& ended) {
  bool failed_before = report_.any_failed();
  say_started(node);  // short tasks end before slurmd has answered
  say_ended(node, ended);
  report_.ended(node.step->address.name, ended);
  if (plan_.reduce_exit_messages) report_.say_each_ending_once();
  if (!line_timer_) line_timer_ = loop_.after(kLineDelay, [this] { flush_lines(); });
  if (plan_.kill_on_bad_exit && report_.any_failed() && !failed_before && !ending_ && report_.running() > 0) {
    flush_lines();
    end_step(("Terminating StepId=" + name_).c_str());
  }
  if (!first_ended_ && report_.running() > 0) {
    first_ended_ = true;
    uint32_t wait = plan_.wait_seconds;
    if (wait > 0)
      wait_timer_ = loop_.after(seconds(wait), [this, wait] {
        log_.info("First task exited {}s ago", wait);
        for (const std::string& line : report_.status_lines()) log_.info("{}", line);
        end_step(("Terminating StepId=" + name_).c_str(), SIGKILL);
      });
    if (wait > 0) log_.verbose("First task exited. Terminating job in {}s", wait);
  }
  if (report_.running() == 0) wait_timer_.reset();
}

void StepLauncher::say_started(Node& n) {
  if (!plan_.attach && !std::exchange(n.told_started, true))
    log_.verbose("Node {}, {} tasks started", n.step->address.name, n.step->ranks.size());
}

// With -v, tasks that end well are reported, too.
void StepLauncher::say_ended(const Node& node, const step_rpc::TasksEnded& ended) {
  if (!log_.enabled(os::LogLevel::kVerbose)) return;
  std::map<int32_t, Bitmap> by_status;
  for (const step_rpc::TaskEnd& t : ended.tasks)
    if (report_.is_running(t.rank)) by_status[t.status].set(t.rank);
  for (const auto& [status, ranks] : by_status) {
    char hex[16];
    snprintf(hex, sizeof hex, "0x%04x", static_cast<unsigned>(status) & 0xffff);
    const std::string_view what = ranks.count() == 1 ? "task" : "tasks";
    output_.fresh_line();
    log_.verbose("Received task exit notification for {} {} of StepId={} (status={}).", ranks.count(), what, name_, std::string(hex));
    if (status == 0) log_.verbose("{}: {}: Completed", node.step->address.name, tasks_text(ranks));
  }
}

void StepLauncher::flush_lines() {
  line_timer_.reset();
  for (const std::string& line : report_.take_lines()) {
    if (plan_.quiet_exits) continue;
    output_.fresh_line();
    log_.error("{}", line);
  }
}

void StepLauncher::check_done() {
  if (std::ranges::all_of(nodes_, [](const Node& n) { return n.over; })) loop_.stop();
}

template <class M>
void StepLauncher::send_all(const M& m) {
  for (Node& n : nodes_)
    if (n.stream) net::notify(*n.stream, m);
}

void StepLauncher::end_step(const char* why, int signal) {
  if (plan_.attach) return loop_.stop();  // the step belongs to others
  output_.fresh_line();
  if (why) log_.info("{}", why);
  ending_ = true;
  if (signal) forward(signal);
  send_all(step_rpc::IoSignal{0, true, plan_.kill_wait_seconds});
  // Nodes that never answer must not hold us.
  abort_timer_ = loop_.after(seconds(plan_.kill_wait_seconds + 10), [this] {
    log_.error("Timed out waiting for job step to complete");
    failed_ = true;
    loop_.stop();
  });
}

// ---- signals
void StepLauncher::wire_signals() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGTTIN, SIG_IGN);
  if (plan_.attach) {
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) loop_.on_signal(s, [this] { loop_.stop(); });
    return;
  }
  loop_.on_signal(SIGINT, [this] { on_interrupt(); });
  for (int s : {SIGTERM, SIGHUP, SIGQUIT})
    if (!plan_.ignored_signals.contains(s))
      loop_.on_signal(s, [this] {
        if (!ending_) end_step("forcing job termination");
      });
  for (int s : {SIGUSR1, SIGUSR2, SIGALRM, SIGCONT})
    if (!plan_.ignored_signals.contains(s)) loop_.on_signal(s, [this, s] { forward(s); });
  if (plan_.request.pty)
    loop_.on_signal(SIGWINCH, [this] {
      if (auto size = os::window_size(0)) send_all(step_rpc::IoWindow{size->rows, size->columns});
    });
}

void StepLauncher::forward(int signal) { send_all(step_rpc::IoSignal{static_cast<uint16_t>(signal), false, 0}); }

void StepLauncher::on_interrupt() {
  Duration now = net::Loop::monotonic();
  bool again = last_interrupt_ >= Duration{} && now - last_interrupt_ <= kInterruptWindow;
  last_interrupt_ = now;
  if (ending_) {
    failed_ = true;
    loop_.stop();  // Ctrl-C once more while the step ends: srun waits for nobody
    return;
  }
  if (!again && !plan_.quit_on_interrupt && !plan_.disable_status) {
    log_.info("interrupt (one more within 1 sec to abort)");
    for (const std::string& line : report_.status_lines()) log_.info("{}", line);
    return;
  }
  log_.info("sending Ctrl-C to StepId={}", name_);
  forward(SIGINT);
  // With --disable-status the first Ctrl-C concerns only the tasks.
  if (again || plan_.quit_on_interrupt) abort_step();
}

void StepLauncher::abort_step() {
  end_step(("Job step aborted: Waiting up to " + std::to_string(plan_.kill_wait_seconds + 2) + " seconds for job step to finish.").c_str());
}

// ---- input
// --input: none, all, a task's number, or a file; files whose names differ per task are opened on the nodes.
Result<> StepLauncher::open_input() {
  std::string& in = plan_.request.std_in;
  if (in == "none") {
    in = "/dev/null";
    input_wanted_ = false;
  } else if (in.empty() || in == "all") {
    in.clear();
  } else if (auto task = parse_number<uint32_t>(in); task && *task < plan_.step.num_tasks) {
    input_rank_ = *task;
    in.clear();
  } else if (pattern_is_per_task(in)) {
    input_wanted_ = false;
  } else {
    MUSTER_TRY(fd, os::open_input(below(plan_.request.work_dir, expand_file_pattern(in, file_names()))));
    input_file_ = std::move(fd);
    input_fd_ = input_file_.get();
    in.clear();
  }
  if (plan_.request.pty && !plan_.step.nodes.empty() && !plan_.step.nodes.front().ranks.empty())
    input_rank_ = plan_.step.nodes.front().ranks.front();
  return {};
}

// Once every node is there, or will not come.
void StepLauncher::start_input() {
  if (!input_wanted_ || input_watch_ || input_ended_) return;
  if (!std::ranges::all_of(nodes_, [](const Node& n) { return n.stream || n.over; })) return;
  if (input_rank_ != step_rpc::kAllTasks && !plan_.attach) {
    // The other tasks read the end of their input at once.
    for (Node& n : nodes_)
      for (uint32_t rank : n.step->ranks)
        if (rank != input_rank_ && n.stream) net::notify(*n.stream, step_rpc::IoData{rank, 0, true, {}});
  }
  if (::fcntl(input_fd_, F_GETFD) < 0) return send_input({}, true);  // srun was started without stdin
  input_watch_ = loop_.watch(input_fd_, [this] { read_input(); });
}

void StepLauncher::read_input() {
  constexpr uint64_t kWindow = 512u << 10;
  for (const Node& n : nodes_)
    if (n.stream && n.input_unacknowledged > kWindow) return input_watch_->pause_read(true);
  std::span<char> buffer = loop_.scratch();
  ssize_t got = ::read(input_fd_, buffer.data(), std::min<size_t>(buffer.size(), 64u << 10));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    input_watch_.reset();
    // Nothing was typed or piped into sattach, so the tasks' input stays with srun.
    if (plan_.attach && !input_sent_) return;
    return send_input({}, true);
  }
  input_sent_ = true;
  send_input(std::string(buffer.data(), static_cast<size_t>(got)), false);
}

void StepLauncher::send_input(std::string data, bool end) {
  input_ended_ = end;
  for (Node& n : nodes_) {
    bool meant = input_rank_ == step_rpc::kAllTasks || std::ranges::find(n.step->ranks, input_rank_) != n.step->ranks.end();
    if (!n.stream || !meant) continue;
    n.input_unacknowledged += data.size();
    net::notify(*n.stream, step_rpc::IoData{input_rank_, 0, end, data});
  }
}

}  // namespace muster::cli
