#include "agent/conf_servers.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "agent/dns_srv.h"

namespace muster::agent {
namespace {

std::string words(const std::vector<net::Endpoint>& servers) {
  std::string out;
  for (const net::Endpoint& s : servers) out += s.host + " " + std::to_string(s.port) + ";";
  return out;
}

TEST(ConfServers, HostsAndPorts) {
  for (auto [text, meant] : {std::pair{"a", "a 6817;"},
                             {"a:7000", "a 7000;"},
                             {"a:7000, b", "a 7000;b 6817;"},
                             {"[::1]", "::1 6817;"},
                             {"[fe80::2]:1,10.0.0.1:2", "fe80::2 1;10.0.0.1 2;"}}) {
    auto servers = servers_named(text);
    ASSERT_TRUE(servers) << text;
    EXPECT_EQ(words(*servers), meant);
  }
}

TEST(ConfServers, WhatIsNone) {
  for (const char* text : {"", ",", ":7000", "a:", "a:0", "a:65536", "a:x", "a:1:2", "::1", "[::1", "[::1]x", "[]:1", "a b", "/etc"}) {
    auto servers = servers_named(text);
    ASSERT_FALSE(servers) << text;
    EXPECT_EQ(servers.error().code, Errc::kInvalidArgument) << text;
  }
  std::string many = "a";
  for (int i = 0; i < 64; ++i) many += ",a";
  EXPECT_FALSE(servers_named(many));
}

TEST(ConfServers, TheOptionCountsBeforeAllElse) {
  ::setenv("SLURM_CONF", "/nowhere/slurm.conf", 1);
  ::setenv("SLURM_CONF_SERVER", "b:2", 1);
  EXPECT_EQ(words(*conf_servers("a:1", "/some/file")), "a 1;");
  EXPECT_EQ(words(*conf_servers("", "/some/file")), "");
  EXPECT_EQ(words(*conf_servers("", "")), "");  // SLURM_CONF is a local file
  ::unsetenv("SLURM_CONF");
  EXPECT_EQ(words(*conf_servers("", "/some/file")), "");
  ::unsetenv("SLURM_CONF_SERVER");
}

// ---- DNS
std::string number(uint32_t n, int bytes) {
  std::string out;
  while (bytes-- > 0) out += static_cast<char>(n >> (8 * bytes));
  return out;
}
std::string name(std::string_view dotted) {
  std::string out;
  while (!dotted.empty()) {
    const std::string_view label = dotted.substr(0, dotted.find('.'));
    out += static_cast<char>(label.size()) + std::string(label);
    dotted.remove_prefix(std::min(dotted.size(), label.size() + 1));
  }
  return out + '\0';
}
std::string record(uint16_t type, const std::string& data) {
  return name("_slurmctld._tcp.x") + number(type, 2) + number(1, 2) + number(60, 4) + number(static_cast<uint32_t>(data.size()), 2) + data;
}
std::string srv(uint16_t priority, uint16_t weight, uint16_t port, std::string_view host) {
  return record(33, number(priority, 2) + number(weight, 2) + number(port, 2) + name(host));
}
std::string answer(const std::vector<std::string>& records) {
  std::string out = number(7, 2) + number(0x8180, 2) + number(1, 2) + number(static_cast<uint32_t>(records.size()), 2) + number(0, 4);
  out += name("_slurmctld._tcp.x") + number(33, 2) + number(1, 2);
  for (const std::string& r : records) out += r;
  return out;
}

TEST(DnsSrv, LowestPriorityFirst) {
  auto records = parse_srv_answer(
      answer({srv(10, 0, 6817, "backup.x"), record(1, "\1\2\3\4"), srv(0, 1, 7000, "primary.x"), srv(0, 5, 1, "heavy.x")}));
  ASSERT_TRUE(records) << records.error().message();
  EXPECT_EQ(words(in_order(*records)), "heavy.x 1;primary.x 7000;backup.x 6817;");
}

TEST(DnsSrv, HostsThatAreNoneAreLeftOut) {
  auto records = parse_srv_answer(answer({srv(0, 0, 1, "a/b.x"), srv(0, 0, 0, "a.x"), srv(0, 0, 2, "b.x")}));
  ASSERT_TRUE(records);
  EXPECT_EQ(words(in_order(*records)), "b.x 2;");
}

TEST(DnsSrv, AnyBytesAreSafe) {
  const std::string whole = answer({srv(0, 0, 6817, "a.x"), srv(1, 0, 6817, "b.x")});
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(parse_srv_answer(whole.substr(0, n))) << n;
  std::string loops = answer({srv(0, 0, 1, "a.x")});
  loops[12] = '\xc0', loops[13] = 12;  // a name that goes on at itself
  EXPECT_FALSE(parse_srv_answer(loops));
  for (size_t at = 0; at < whole.size(); ++at)
    for (char c : {'\0', '\xff', '\xc0'}) {
      std::string odd = whole;
      odd[at] = c;
      if (auto records = parse_srv_answer(odd))
        for (const SrvRecord& r : *records) EXPECT_LE(r.where.host.size(), 255u);
    }
  EXPECT_FALSE(parse_srv_answer(answer({record(33, std::string(3, 'x'))})));
  EXPECT_FALSE(parse_srv_answer(answer({record(33, number(0, 6) + name("a.x") + "more")})));
}

}  // namespace
}  // namespace muster::agent
