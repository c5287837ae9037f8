// SPANK plugins in srun, sbatch and salloc: loaded before the command line is read, because they add options to it. Without plugstack.conf
// nothing is opened and everything here does nothing. spank(8).
//
// A plugin gets an option from its variable (option_text.h) first, then in the order of script and command line.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/common/client_conf.h"
#include "cli/common/options.h"
#include "model/rpc.h"
#include "os/cli_log.h"
#include "plugin/spank/stack.h"

namespace muster::cli {

class SpankHost {
 public:
  // `log` must outlive the result. It fails for a bad plugstack.conf and for a required plugin that cannot be loaded.
  static Result<SpankHost> load(Command command, const ClientConf& conf, const os::CliLog& log);
  SpankHost() = default;
  SpankHost(SpankHost&&) = default;
  SpankHost& operator=(SpankHost&&) = default;
  ~SpankHost();  // calls slurm_spank_exit

  // The plugins' options, for the parser and --help.
  std::span<const PluginOption> options() const { return options_; }
  // Gives the plugins the options that the user gave. An error names the value that a plugin refused.
  Result<> give_options(const JobParse& parse);
  // To be called when all options are known: calls init_post_opt and collects what goes along with the job and its steps. sbatch and salloc
  // put the options into our own environment, for the steps of the job to come.
  Result<> finish_options(JobOptions& options);
  // For srun: the step has its number, its tasks do not run yet.
  Result<> before_launch(const rpc::StepCreated& step);

 private:
  Command command_ = Command::kSrun;
  std::unique_ptr<spank::Stack> stack_;
  std::vector<PluginOption> options_;
};

// The first step of the three commands: SpankHost::load, except for a lone --version and without a configuration, where there is nothing to
// load. Reports errors; nullopt: the command ends with 1.
std::optional<SpankHost> start_plugins(Command command, const Result<ClientConf>& conf, std::span<const std::string> arguments,
                                       const os::CliLog& log);

// Calls give_options and finish_options and reports their errors. Gives the exit code, `failed` for a value that was refused; nullopt: go
// on.
std::optional<int> plugins_settled(SpankHost& host, JobParse& parse, const os::CliLog& log, int failed);

}  // namespace muster::cli
