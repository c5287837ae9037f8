#include "cli/scontrol/keywords.h"

#include "base/text.h"
#include "cli/common/dialogue.h"

namespace muster::cli {
namespace {

constexpr KeywordRow kKeywords[] = {
    {"abort", Keyword::kAbort, 0, 0, "", ""},
    {"cancel_reboot", Keyword::kCancelReboot, 1, 1, "cancel_reboot <nodes>", "takes back a reboot that has not begun"},
    {"completing", Keyword::kCompleting, 0, 0, "completing", "jobs that are ending, and their nodes"},
    {"create", Keyword::kCreate, 1, kAnyWords, "create <SPECIFICATION>", "makes a partition or nodes"},
    {"delete", Keyword::kDelete, 1, 2, "delete <SPECIFICATION>", "removes a partition or nodes that were created"},
    {"errnumstr", Keyword::kErrnumstr, 1, 1, "errnumstr <ERRNO>", "the text of an error number"},
    {"exit", Keyword::kExit, 0, 0, "exit", "ends scontrol"},
    {"fsdampeningfactor", Keyword::kFsDampeningFactor, 1, 1, "fsdampeningfactor <FACTOR>", "sets FairShareDampeningFactor"},
    {"getaddrs", Keyword::kGetAddrs, 1, 1, "getaddrs <nodes>", "the addresses of nodes"},
    {"getent", Keyword::kGetent, 0, 1, "getent [<NodeName>]", "users and groups of the steps on this host"},
    {"help", Keyword::kHelp, 0, 0, "help", "prints this"},
    {"hold", Keyword::kHold, 1, kAnyWords, "hold <job_list>", "keeps pending jobs from starting"},
    {"holdu", Keyword::kUhold, 1, kAnyWords, "", ""},
    {"listjobs", Keyword::kListJobs, 0, 1, "listjobs [<NodeName>]", "the jobs on this host"},
    {"listpids", Keyword::kListPids, 0, 2, "listpids [<job_id>[.<step_id>]] [<NodeName>]", "the processes of steps on this host"},
    {"liststeps", Keyword::kListSteps, 0, 1, "liststeps [<NodeName>]", "the steps on this host"},
    {"notify", Keyword::kNotify, 2, kAnyWords, "notify <job_id> <message>", "a line on the job's standard error"},
    {"pidinfo", Keyword::kPidInfo, 1, 1, "pidinfo <pid>", "the job of a process, and its end"},
    {"power", Keyword::kPower, 2, kAnyWords, "power {up|down} [asap|force] <nodes> [action=…] [reason=…]", "powers nodes up or down"},
    {"ping", Keyword::kPing, 0, 0, "ping", "which controllers answer"},
    {"quit", Keyword::kQuit, 0, 0, "quit", "ends scontrol"},
    {"reboot", Keyword::kReboot, 0, kAnyWords, "reboot [ASAP] [FORCE] [nextstate=…] [reason=…] [action=…] <nodes>",
     "reboots nodes when they are idle"},
    {"reconfigure", Keyword::kReconfigure, 0, 0, "reconfigure", "the daemons read their files again"},
    {"release", Keyword::kRelease, 1, kAnyWords, "release <job_list>", "lets held jobs start"},
    {"requeue", Keyword::kRequeue, 1, kAnyWords, "requeue [Incomplete] <job_list>", "ends jobs and queues them again"},
    {"requeuehold", Keyword::kRequeueHold, 1, kAnyWords, "requeuehold [Incomplete] <job_list>", "the same, held"},
    {"resume", Keyword::kResume, 1, kAnyWords, "resume <job_list>", "suspended jobs go on"},
    {"schedloglevel", Keyword::kSchedLogLevel, 1, 1, "schedloglevel <0|1>", "refused: there is no log of scheduling events"},
    {"setdebug", Keyword::kSetDebug, 1, 2, "setdebug <LEVEL> [nodes=<nodes>]", "the level of a daemon's log"},
    {"setdebugflags", Keyword::kSetDebugFlags, 1, kAnyWords, "setdebugflags {+|-}<FLAG> … [nodes=<nodes>]", "adds and removes DebugFlags"},
    {"show", Keyword::kShow, 1, kAnyWords, "show <ENTITY> [<ID>]", "what is known of jobs, nodes, partitions …"},
    {"shutdown", Keyword::kShutdown, 0, 1, "shutdown [slurmctld|controller]", "ends the daemons, or the controller alone"},
    {"suspend", Keyword::kSuspend, 1, kAnyWords, "suspend <job_list>", "stops running jobs for a while"},
    {"takeover", Keyword::kTakeover, 0, 1, "takeover [<INDEX>]", "a standby controller takes control"},
    {"token", Keyword::kToken, 0, 2, "token [lifespan=…] [username=…]", "refused: there is no auth/jwt"},
    {"top", Keyword::kTop, 1, kAnyWords, "top <job_list>", "moves jobs before the others of their owner"},
    {"uhold", Keyword::kUhold, 1, kAnyWords, "uhold <job_list>", "holds as the jobs' owner would"},
    {"update", Keyword::kUpdate, 1, kAnyWords, "update <SPECIFICATION>", "changes a job, a step, nodes or a partition"},
    {"version", Keyword::kVersion, 0, 0, "version", "prints the version"},
    {"wait_job", Keyword::kWaitJob, 1, 1, "wait_job <job_id>", "returns when the job's nodes are ready"},
    {"write", Keyword::kWrite, 1, 3, "write {batch_script <job_id> [<file>|-] | config [<file>]}",
     "saves a job's script, or the configuration"},
    {"all", Keyword::kAll, 0, 0, "all", "show hidden partitions too"},
    {"cluster", Keyword::kCluster, 0, 1, "cluster <NAME>", "the cluster to ask"},
    {"details", Keyword::kDetails, 0, 0, "details", "show more of each"},
    {"hide", Keyword::kHide, 0, 0, "hide", "show no hidden partitions"},
    {"oneliner", Keyword::kOneliner, 0, 0, "oneliner", "show each on one line"},
    {"quiet", Keyword::kQuiet, 0, 0, "quiet", "print errors only"},
    {"verbose", Keyword::kVerbose, 0, 0, "verbose", "print more of what happens"},
};

struct EntityRow {
  std::string_view name;
  Entity entity;
};
constexpr EntityRow kEntities[] = {
    {"aliases", Entity::kAliases},
    {"assoc_mgr", Entity::kAssocMgr},
    {"bbstat", Entity::kBurstBufferStatus},
    {"burstbuffer", Entity::kBurstBuffer},
    {"config", Entity::kConfig},
    {"daemons", Entity::kDaemons},
    {"dwstat", Entity::kBurstBufferStatus},
    {"federation", Entity::kFederation},
    {"hostlist", Entity::kHostlist},
    {"hostlistsorted", Entity::kHostlistSorted},
    {"hostnames", Entity::kHostnames},
    {"jobs", Entity::kJob},
    {"licenses", Entity::kLicense},
    {"nodes", Entity::kNode},
    {"partitions", Entity::kPartition},
    {"reservations", Entity::kReservation},
    {"slurmd", Entity::kSlurmd},
    {"steps", Entity::kStep},
    {"topoconf", Entity::kTopoconf},
    {"topology", Entity::kTopology},
};

constexpr EntityRow kPrintedKeys[] = {
    {"jobid", Entity::kJob},
    {"nodename", Entity::kNode},
    {"partitionname", Entity::kPartition},
    {"reservationname", Entity::kReservation},
    {"stepid", Entity::kStep},
};

// The row whose name is `word`, else the only one that begins with it.
template <class Row, size_t N>
const Row* find_row(const Row (&rows)[N], std::string_view word) {
  const Row* found = nullptr;
  size_t beginnings = 0;
  for (const Row& row : rows) {
    if (iequals(row.name, word)) return &row;
    if (!istarts_with(row.name, word)) continue;
    ++beginnings;
    found = &row;
  }
  return !word.empty() && beginnings == 1 ? found : nullptr;
}

}  // namespace

const KeywordRow* find_keyword(std::string_view word) { return find_row(kKeywords, word); }

bool find_entity(std::string_view word, Entity& out) {
  // "job", "node" and the like have rows of their own, so they are whole names even where longer names begin with them.
  const EntityRow* row = find_row(kEntities, word);
  // "show jobid=5" is accepted, because scontrol prints the key so
  if (!row) row = find_row(kPrintedKeys, word);
  if (row) out = row->entity;
  return row != nullptr;
}

void append_keyword_help(std::string& out) {
  for (const KeywordRow& row : kKeywords)
    if (!row.help.empty()) out += verb_help(row.help, row.summary, 43);
  out += "\nENTITY is one of aliases, assoc_mgr, burstbuffer, config, daemons, federation, hostlist, hostlistsorted, hostnames,\n"
         "job, license, node, partition, reservation, slurmd or step.\n"
         "SPECIFICATION is a list of key=value as scontrol show prints them, the first of them JobId=, StepId=, NodeName= or "
         "PartitionName=.\n"
         "Keywords may be shortened as long as they stay unambiguous; case does not matter.\n";
}

}  // namespace muster::cli
