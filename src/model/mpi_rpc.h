// What an MPI module (src/plugin/mpi/README.md) is told and what it tells: how a step's processes find each other. A module is a
// program of its own beside slurmstepd, one for each node of a step that asks for it with srun --mpi.
//
//   slurmd → slurmstepd   StepMpi, before the StepdLaunch that it belongs to
//   slurmstepd → module   ModuleStart (once, first), NodeLetter, NodesLost, TaskGone, ModuleEnd (said back)
//   module → slurmstepd   ModuleReady or ModuleFailed (once, first), NodeLetter, ModuleAbort, ModuleNote
//   slurmstepd ↔ srun     NodeLetter, NodesLost; StepAbort: beside the stream of model/step_rpc.h
//
// The modules of one step talk to each other by NodeLetter. srun passes letters on between the streams of the nodes, whose peers it
// knows by the step's key, and writes each letter's sender into it. All of these are notices: the frame's message is kNumber. Plain
// values; no I/O here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/ids.h"

#define MUSTER_FIELDS(...)                   \
  template <class S, class V>                \
  static void describe(S& self, V&& field) { \
    __VA_ARGS__                              \
  }

namespace muster::mpi_rpc {

// The sender refuses a longer letter: a frame must hold it, and srun must hold one for each node.
inline constexpr size_t kMaxLetter = 32u << 20;

struct NodeRanks {
  std::string node;
  std::vector<uint32_t> ranks;
  bool operator==(const NodeRanks&) const = default;
  MUSTER_FIELDS(field(1, "node", self.node); field(2, "ranks", self.ranks);)
};

struct StepMpi {
  static constexpr uint16_t kNumber = 440;
  std::string type, program;             // "pmix", the module's file
  std::string directory;                 // for the module's files; slurmstepd makes and removes it
  std::string task_directory;            // for the tasks' own temporary files, random letters follow; "" = in `directory`
  std::vector<std::string> environment;  // NAME=value, of the module and of the tasks
  std::vector<NodeRanks> nodes;          // of the step, in its order
  uint32_t timeout_seconds = 300;        // for exchanges that other nodes take part in; 0 = unlimited
  bool debug = false, share_topology = false;
  uint32_t task_descriptor = 0;  // each task gets a socket to the module at this descriptor; 0 = none
  JobId whole_job{};             // of a step over components of a heterogeneous job: the id that names it everywhere; 0: the step's own
  MUSTER_FIELDS(field(1, "type", self.type); field(2, "program", self.program); field(3, "directory", self.directory);
                field(4, "task_directory", self.task_directory); field(5, "environment", self.environment); field(6, "nodes", self.nodes);
                field(7, "timeout_seconds", self.timeout_seconds); field(8, "debug", self.debug);
                field(9, "share_topology", self.share_topology); field(10, "task_descriptor", self.task_descriptor);
                field(40, "whole_job", self.whole_job);)
};

struct ModuleStart {
  static constexpr uint16_t kNumber = 441;
  JobId job{};
  StepId step{};
  Uid uid{};
  Gid gid{};
  uint32_t node_id = 0;  // our place in setup.nodes
  StepMpi setup;
  MUSTER_FIELDS(field(1, "job", self.job); field(2, "step", self.step); field(3, "uid", self.uid); field(4, "gid", self.gid);
                field(5, "node_id", self.node_id); field(6, "setup", self.setup);)
};

struct TaskVariables {
  uint32_t rank = 0;
  std::vector<std::string> environment;  // overrides what the task has
  MUSTER_FIELDS(field(1, "rank", self.rank); field(2, "environment", self.environment);)
};
struct ModuleReady {
  static constexpr uint16_t kNumber = 442;
  std::vector<TaskVariables> tasks;  // of this node only
  MUSTER_FIELDS(field(1, "tasks", self.tasks);)
};
struct ModuleFailed {  // the step's launch fails with it
  static constexpr uint16_t kNumber = 443;
  std::string text;
  MUSTER_FIELDS(field(1, "text", self.text);)
};

struct NodeLetter {
  static constexpr uint16_t kNumber = 444;
  uint32_t from = 0;         // place among the step's nodes; srun writes it
  std::vector<uint32_t> to;  // places, never the sender's own; slurmstepd's first letter goes to nobody
  std::string content;
  MUSTER_FIELDS(field(1, "from", self.from); field(2, "to", self.to); field(3, "content", self.content);)
};
struct NodesLost {  // no letter comes from there any more, and none arrives
  static constexpr uint16_t kNumber = 445;
  std::vector<uint32_t> nodes;
  MUSTER_FIELDS(field(1, "nodes", self.nodes);)
};
struct TaskGone {
  static constexpr uint16_t kNumber = 446;
  uint32_t rank = 0;
  int32_t status = 0;  // wait status
  MUSTER_FIELDS(field(1, "rank", self.rank); field(2, "status", self.status);)
};
struct ModuleAbort {  // a task asked for the end of the step
  static constexpr uint16_t kNumber = 447;
  std::string text;  // for the step's stderr: who, and why
  MUSTER_FIELDS(field(1, "text", self.text);)
};
struct ModuleNote {  // a line for the step's stderr
  static constexpr uint16_t kNumber = 449;
  std::string text;
  MUSTER_FIELDS(field(1, "text", self.text);)
};
// From slurmstepd: the tasks are over. The module sends it back behind its last letter, and is killed then.
struct ModuleEnd {
  static constexpr uint16_t kNumber = 451;
  MUSTER_FIELDS((void)self; (void)field;)
};
struct StepAbort {  // srun ends the step on all nodes
  static constexpr uint16_t kNumber = 448;
  MUSTER_FIELDS((void)self; (void)field;)
};

}  // namespace muster::mpi_rpc

#undef MUSTER_FIELDS
