// What the module makes of a slurmd that answers, refuses, says nothing, talks nonsense, or is somebody else's.
#include "pam/ask.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "model/messages.h"
#include "net/frame.h"
#include "os/fd.h"
#include "os/files.h"
#include "wire/codec.h"

namespace muster::pam {
namespace {

constexpr Duration kSoon = milliseconds(200);

// Accepts one connection, reads what comes first, and says `words`.
class Server {
 public:
  explicit Server(std::string words) : words_(std::move(words)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof address.sun_path - 1);
    listener_ = os::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    thread_ = std::thread([this] {
      os::Fd peer(::accept(listener_.get(), nullptr, nullptr));
      char bytes[4096];
      const ssize_t got = ::recv(peer.get(), bytes, sizeof bytes, 0);
      if (got > 0) heard_.assign(bytes, static_cast<size_t>(got));
      [[maybe_unused]] auto sent = ::send(peer.get(), words_.data(), words_.size(), MSG_NOSIGNAL);
      [[maybe_unused]] auto over = ::recv(peer.get(), bytes, sizeof bytes, 0);  // until the other end closes
    });
  }
  ~Server() { join(); }
  void join() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  std::string path() const { return directory_.path() + "/slurmd.sock"; }
  const std::string& heard() {
    join();
    return heard_;
  }

 private:
  os::TempDir directory_ = *os::TempDir::create("pam");
  std::string words_, heard_;
  os::Fd listener_;
  std::thread thread_;
};

std::string frame(net::FrameKind kind, uint64_t id, const std::string& payload) {
  std::string out;
  net::append_frame_header(out, kind, id, number_of<rpc::AdoptProcess>, payload.size());
  return out + payload;
}
std::string answer(rpc::Adoption outcome) {
  rpc::ProcessAdopted a;
  a.outcome = outcome;
  a.job = JobId(12);
  return frame(net::FrameKind::kAnswer, 1, wire::encoded(a));
}
Result<rpc::ProcessAdopted> ask_it(const Server& server) { return ask(server.path(), {Uid(1000), true}, kSoon, ::geteuid()); }

TEST(PamAsk, TellsWhatSlurmdSays) {
  Server server(frame(net::FrameKind::kNotice, 0, "of no concern") + answer(rpc::Adoption::kNoJobs));
  auto said = ask_it(server);
  ASSERT_TRUE(said) << said.error().message();
  EXPECT_EQ(said->outcome, rpc::Adoption::kNoJobs);
  EXPECT_EQ(said->job, JobId(12));
  const net::Parsed heard = net::parse_frame(server.heard());
  ASSERT_EQ(heard.verdict, net::Parsed::Verdict::kFrame);
  rpc::AdoptProcess asked;
  ASSERT_TRUE(wire::decode(heard.frame.payload, asked));
  EXPECT_EQ(asked.uid, Uid(1000));
  EXPECT_TRUE(asked.only_one);
}

TEST(PamAsk, ARefusalIsAnError) {
  Server server(frame(net::FrameKind::kError, 1, net::encode_error(Error(Errc::kAccessDenied, "no"))));
  auto said = ask_it(server);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, Errc::kAccessDenied);
}

TEST(PamAsk, NonsenseAndSilenceAreErrorsInTime) {
  rpc::ProcessAdopted odd;
  odd.outcome = static_cast<rpc::Adoption>(9);
  for (const std::string& words :
       {std::string(64, '\xff'), std::string("\x00\x00\x10\x00", 4) + std::string(11, 'a'), std::string(),
        answer(rpc::Adoption::kDone).substr(0, 16), frame(net::FrameKind::kAnswer, 2, ""),
        frame(net::FrameKind::kAnswer, 1, wire::encoded(odd)), frame(net::FrameKind::kAnswer, 1, "\x0a\xff\xff")}) {
    Server server(words);
    EXPECT_FALSE(ask_it(server));
  }
}

TEST(PamAsk, BelievesNobodyElse) {
  Server server(answer(rpc::Adoption::kDone));
  auto said = ask(server.path(), {}, kSoon, ::geteuid() + 1);
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().code, Errc::kConnectFailed);
  EXPECT_FALSE(ask("/nonexistent/socket", {}, kSoon));
  EXPECT_FALSE(ask("/" + std::string(200, 'x'), {}, kSoon));
}

}  // namespace
}  // namespace muster::pam
