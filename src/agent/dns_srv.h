// The DNS records _slurmctld._tcp, which name the controllers of a site. Guide configless_slurm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/client.h"

namespace muster::agent {

struct SrvRecord {
  uint16_t priority = 0, weight = 0;
  net::Endpoint where;
};
// Reads the SRV records of a DNS answer (RFC 1035, 2782), which anybody on the way may have made: any bytes are safe. Records of other
// kinds are passed over, and at most 64 are taken. Error: kReceiveFailed, the answer is cut off or makes no sense.
Result<std::vector<SrvRecord>> parse_srv_answer(std::string_view answer);
// By priority, the lowest first, then by weight, the highest first.
std::vector<net::Endpoint> in_order(std::vector<SrvRecord> records);

// Asks the resolver of this host (resolv.conf, with its search domains). Blocks as long as that says. None: there are no such records.
std::vector<net::Endpoint> servers_by_dns();

}  // namespace muster::agent
