// The options of a simulated run, and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

// Kinds of faults of the first phase; one bit each.
enum Fault : uint32_t {
  kFaultNetwork = 1u << 0,     // broken connections, partitions, late and repeated messages
  kFaultReboot = 1u << 1,      // machines lose power and come back with a new boot id
  kFaultSlurmd = 1u << 2,      // slurmd restarts while its jobs live on
  kFaultController = 1u << 3,  // the controller is killed at any point of a turn
  kFaultDisk = 1u << 4,        // full disk and I/O errors: the turn is rolled back
  kFaultClock = 1u << 5,       // the controller's clock steps
  kFaultAdmin = 1u << 6,       // drains, nodes set down, partitions closed
  kFaultPrograms = 1u << 7,    // prolog, epilog and launch failures
  kFaultHardware = 1u << 8,    // a node registers with less than slurm.conf says
};
inline constexpr uint32_t kAllFaults = (1u << 9) - 1;

// "network,disk", "all", "none"; nullopt for an unknown name.
std::optional<uint32_t> parse_faults(std::string_view text);
std::string fault_names();

struct RunOptions {
  uint64_t seed = 1;
  uint32_t actions = 120;  // commands of users and admins in the first phase
  uint32_t faults = kAllFaults;
  bool verbose = false;                               // print every happening
  std::function<void(std::string_view record)> keep;  // gets each record of the log, once it is durable
};

struct RunResult {
  bool ok = true;
  std::string checker, text;      // of the first violation
  std::vector<std::string> tail;  // the last happenings
  uint64_t hash = 0;              // of everything that was logged, and of the final state
  uint32_t nodes = 0, jobs = 0, turns = 0, events = 0, crashes = 0, rollbacks = 0;
  uint64_t simulated_seconds = 0;
};

// One world from beginning to end. Deterministic: equal options, equal result.
RunResult run_seed(const RunOptions& options);

}  // namespace muster::sim
