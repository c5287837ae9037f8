#include "cli/scontrol/keywords.h"

#include "base/text.h"

namespace muster::cli {
namespace {

constexpr KeywordRow kKeywords[] = {
    {"completing", Keyword::kCompleting, 0, 0, "completing", "jobs that are ending, and their nodes"},
    {"create", Keyword::kCreate, 1, kAnyWords, "create <SPECIFICATION>", "makes a partition"},
    {"delete", Keyword::kDelete, 1, 2, "delete <SPECIFICATION>", "removes a partition"},
    {"errnumstr", Keyword::kErrnumstr, 1, 1, "errnumstr <ERRNO>", "the text of an error number"},
    {"exit", Keyword::kExit, 0, 0, "exit", "ends scontrol"},
    {"help", Keyword::kHelp, 0, 0, "help", "prints this"},
    {"hold", Keyword::kHold, 1, kAnyWords, "hold <job_list>", "keeps pending jobs from starting"},
    {"holdu", Keyword::kUhold, 1, kAnyWords, "", ""},
    {"ping", Keyword::kPing, 0, 0, "ping", "which controllers answer"},
    {"quit", Keyword::kQuit, 0, 0, "quit", "ends scontrol"},
    {"reconfigure", Keyword::kReconfigure, 0, 0, "reconfigure", "the daemons read their files again"},
    {"release", Keyword::kRelease, 1, kAnyWords, "release <job_list>", "lets held jobs start"},
    {"requeue", Keyword::kRequeue, 1, kAnyWords, "requeue [Incomplete] <job_list>",
     "ends jobs and queues them again"},
    {"requeuehold", Keyword::kRequeueHold, 1, kAnyWords, "requeuehold [Incomplete] <job_list>",
     "the same, held"},
    {"resume", Keyword::kResume, 1, kAnyWords, "resume <job_list>", "suspended jobs go on"},
    {"show", Keyword::kShow, 1, kAnyWords, "show <ENTITY> [<ID>]",
     "what is known of jobs, nodes, partitions …"},
    {"shutdown", Keyword::kShutdown, 0, 1, "shutdown [slurmctld|controller]",
     "ends the daemons, or the controller alone"},
    {"suspend", Keyword::kSuspend, 1, kAnyWords, "suspend <job_list>", "stops running jobs for a while"},
    {"top", Keyword::kTop, 1, kAnyWords, "top <job_list>", "moves jobs before the others of their owner"},
    {"uhold", Keyword::kUhold, 1, kAnyWords, "uhold <job_list>", "holds as the jobs' owner would"},
    {"update", Keyword::kUpdate, 1, kAnyWords, "update <SPECIFICATION>",
     "changes a job, nodes or a partition"},
    {"version", Keyword::kVersion, 0, 0, "version", "prints the version"},
    {"wait_job", Keyword::kWaitJob, 1, 1, "wait_job <job_id>", "returns when the job's nodes are ready"},
    {"write", Keyword::kWrite, 2, 3, "write batch_script <job_id> [<file>|-]", "saves a job's script"},
    {"all", Keyword::kAll, 0, 0, "all", "show hidden partitions too"},
    {"details", Keyword::kDetails, 0, 0, "details", "show more of each"},
    {"hide", Keyword::kHide, 0, 0, "hide", "show no hidden partitions"},
    {"oneliner", Keyword::kOneliner, 0, 0, "oneliner", "show each on one line"},
    {"quiet", Keyword::kQuiet, 0, 0, "quiet", "print errors only"},
    {"verbose", Keyword::kVerbose, 0, 0, "verbose", "print more of what happens"},
    {"abort", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"cancel_reboot", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"fsdampeningfactor", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"getaddrs", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"getent", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"listjobs", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"listpids", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"liststeps", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"notify", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"pidinfo", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"power", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"reboot", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"setdebug", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"setdebugflags", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"schedloglevel", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"takeover", Keyword::kUnavailable, 0, kAnyWords, "", ""},
    {"token", Keyword::kUnavailable, 0, kAnyWords, "", ""},
};

struct EntityRow {
  std::string_view name;
  Entity entity;
};
constexpr EntityRow kEntities[] = {
    {"config", Entity::kConfig},
    {"hostlist", Entity::kHostlist},
    {"hostlistsorted", Entity::kHostlistSorted},
    {"hostnames", Entity::kHostnames},
    {"jobs", Entity::kJob},
    {"nodes", Entity::kNode},
    {"partitions", Entity::kPartition},
    {"reservations", Entity::kReservation},
    {"steps", Entity::kStep},
    {"aliases", Entity::kUnavailable},
    {"assoc_mgr", Entity::kUnavailable},
    {"bbstat", Entity::kUnavailable},
    {"burstbuffer", Entity::kUnavailable},
    {"daemons", Entity::kUnavailable},
    {"dwstat", Entity::kUnavailable},
    {"federation", Entity::kUnavailable},
    {"licenses", Entity::kUnavailable},
    {"slurmd", Entity::kUnavailable},
    {"topology", Entity::kUnavailable},
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
  // "show job", "show node" and so on are names of their own, not beginnings that something else could share.
  const EntityRow* row = find_row(kEntities, word);
  if (!row && iequals(word, "host")) row = nullptr;
  if (row) out = row->entity;
  return row != nullptr;
}

void append_keyword_help(std::string& out) {
  for (const KeywordRow& row : kKeywords) {
    if (row.help.empty()) continue;
    std::string line = "  " + std::string(row.help);
    if (line.size() < 42) line.append(42 - line.size(), ' ');
    out += line + " " + std::string(row.summary) + "\n";
  }
  out +=
      "\nENTITY is one of config, hostlist, hostlistsorted, hostnames, job, node, partition, reservation or "
      "step.\n"
      "SPECIFICATION is a list of key=value as scontrol show prints them, one of them JobId=, NodeName= or "
      "PartitionName=.\n"
      "Keywords may be shortened as long as they stay unambiguous; case does not matter.\n";
}

}  // namespace muster::cli
