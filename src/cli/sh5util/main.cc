// sh5util: one HDF5 file of the profiles that the nodes of a job have recorded, and what stands in it. sh5util(1).
#include <unistd.h>

#include "cli/common/client_conf.h"
#include "cli/common/command.h"
#include "cli/sh5util/extract.h"
#include "cli/sh5util/merge.h"
#include "config/load.h"
#include "os/files.h"
#include "os/users.h"
#include "site/conf_files.h"

namespace muster::cli {
namespace {

constexpr int kFailed = 1, kWrong = 255, kNoSuchSeries = 237;  // exit codes, as Slurm's
using Action = Sh5utilOptions::Action;

// ProfileHDF5Dir of the acct_gather.conf beside slurm.conf.
Result<std::string> configured_folder() {
  MUSTER_TRY(conf, find_conf_path());
  const std::string path = conf.substr(0, conf.rfind('/')) + "/acct_gather.conf";
  site::DiskFiles files;
  auto loaded = config::load_simple(files, path, config::ConfFile::kAcctGather);
  std::string folder = loaded ? std::string(loaded->conf.text("ProfileHDF5Dir")) : std::string();
  if (folder.empty()) return fail(Errc::kConfig, "No ProfileHDF5Dir in " + path, "--profiledir names the folder of the recordings");
  return folder;
}

Result<std::string> user_of(const Sh5utilOptions& options) {
  auto user = options.user.empty() ? os::find_user(Uid(::getuid())) : os::find_user(options.user);
  if (user) return user->name;
  if (options.user.empty()) return std::to_string(::getuid());  // a user without a name has a folder of the number
  return fail(Errc::kNotFound, "No such user --uid=\"" + options.user + "\"");
}

std::string default_output(const Sh5utilOptions& options, const std::string& job) {
  switch (options.action) {
    case Action::kExtract: return "./extract_" + job + ".csv";
    case Action::kItemExtract: return "./" + options.series + "_" + options.data + "_" + job + ".csv";
    default: return "./job_" + job + ".h5";
  }
}

int merge(const Sh5utilOptions& options, const WantedSteps& wanted, const std::string& output, const os::CliLog& log) {
  const Result<std::string> user = user_of(options);
  const Result<std::string> folder = !options.profile_directory.empty() ? options.profile_directory : configured_folder();
  for (const auto* what : {&user, &folder})
    if (!*what) return log.error(what->error()), kWrong;
  log.info("Merging node-step files into {}", output);
  const Result<MergeOutcome> done = merge_recordings({wanted, *folder + "/" + *user, output, options.save_files});
  if (!done) return log.error(done.error()), done.error().code == Errc::kAccessDenied ? kWrong : kFailed;
  for (const std::string& fault : done->faults) log.error("{}; it is kept", fault);
  if (done->merged == 0 && done->faults.empty()) log.info("No node-step files found for jobid {}", wanted.job.value);
  return done->faults.empty() ? 0 : kFailed;
}

int failed(const Error& why, const os::CliLog& log) {
  log.error(why);
  return why.code == Errc::kNotFound && !why.message().starts_with("Failed") ? kNoSuchSeries : kFailed;
}

int write(const std::string& output, std::string_view lines, const os::CliLog& log) {
  if (auto written = os::write_file_atomic(output, lines); !written) return log.error(written.error()), kFailed;
  return 0;
}

int extract(const Sh5utilOptions& options, const JobFile& file, const Extraction& how, const std::string& output, const os::CliLog& log) {
  if (options.action == Action::kExtract) {
    const Result<std::string> lines = extract_series(file, how);
    return lines ? write(output, *lines, log) : failed(lines.error(), log);
  }
  const Result<ItemExtraction> item = extract_item(file, how, options.data);
  if (!item) return failed(item.error(), log);
  Out out;
  for (const std::string& line : item->summary) out.line(line);
  return write(output, item->lines, log);
}

int list(const JobFile& file, const Extraction& how, const os::CliLog& log) {
  const auto items = list_items(file, how);
  if (!items) return failed(items.error(), log);
  Out out;
  for (const std::string& item : *items) out.line(item);
  return 0;
}

int run(int argc, char** argv) {
  const os::CliLog log("sh5util");
  const std::vector<std::string> arguments = arguments_of(argc, argv);
  const auto parse = parse_sh5util(arguments, process_environment());
  if (auto code = settled(parse.outcome, Command::kSh5util, parse.messages, kWrong)) return *code;
  const Sh5utilOptions& options = parse.options;
  const Result<WantedSteps> wanted = parse_wanted_steps(options.jobs);
  if (!wanted) return log.error(wanted.error()), kWrong;
  const std::string job = std::to_string(wanted->job.value);
  const std::string output = options.output.empty() ? default_output(options, job) : options.output;
  if (options.action == Action::kMerge) return merge(options, *wanted, output, log);
  const std::string input = options.input.empty() ? "./job_" + job + ".h5" : options.input;
  if (options.action == Action::kList) log.info("Listing items from {}", input);
  else if (options.action == Action::kExtract) log.info("Extracting job data from {} into {}", input, output);
  else log.info("Extracting '{}' from '{}' data from {} into {}", options.data, options.series, input, output);
  const Result<JobFile> file = JobFile::open(input);
  if (!file) return failed(file.error(), log);
  const Extraction how{*wanted, options.series, options.node, options.time_series};
  return options.action == Action::kList ? list(*file, how, log) : extract(options, *file, how, output, log);
}

}  // namespace
}  // namespace muster::cli

int main(int argc, char** argv) { return muster::cli::run(argc, argv); }
