// What a daemon tells the service manager that started it (systemd, Type=notify): that it is ready. Then `systemctl start`
// returns when the daemon serves, and fails when it does not come so far.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::os {

// The address at which the service manager wants to be told (NOTIFY_SOCKET); "" where there is none. The variable is taken out of the
// environment, since the programs that we start must not have it: call this before the first of them.
std::string take_notify_socket();
Result<> tell_ready(const std::string& notify_socket);
bool systemd_runs();  // it is this machine's first process

}  // namespace muster::os
