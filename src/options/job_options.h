// JobOptions: everything sbatch, srun and salloc were told, from script, environment and command line. What the controller must know is in
// `request`, what a step needs in `step`; the rest is for the command itself. Files named by options (--nodefile, --export-file, srun -w
// /path) are not read here: the command reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/job_request.h"
#include "model/step_request.h"
#include "options/option_table.h"

namespace muster {

enum class Bell : uint8_t { kAfterDelay, kAlways, kNever };

struct JobOptions {
  Command command = Command::kSbatch;
  AskedRequest request;
  StepRequest step;  // srun; complete after finish_job_options

  // all three
  bool help = false, usage = false, version = false;
  bool quiet = false;
  uint32_t verbose = 0;
  std::string user_text, group_text;                  // --uid, --gid as typed: name or number, resolved by the command
  std::string node_file;                              // --nodefile
  std::string host_file;                              // SLURM_HOSTFILE, where no other list of nodes is given
  std::string nodelist_file, exclude_file;            // -w/-x with a '/'
  std::optional<std::vector<std::string>> propagate;  // names without RLIMIT_; "ALL", "NONE"; unset: the site's rule
  std::optional<uint32_t> umask;                      // SLURM_UMASK
  std::optional<int> exit_error, exit_immediate;      // SLURM_EXIT_ERROR, SLURM_EXIT_IMMEDIATE
  std::string debug_flags;
  uint32_t plane_size = 0;  // SLURM_DIST_PLANESIZE
  std::string chdir;        // as typed; request.work_dir is the command's to fill

  // sbatch
  bool parsable = false, wait = false, ignore_pbs = false;
  std::optional<std::string> wrap;
  std::string export_file;

  // --export, also of srun: the texts between the commas, without ALL, NONE and NIL, in order
  std::vector<std::string> export_list;
  bool export_all = true;  // with a list: "ALL," was given too
  bool export_given = false;

  // salloc
  bool no_shell = false;
  Bell bell = Bell::kAfterDelay;
  std::optional<uint8_t> kill_command;  // 0: the default signal

  // srun
  JobId job_id{};
  uint32_t array_task = kNoArrayTask;  // the task of job_id's array
  std::vector<uint32_t> het_groups;    // --het-group; none: 0, or as the component's place among those of the command line
  uint32_t threads = 0;                // launches at a time; 0: no bound
  bool async = false;                  // with `parsable`: only the id
  bool preserve_env = false, disable_status = false, quit_on_interrupt = false;
  bool test_exec = false, reduce_task_exit_msg = false;
  bool exclusive_allocation = false;  // srun --exclusive=allocation
  bool whole = false;                 // --whole: not just what the step asks for
  bool bcast = false;
  std::string bcast_path, bcast_exclude, compress;
  std::optional<uint32_t> treewidth;  // 0: off
  std::string prolog, epilog;         // run by srun itself; "none" disables the site's
  std::vector<uint8_t> ignore_signals;
  std::optional<uint32_t> msg_timeout_seconds;
  std::string step_gres;  // SLURM_STEP_GRES

  // raw texts that finish_job_options combines
  std::string gres, gpus, gpus_per_node, gpus_per_socket, gpus_per_task, tres_per_task, gpu_bind, gpu_freq, resources;
  std::string wait4switch;
  std::string distribution;

  std::vector<PluginOptionValue> plugin_options;  // every occurrence, the script's before the command line's

  std::vector<Seen> seen;  // one per option, the last and strongest source
  const Seen* find(std::string_view name) const;
  bool given(std::string_view name) const { return find(name) != nullptr; }
  Source source_of(std::string_view name) const;
};

// Tables of rows, by subject. Order within a table is the order of --help.
using JobOptionRow = OptionRow<JobOptions>;
std::span<const JobOptionRow> job_identity_rows();
std::span<const JobOptionRow> job_time_rows();
std::span<const JobOptionRow> job_resource_rows();
std::span<const JobOptionRow> job_placement_rows();
std::span<const JobOptionRow> job_layout_rows();
std::span<const JobOptionRow> job_gpu_rows();
std::span<const JobOptionRow> job_binding_rows();
std::span<const JobOptionRow> job_output_rows();
std::span<const JobOptionRow> job_batch_rows();
std::span<const JobOptionRow> step_launch_rows();
std::span<const JobOptionRow> job_unavailable_rows();
std::span<const JobOptionRow> job_general_rows();
std::span<const JobOptionRow> job_environment_rows();

// The rows that a command has, in the order of the tables.
std::vector<const JobOptionRow*> job_rows(Command c);

// Applies the rules between options, turns texts into fields of the request and, for srun, fills the step. `messages` gets warnings and, if
// the answer is false, the error. Cost: linear in the length of the texts.
bool finish_job_options(JobOptions& options, std::vector<Message>& messages);

}  // namespace muster
