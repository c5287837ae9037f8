// Task: what is asked of the controller, as its turns take it (turn_driver.h), and Reply: what is done once that is durable.
#pragma once

#include <functional>

#include "base/result.h"

namespace muster::store {
class EventLog;
}

namespace muster::slurmctld {

class Core;

using Reply = std::function<void()>;

struct Task {
  // Decides on the core; what it returns is run once the decision is durable. Empty: nobody is to be told.
  std::function<Reply(Core&, store::EventLog&)> run;
  // Run in its place when the turn could not be written: nothing of it happened. May be empty.
  std::function<void(const Error&)> refused;
};

}  // namespace muster::slurmctld
