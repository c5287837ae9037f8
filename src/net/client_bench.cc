// Measures what a command pays for the network: a program that makes one connection and one request, and nothing else. "client_bench
// PATH" goes to an agent socket, "client_bench PORT" to 127.0.0.1 with the key of net_bench serve.
#include <stdlib.h>
#include <unistd.h>

#include "net/client.h"

int main(int argc, char** argv) {
  using namespace muster;
  if (argc != 2) return 2;
  net::ClientOptions o;
  if (argv[1][0] == '/') {
    o.agent_sockets = {argv[1]};
    o.trusted_uids = {getuid()};
  } else {
    o.controllers = {{"127.0.0.1", static_cast<uint16_t>(atoi(argv[1]))}};
    o.security.key = std::string(32, 'k');
  }
  auto c = net::connect_client(o);
  return c && (*c)->request(1, "x", seconds(5)) ? 0 : 1;
}
