// Where slurmdbd logs, and how much: LogFile, DebugLevel, DebugLevelSyslog, and -D and -v of the command line. slurmdbd.conf(5).
#pragma once

#include "os/log.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/daemon/arguments.h"

namespace muster::slurmdbd {

os::LogOptions log_options(const Settings& settings, const Arguments& arguments);

}  // namespace muster::slurmdbd
