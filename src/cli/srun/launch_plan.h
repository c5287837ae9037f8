// What srun puts together before it launches a step: the environment of the tasks, the files and programs that go ahead, and the plan of the
// launch. srun(1).
#pragma once

#include <string>
#include <vector>

#include "cli/common/options.h"
#include "cli/common/session.h"
#include "cli/common/spank.h"
#include "cli/srun/step_launcher.h"
#include "os/cli_log.h"

namespace muster::cli {

// Where the step runs: in an existing job, in one that srun makes for it, or without a job (--no-allocate).
enum class Place : uint8_t { kInJob, kInJobOfItsOwn, kWithoutJob };

// Whether the file is there and may be run; the path of a program, found as the shell would find it.
bool may_run(const std::string& path);
std::string found_in_path(const std::string& program);

// `all`: the components of a heterogeneous job that srun made for the step; empty: `allocated` is the whole job.
LaunchPlan launch_plan(const JobOptions& options, const rpc::Allocated& allocated, const ClientConf& conf, Place place,
                       const std::vector<rpc::Allocated>& all = {});
// Runs --prolog or --epilog here, as the user.
bool run_program(const std::string& program, const char* what, const std::vector<std::string>& environment, const os::CliLog& log);
// The work between the step's creation and its launch.
Result<> prepare(Session& session, const JobOptions& o, const rpc::StepCreated& step, const NodeDialer& dialer, StepRequest& request,
                 SpankHost& plugins);
// Reports the end of the step. If the job ended meanwhile, the step ended with it, which is no error.
void finish_step(Session& session, const rpc::StepCreated& step, int32_t status, bool out_of_memory = false);
// With whole nodes and --cpus-per-task but no number of tasks, as many tasks run as the CPUs of the nodes allow.
void fill_whole_nodes(const JobOptions& o, const rpc::Allocated& a, StepRequest& s);
// Sets the default distribution of tasks, for programs that read its variable.
void say_distribution(const JobOptions& o, const rpc::StepCreated& step, StepRequest& s);

}  // namespace muster::cli
