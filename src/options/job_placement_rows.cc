// Options for where the job runs: node lists, features, topology, and the shape of nodes and tasks on them.
#include "options/job_options.h"
#include "options/setters.h"
#include "options/values.h"

namespace muster {
namespace {
using namespace options_detail;

// A text with a slash is the name of a file, which the command reads.
template <auto Nodes, auto File>
Result<> set_node_list(JobOptions& o, const Given& g) {
  bool is_file = g.value.find('/') != g.value.npos;
  o.*File = is_file ? std::string(g.value) : std::string();
  o.request.*Nodes = is_file ? std::string() : std::string(g.value);
  return {};
}

Result<> set_no_kill(JobOptions& o, const Given& g) {
  if (g.has_value && !g.value.empty() && !iequals(g.value, "off")) {
    bool on = g.source == Source::kEnvironment && parse_yes_no(g.value).value_or(false);
    if (!on) return bad_spec(g, "the only value is off");
  }
  o.request.no_kill = !(g.has_value && iequals(g.value, "off"));
  return {};
}

Result<> set_switches(JobOptions& options, const Given& given) {
  size_t at = given.value.find('@');
  auto count = parse_number<uint32_t>(given.value.substr(0, at), 0, 0x7fffffff);
  if (!count) return bad_number(given);
  Duration wait{};
  if (at != given.value.npos) {
    auto t = parse_time_limit(given.value.substr(at + 1));
    if (!t) return bad_spec(given, "after @ stands the longest wait, as in 1@30:00");
    wait = minutes(t->minutes.value_or(kUnlimited32));
  }
  options.request.switches = *count;
  if (at != given.value.npos) options.request.switches_wait = wait;
  return {};
}

constexpr JobOptionRow kPlacement[] = {
    {{.name = "nodelist",
      .letter = 'w',
      .arg = Arg::kRequired,
      .arg_name = "hosts",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "nodes the job must have",
      .doc = "These nodes, such as n[1-4,7], are part of the allocation; more are added when they are not "
             "enough. A value with a slash names a file that holds the list. With --distribution=arbitrary the list has a name for each "
             "task, in their order; n1*2 stands for n1,n1."},
     set_node_list<&AskedRequest::required_nodes, &JobOptions::nodelist_file>},
    {{.name = "nodefile",
      .letter = 'F',
      .arg = Arg::kRequired,
      .arg_name = "file",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "file with the nodes the job must have",
      .doc = "Like --nodelist, read from a file; names may stand on several lines."},
     set_text<&JobOptions::node_file>},
    {{.name = "exclude",
      .letter = 'x',
      .arg = Arg::kRequired,
      .arg_name = "hosts",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "nodes the job must not have",
      .doc = "These nodes are never part of the allocation. A value with a slash names a file that holds the list."},
     set_node_list<&AskedRequest::excluded_nodes, &JobOptions::exclude_file>},
    {{.name = "constraint",
      .letter = 'C',
      .arg = Arg::kRequired,
      .arg_name = "features",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_CONSTRAINT", .srun = "SLURM_CONSTRAINT", .salloc = "SALLOC_CONSTRAINT"},
      .section = Section::kPlacement,
      .summary = "features the nodes must have",
      .doc = "A feature, or features joined by & (and), | (or), [a|b] (all nodes the same), with *count for "
             "a number of nodes."},
     set_text<&AskedRequest::features>},
    {{.name = "prefer",
      .arg = Arg::kRequired,
      .arg_name = "features",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "features that are welcome",
      .doc = "Tried first in place of --constraint; when no nodes with them are free, --constraint decides."},
     set_text<&AskedRequest::prefer>},
    {{.name = "contiguous",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "neighbouring nodes only",
      .doc = "The allocated nodes must stand next to each other in the configuration's order. Needs "
             "topology/flat."},
     set_flag<&AskedRequest::contiguous>},
    {{.name = "switches",
      .arg = Arg::kRequired,
      .arg_name = "count[@max-time]",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_REQ_SWITCH", .srun = "SLURM_REQ_SWITCH", .salloc = "SALLOC_REQ_SWITCH"},
      .section = Section::kPlacement,
      .summary = "most leaf switches, and how long to wait for that",
      .doc = "With a tree topology, waits up to the time for an allocation that spans at most so many leaf "
             "switches."},
     set_switches},
    {{.name = "segment",
      .arg = Arg::kRequired,
      .arg_name = "size",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_SEGMENT_SIZE", .srun = "SRUN_SEGMENT_SIZE", .salloc = "SALLOC_SEGMENT_SIZE"},
      .section = Section::kPlacement,
      .summary = "nodes that must stand in one block",
      .doc = "With a block or ring topology, the allocation is made of segments of this many nodes, each "
             "inside one block."},
     set_count<&AskedRequest::segment>},
    {{.name = "spread-segments",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "each segment in a block of its own",
      .doc = "With a block topology, no two segments of the job share a base block."},
     set_flag<&AskedRequest::spread_segments>},
    {{.name = "consolidate-segments",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "all segments in one aggregated block",
      .doc = "With a block topology, all segments of the job stand inside one higher-level block."},
     set_flag<&AskedRequest::consolidate_segments>},
    {{.name = "spread-job",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_SPREAD_JOB", .srun = "SLURM_SPREAD_JOB", .salloc = "SALLOC_SPREAD_JOB"},
      .section = Section::kPlacement,
      .summary = "use as many nodes as possible",
      .doc = "Spreads the job over many nodes with tasks evenly on them, whatever the topology."},
     set_flag<&AskedRequest::spread_job>},
    {{.name = "use-min-nodes",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_USE_MIN_NODES", .srun = "SLURM_USE_MIN_NODES", .salloc = "SALLOC_USE_MIN_NODES"},
      .section = Section::kPlacement,
      .summary = "of a range of nodes, take few",
      .doc = "When --nodes is a range, prefers the smaller count."},
     set_flag<&AskedRequest::use_min_nodes>},
    {{.name = "reboot",
      .commands = kJobs,
      .section = Section::kPlacement,
      .summary = "reboot the nodes first",
      .doc = "Reboots the allocated nodes before the job starts. For root, SlurmUser and administrators."},
     set_flag<&AskedRequest::reboot>},
    {{.name = "no-kill",
      .letter = 'k',
      .arg = Arg::kOptional,
      .arg_name = "off",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_NO_KILL", .srun = "SLURM_NO_KILL", .salloc = "SALLOC_NO_KILL"},
      .section = Section::kPlacement,
      .summary = "go on when a node fails",
      .doc = "The job is not ended when one of its nodes fails. 'off' undoes the environment variable."},
     set_no_kill},
    {{.name = "wait-all-nodes",
      .arg = Arg::kRequired,
      .arg_name = "0|1",
      .commands = kSbatchOnly | kSallocOnly,
      .env = {.sbatch = "SBATCH_WAIT_ALL_NODES", .salloc = "SALLOC_WAIT_ALL_NODES"},
      .section = Section::kPlacement,
      .summary = "start only when all nodes are up",
      .doc = "1 waits until every node has booted and is ready, which a job does here with 0, too."},
     [](JobOptions& o, const Given& g) -> Result<> {
       auto v = parse_number<uint32_t>(g.value);
       if (!v) return bad_number(g);
       if (*v > 1) return bad_spec(g, "expected 0 or 1");
       o.request.wait_all_nodes = *v ? TriState::kYes : TriState::kNo;
       return {};
     }},
};

// Reads S[:C[:T]]; an asterisk leaves a number open.
Result<> set_extra_node_info(JobOptions& options, const Given& given) {
  constexpr const char* kWhich[] = {"first", "second", "third"};
  uint32_t values[3] = {};
  auto parts = split(given.value, ':', true);
  if (parts.size() > 3) return bad_spec(given, "expected sockets[:cores[:threads]]");
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "*") continue;
    auto v = parse_number<uint32_t>(parts[i].substr(0, parts[i].find('-')), 1, 0xfffe);
    if (!v) return fail(Errc::kInvalidReq, "Invalid numeric value \"" + std::string(parts[i]) + "\" for " + kWhich[i] + " arg of -B.");
    values[i] = *v;
  }
  options.request.sockets_per_node = values[0];
  options.request.cores_per_socket = values[1];
  options.request.threads_per_core = values[2];
  return {};
}

Result<> set_hint(JobOptions& o, const Given& g) {
  constexpr std::string_view kKnown[] = {"compute_bound", "memory_bound", "multithread", "nomultithread", "help"};
  for (std::string_view k : kKnown) {
    if (!iequals(k, g.value)) continue;
    o.request.hint = std::string(k);
    return {};
  }
  return fail(Errc::kInvalidReq, "unrecognized --hint argument \"" + std::string(g.value) + "\", see --hint=help");
}

constexpr JobOptionRow kLayout[] = {
    {{.name = "distribution",
      .letter = 'm',
      .arg = Arg::kRequired,
      .arg_name = "nodes[:sockets[:cores]][,pack]",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_DISTRIBUTION", .srun = "SLURM_DISTRIBUTION"},
      .section = Section::kLayout,
      .summary = "how tasks are dealt out",
      .doc = "block, cyclic, plane=<size> or arbitrary over nodes; block, cyclic or fcyclic over sockets and "
             "over cores; * is the default; pack or nopack fills nodes first or not. arbitrary follows the "
             "file in SLURM_HOSTFILE."},
     set_text<&JobOptions::distribution>},
    {{.name = "sockets-per-node",
      .arg = Arg::kRequired,
      .arg_name = "sockets",
      .commands = kJobs,
      .section = Section::kLayout,
      .summary = "least sockets per node",
      .doc = "Takes only nodes with at least so many sockets."},
     set_count<&AskedRequest::sockets_per_node>},
    {{.name = "cores-per-socket",
      .arg = Arg::kRequired,
      .arg_name = "cores",
      .commands = kJobs,
      .section = Section::kLayout,
      .summary = "least cores per socket",
      .doc = "Takes only nodes with at least so many cores on a socket."},
     set_count<&AskedRequest::cores_per_socket>},
    {{.name = "threads-per-core",
      .arg = Arg::kRequired,
      .arg_name = "threads",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_THREADS_PER_CORE", .srun = "SLURM_THREADS_PER_CORE", .salloc = "SALLOC_THREADS_PER_CORE"},
      .section = Section::kLayout,
      .summary = "threads of a core to use",
      .doc = "Takes only nodes with at least so many threads on a core, and uses at most so many."},
     set_count<&AskedRequest::threads_per_core>},
    {{.name = "extra-node-info",
      .letter = 'B',
      .arg = Arg::kRequired,
      .arg_name = "S[:C[:T]]",
      .commands = kJobs,
      .section = Section::kLayout,
      .summary = "sockets, cores and threads at once",
      .doc = "Short for --sockets-per-node, --cores-per-socket and --threads-per-core; an asterisk leaves "
             "one open. Excludes --hint, --threads-per-core and --ntasks-per-core."},
     set_extra_node_info},
    {{.name = "ntasks-per-core",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.srun = "SLURM_NTASKS_PER_CORE"},
      .section = Section::kLayout,
      .summary = "most tasks on a core",
      .doc = "At most so many tasks on each core."},
     set_count<&AskedRequest::ntasks_per_core>},
    {{.name = "ntasks-per-socket",
      .arg = Arg::kRequired,
      .arg_name = "number",
      .commands = kJobs,
      .env = {.srun = "SLURM_NTASKS_PER_SOCKET"},
      .section = Section::kLayout,
      .summary = "most tasks on a socket",
      .doc = "At most so many tasks on each socket."},
     set_count<&AskedRequest::ntasks_per_socket>},
    {{.name = "hint",
      .arg = Arg::kRequired,
      .arg_name = "type",
      .commands = kJobs,
      .env = {.sbatch = "SBATCH_HINT|SLURM_HINT", .srun = "SLURM_HINT", .salloc = "SALLOC_HINT|SLURM_HINT"},
      .section = Section::kLayout,
      .summary = "what the program is like",
      .doc = "compute_bound: all cores, one thread each; memory_bound: one core of each socket; multithread: "
             "use extra threads; nomultithread: one thread per core; help prints this. Options that set the "
             "same numbers win over it on the command line."},
     set_hint},
};
}  // namespace

std::span<const JobOptionRow> job_placement_rows() { return kPlacement; }
std::span<const JobOptionRow> job_layout_rows() { return kLayout; }

}  // namespace muster
