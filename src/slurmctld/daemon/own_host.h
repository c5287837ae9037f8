// Which SlurmctldHost line of slurm.conf means the host that this process runs on. slurm.conf(5). Lenient: the host's name, short or in
// full, any name that resolves to one of its addresses, loopback among them; only where nothing of that matches the host is no controller.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/slurm_conf.h"

namespace muster::slurmctld {

// Whether a host's name or address, as slurm.conf writes it, leads to this host.
using LeadsHere = std::function<bool(const std::string& host)>;

// Asks the resolver, which may block, and the kernel whether one of the addresses is its own. False where nothing is known of the name.
bool leads_here(const std::string& host);

// As gethostname(2) says it: "ctl" or "ctl.example.org".
std::string own_hostname();

// The first line that means this host; null: none. `leads` is asked only where no line has the host's name.
const config::ControllerHost* own_line(const config::Config& config, std::string_view hostname, const LeadsHere& leads);

// kInvalidArgument, in Slurm's words and with the lines that there are, where own_line() finds none.
Result<> may_control(const config::Config& config, std::string_view hostname, const LeadsHere& leads);

}  // namespace muster::slurmctld
