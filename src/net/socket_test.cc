// What a listening address takes in.
#include "net/socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace muster::net {
namespace {

// Whether somebody listens there, for those who come over IPv4.
bool takes_ipv4(const UniqueFd& listening) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  EXPECT_EQ(getsockname(listening.get(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = reinterpret_cast<const sockaddr_in&>(bound).sin_port;  // the same place in both families
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

TEST(BindTcp, AllOfIPv6IsNotIPv4) {
  auto all = bind_tcp("*", 0);
  ASSERT_TRUE(all);
  EXPECT_TRUE(takes_ipv4(*all));
  auto six = bind_tcp("::", 0);
  if (!six) GTEST_SKIP() << "no IPv6 here";
  EXPECT_FALSE(takes_ipv4(*six));
}

}  // namespace
}  // namespace muster::net
