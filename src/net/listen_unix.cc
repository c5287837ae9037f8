// The agent socket: accepts a connection, asks the kernel who it is, and hands it over.
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/acceptor.h"
#include "net/connection.h"

namespace muster::net {
namespace {

class UnixListener final : public Listener {
 public:
  UnixListener(Loop& loop, UniqueFd fd, std::string path, std::function<void(ChannelPtr)> accepted, const Limits& limits)
      : loop_(loop), path_(std::move(path)), accepted_(std::move(accepted)), limits_(limits) {
    if (!limits_.shares) limits_.shares = Shares::make(loop, {0, ::geteuid()});
    struct stat st {};
    if (lstat(path_.c_str(), &st) == 0) device_ = st.st_dev, inode_ = st.st_ino;
    acceptor_ = std::make_unique<Acceptor>(loop, std::move(fd), [this](UniqueFd peer) { greet(std::move(peer)); });
  }
  // Only our own socket file is removed: a successor may have put its own there already.
  ~UnixListener() override {
    struct stat st {};
    if (lstat(path_.c_str(), &st) == 0 && st.st_dev == device_ && st.st_ino == inode_) unlink(path_.c_str());
  }
  uint16_t port() const override { return 0; }
  void on_http(std::function<void(int, std::string, std::string)>) override {}  // the agent socket speaks frames only
  void on_refused(std::function<void(const std::string&, const Error&)> f) override { refused_ = std::move(f); }

 private:
  void greet(UniqueFd fd) {
    Result<Peer> peer = unix_peer(fd.get());
    if (!peer) {
      if (refused_) refused_("unix", peer.error());
      return;
    }
    Established established;
    auto share = limits_.shares->open(*peer);
    if (!share) {
      const std::string why = refusal_frame(share.error());
      [[maybe_unused]] ssize_t n = send(fd.get(), why.data(), why.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      return;
    }
    established.fd = std::move(fd);
    established.peer = std::move(*peer);
    established.share = std::move(*share);
    established.accepted = true;
    established.limits = limits_;
    auto c = std::make_shared<Connection>(loop_, std::move(established));
    c->start();
    accepted_(std::move(c));
  }

  Loop& loop_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::function<void(ChannelPtr)> accepted_;
  Limits limits_;
  std::function<void(const std::string&, const Error&)> refused_;
  std::unique_ptr<Acceptor> acceptor_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_unix(Loop& loop, const std::string& path, std::function<void(ChannelPtr)> accepted,
                                              const Limits& limits) {
  MUSTER_TRY(fd, bind_unix(path, limits.owner_only ? 0600 : 0666));
  return listen_unix(loop, BoundSocket{path, std::move(fd)}, std::move(accepted), limits);
}

Result<BoundSocket> bind_agent_socket(const std::string& path) {
  MUSTER_TRY(fd, bind_unix(path));
  return BoundSocket{path, std::move(fd)};
}

Result<std::unique_ptr<Listener>> listen_unix(Loop& loop, BoundSocket socket, std::function<void(ChannelPtr)> accepted,
                                              const Limits& limits) {
  return std::make_unique<UnixListener>(loop, std::move(socket.fd), std::move(socket.path), std::move(accepted), limits);
}

}  // namespace muster::net
