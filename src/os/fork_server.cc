#include "os/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "os/error.h"
#include "os/launch.h"

namespace muster::os {
namespace {

constexpr int kPatienceMs = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(kSpawnPatience).count());
constexpr int kOrders = 3;  // the server's descriptor of its orders, and a copy's own

// What the server answers; the copy's pidfd comes with it where there is one.
struct Answer {
  int error = 0;  // errno
  pid_t pid = 0;
};

// One packet with at most one descriptor.
Result<> send_packet(int socket, const void* data, size_t size, int descriptor) {
  iovec bytes{const_cast<void*>(data), size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
  msghdr packet{};
  packet.msg_iov = &bytes;
  packet.msg_iovlen = 1;
  if (descriptor >= 0) {
    packet.msg_control = control.data();
    packet.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&packet);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  ssize_t sent;
  while ((sent = ::sendmsg(socket, &packet, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  if (sent < 0) return fail_errno("fork server");
  return {};
}

// The number of bytes; 0 when the other end is gone.
Result<size_t> receive_packet(int socket, void* data, size_t size, Fd& descriptor) {
  iovec bytes{data, size};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr packet{};
  packet.msg_iov = &bytes;
  packet.msg_iovlen = 1;
  packet.msg_control = control.data();
  packet.msg_controllen = control.size();
  ssize_t received;
  while ((received = ::recvmsg(socket, &packet, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
  }
  if (received < 0) return fail_errno("fork server");
  const cmsghdr* head = CMSG_FIRSTHDR(&packet);
  if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
    int got = -1;
    std::memcpy(&got, CMSG_DATA(head), sizeof got);
    descriptor.reset(got);
  }
  return static_cast<size_t>(received);
}

void show_title(std::span<char> room, std::string_view title) {
  if (room.empty()) return;
  std::ranges::fill(room, '\0');
  std::ranges::copy(title.substr(0, room.size() - 1), room.begin());
}

// Becomes the copy: nothing of the server is left but what was loaded.
void be_copy(std::span<char> room, std::string_view title, Fd descriptor, const sigset_t& mask) {
  ::dup3(descriptor.get(), kOrders, O_CLOEXEC);
  descriptor.reset();
  ::setsid();
  ::signal(SIGCHLD, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  show_title(room, title);
}

void answer_with(pid_t pid) {
  Answer answer;
  Fd process;
  if (pid < 0) answer.error = errno;
  else if (auto handle = open_pidfd(pid)) process = std::move(*handle);
  answer.pid = pid;
  [[maybe_unused]] auto sent = send_packet(kOrders, &answer, sizeof answer, process.get());  // who is gone needs no answer
}

}  // namespace

Result<ForkServer::Started> ForkServer::start(std::string_view title, const Fd& descriptor) {
  auto started = order_copy(title.substr(0, kTitleRoom), descriptor);
  if (!started) orders_.reset();
  return started;
}

Result<ForkServer::Started> ForkServer::order_copy(std::string_view title, const Fd& descriptor) {
  // One that has ended since its last copy (somebody killed it) has a successor. Only what was never delivered is sent twice: else there
  // might be two copies with one descriptor.
  if (!running() || !send_packet(orders_.get(), title.data(), title.size(), descriptor.get())) {
    MUSTER_TRY_VOID(serve());
    MUSTER_TRY_VOID(send_packet(orders_.get(), title.data(), title.size(), descriptor.get()));
  }
  return take_answer();
}

Result<> ForkServer::serve() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return fail_errno("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  SpawnSpec spec = spec_;
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return fail_errno("/dev/null");
  spec.fds = {{null.get(), 0}, {theirs.get(), kOrders}};
  spec.argv.emplace_back(kTitleRoom, ' ');  // room for the titles of copies
  MUSTER_TRY(pid, spawn(spec));
  orders_ = std::move(ours);
  pid_ = pid;
  return {};
}

Result<ForkServer::Started> ForkServer::take_answer() {
  pollfd ready{orders_.get(), POLLIN, 0};
  int changed;
  while ((changed = ::poll(&ready, 1, kPatienceMs)) < 0 && errno == EINTR) {
  }
  if (changed == 0) {
    ::kill(pid_, SIGKILL);  // it lives, or the wait had told of its end
    return fail(Errc::kTimedOut, "fork server " + std::to_string(pid_) + " did not answer in time and was killed");
  }
  Answer answer;
  Started started;
  MUSTER_TRY(size, receive_packet(orders_.get(), &answer, sizeof answer, started.process));
  if (size != sizeof answer) return fail(Errc::kIo, "fork server " + std::to_string(pid_) + " has ended");
  if (answer.error != 0) return fail_errno("fork", answer.error);
  if (!started.process) return fail(Errc::kIo, "fork server " + std::to_string(pid_) + " sent no handle of its copy");
  started.pid = answer.pid;
  return started;
}

std::span<char> argument_room(int argc, char** argv) {
  if (argc < 1) return {};
  char* end = argv[argc - 1] + std::strlen(argv[argc - 1]) + 1;
  return {argv[0], end};
}

bool serve_copies(std::span<char> room) {
  // Ends of copies are heard while we wait, and nowhere else; the handler is there so that they interrupt the wait.
  sigset_t before, blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  ::signal(SIGCHLD, [](int) {});
  for (;;) {
    pollfd ready{kOrders, POLLIN, 0};
    const int changed = ::ppoll(&ready, 1, nullptr, &before);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (changed <= 0) continue;
    std::array<char, ForkServer::kTitleRoom> title;
    Fd descriptor;
    auto size = receive_packet(kOrders, title.data(), title.size(), descriptor);
    if (!size || (*size == 0 && !descriptor)) return false;
    if (!descriptor) continue;
    const pid_t pid = ::fork();
    if (pid == 0) {
      be_copy(room, {title.data(), *size}, std::move(descriptor), before);
      return true;
    }
    answer_with(pid);
  }
}

}  // namespace muster::os
