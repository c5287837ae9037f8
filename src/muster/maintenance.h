// muster maintenance: has slurmctld drain nodes, reboot them and return them to service a few at a time; shows how far it is; pauses, goes on,
// gives up. For administrators, as scontrol reboot is. docs/operating.md.
#pragma once

#include <span>
#include <string>

namespace muster::front {

int maintenance_verb(std::span<const std::string> arguments);

}  // namespace muster::front
