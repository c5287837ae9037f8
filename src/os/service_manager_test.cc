#include "os/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "os/fd.h"

namespace muster::os {
namespace {

// What systemd would hear at this address ('@': abstract), after tell_ready().
std::string heard_at(const std::string& address) {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  address.copy(at.sun_path, address.size());
  if (address[0] == '@') at.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), size), 0) << strerror(errno);
  ::setenv("NOTIFY_SOCKET", address.c_str(), 1);
  const std::string taken = take_notify_socket();
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_TRUE(tell_ready(taken));
  char buffer[64];
  const ssize_t n = ::recv(socket.get(), buffer, sizeof buffer, 0);
  if (address[0] != '@') ::unlink(address.c_str());
  return n < 0 ? "" : std::string(buffer, static_cast<size_t>(n));
}

TEST(ServiceManager, HearsThatTheDaemonIsReady) {
  const std::string name = "muster-ready-" + std::to_string(::getpid());
  EXPECT_EQ(heard_at(testing::TempDir() + name), "READY=1");
  EXPECT_EQ(heard_at("@" + name), "READY=1");
}

TEST(ServiceManager, WithoutOneNothingIsToldAndABadAddressIsNamed) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(tell_ready(take_notify_socket()));
  auto told = tell_ready("nowhere");
  ASSERT_FALSE(told);
  EXPECT_NE(std::string(told.error().message()).find("NOTIFY_SOCKET=nowhere"), std::string::npos);
}

}  // namespace
}  // namespace muster::os
