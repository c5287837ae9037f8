// What a daemon tells the service manager that started it (systemd, Type=notify): that it is ready. Then `systemctl start`
// returns when the daemon serves, and fails when it does not come so far.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::os {

// Where it wants to be told (NOTIFY_SOCKET); "": nobody does. The variable is taken out of the environment: it is not for the
// programs that we start, so this comes before the first of them.
std::string take_notify_socket();
Result<> tell_ready(const std::string& notify_socket);
bool systemd_runs();  // it is this machine's first process

}  // namespace muster::os
