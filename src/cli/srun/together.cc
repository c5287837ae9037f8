#include "cli/srun/together.h"

#include <algorithm>
#include <set>

#include "cli/common/allocation.h"
#include "cli/common/command.h"
#include "cli/srun/allocation.h"
#include "cli/srun/launch_plan.h"
#include "site/mpi_modules.h"

namespace muster::cli {
namespace {

// What the environment of a job says of its first component alone.
constexpr std::string_view kOfTheFirst[] = {"SLURM_NTASKS",
                                            "SLURM_NPROCS",
                                            "SLURM_NNODES",
                                            "SLURM_JOB_NUM_NODES",
                                            "SLURM_CPUS_PER_TASK",
                                            "SLURM_NTASKS_PER_NODE",
                                            "SLURM_NTASKS_PER_SOCKET",
                                            "SLURM_NTASKS_PER_CORE",
                                            "SLURM_NTASKS_PER_GPU",
                                            "SLURM_NTASKS_PER_TRES",
                                            "SLURM_MEM_PER_CPU",
                                            "SLURM_MEM_PER_GPU",
                                            "SLURM_MEM_PER_NODE",
                                            "SLURM_CPUS_PER_GPU",
                                            "SLURM_GPUS",
                                            "SLURM_GPUS_PER_NODE",
                                            "SLURM_GPUS_PER_SOCKET",
                                            "SLURM_GPUS_PER_TASK",
                                            "SLURM_TRES_PER_TASK",
                                            "SLURM_DISTRIBUTION",
                                            "SLURM_THREADS_PER_CORE",
                                            "SLURM_OVERCOMMIT",
                                            "SRUN_CPUS_PER_TASK"};

// A component with the options of its part of the command line, and its nodes.
struct Part {
  uint32_t component = 0;
  JobOptions o;
  rpc::Allocated a;
};

bool refuse(const os::CliLog& log, const std::string& why) {
  log.error("{}", why);
  return false;
}

// What cannot be had with several components.
bool possible(const std::vector<Part>& parts, const os::CliLog& log) {
  for (const Part& p : parts) {
    if (p.o.async) return refuse(log, "--async is not for steps over components of a heterogeneous job");
    if (p.o.request.no_allocate) return refuse(log, "--no-allocate is not supported for heterogeneous jobs");
    if (p.o.step.multi_prog && parts.size() > 1) return refuse(log, "--multi-prog cannot span components of a heterogeneous job");
    if (p.o.step.pty && parts.size() > 1) return refuse(log, "--pty cannot span components of a heterogeneous job");
  }
  return true;
}

// Parses the options of one part of the command line, for the component that they are about. The exit code where they are wrong.
std::optional<int> read_part(const JobScanResult& scan, size_t line, const JobInputs& in, bool in_job, const CompleteOptions& complete,
                             Part& part, const os::CliLog& log) {
  JobInputs inputs = in;
  if (in_job) inputs.env = environment_of_component(in.env, part.component);
  for (size_t i = 0; i < line; ++i) inputs.before.push_back(scan.component(i));
  JobParse parse = parse_job_command(scan.component(line), inputs);
  if (auto code = settled(parse.outcome, Command::kSrun, parse.messages, 255, parse.topic)) return code;
  part.o = std::move(parse.options);
  if (Result<> done = complete(part.o, parse.operands); !done) {
    report(log, done.error());
    return part.o.exit_error.value_or(1);
  }
  return std::nullopt;
}

// Which components the parts of the command line are about, in the order of components; the user was told where that is not possible.
std::optional<std::vector<std::pair<uint32_t, size_t>>> components_meant(const JobScanResult& scan, const JobInputs& in, uint32_t size,
                                                                         const os::CliLog& log) {
  std::vector<std::pair<uint32_t, size_t>> out;
  std::set<uint32_t> seen;
  for (size_t line = 0; line <= scan.more.size(); ++line) {
    JobInputs inputs = in;
    for (size_t i = 0; i < line; ++i) inputs.before.push_back(scan.component(i));
    std::vector<uint32_t> groups = parse_job_command(scan.component(line), inputs).options.het_groups;
    if (groups.empty()) groups.push_back(static_cast<uint32_t>(line));
    for (uint32_t g : groups) {
      if (g >= size) {
        refuse(log, "Attempt to run a job step with het group value of " + std::to_string(g) +
                        ", but the job allocation has maximum value of " + std::to_string(size - 1));
        return std::nullopt;
      }
      if (!seen.insert(g).second) {
        refuse(log, "Only one job step can be launched in component " + std::to_string(g) + " by one srun");
        return std::nullopt;
      }
      out.emplace_back(g, line);
    }
  }
  std::ranges::sort(out);
  return out;
}

bool shares_nodes(const std::vector<rpc::StepNode>& nodes) {
  std::set<std::string_view> names;
  return std::ranges::any_of(nodes, [&](const rpc::StepNode& n) { return !names.insert(n.address.name).second; });
}

// The plan of the launch, over all parts.
LaunchPlan plan_of(Session& session, const std::vector<Part>& parts, Place place) {
  std::vector<rpc::Allocated> all;
  if (place == Place::kInJobOfItsOwn)
    for (const Part& p : parts) all.push_back(p.a);
  LaunchPlan plan = launch_plan(parts.front().o, parts.front().a, session.conf(), place, all);
  for (size_t i = 1; i < parts.size(); ++i)
    plan.more.push_back({{}, launch_plan(parts[i].o, parts[i].a, session.conf(), place, all).request, 0});
  return plan;
}

void finish_all(Session& session, const std::vector<rpc::StepCreated>& steps, int32_t status, bool out_of_memory = false) {
  for (const rpc::StepCreated& step : steps) finish_step(session, step, status, out_of_memory);
}

// Creates the steps and makes ready what goes ahead of them. False: the user was told, and nothing is left.
bool create_all(Session& session, std::vector<Part>& parts, Place place, LaunchPlan& plan, std::vector<rpc::StepCreated>& steps,
                SpankHost& plugins, const os::CliLog& log) {
  rpc::CreateHetStep ask;
  for (size_t i = 0; i < parts.size(); ++i) {
    StepRequest& request = i == 0 ? plan.request : plan.more[i - 1].request;
    if (place == Place::kInJobOfItsOwn) fill_whole_nodes(parts[i].o, parts[i].a, request);
    rpc::CreateStep& one = ask.components.emplace_back();
    one.job = parts[i].a.job.id;
    one.request = request;
  }
  auto created = create_together(session, std::move(ask), log);
  if (!created) return false;
  steps = std::move(created->components);
  Result<> ready;
  if (!parts.front().o.step.mpi.empty() && !site::mpi_type(parts.front().o.step.mpi).empty() && shares_nodes(steps.front().nodes))
    ready = fail(Errc::kInvalidMpiPlugin, "--mpi over components needs each on nodes of its own, and some have parts of one node");
  for (size_t i = 0; i < parts.size() && ready; ++i) {
    StepRequest& request = i == 0 ? plan.request : plan.more[i - 1].request;
    if (i > 0) {
      plan.more[i - 1].credential = steps[i].credential;
      plan.more[i - 1].first_node = steps[i].first_node;
    }
    if (place != Place::kInJobOfItsOwn) say_distribution(parts[i].o, steps[i], request);
    if (i == 0 || parts[i].o.bcast) ready = prepare(session, parts[i].o, steps[i], plan.dialer, request, plugins);
  }
  if (ready) return true;
  log.error(ready.error());
  finish_all(session, steps, 1 << 8);
  return false;
}

int run_steps(Session& session, std::vector<Part>& parts, Place place, SpankHost& plugins, const os::CliLog& log, int32_t& job_status) {
  job_status = 1 << 8;
  const JobOptions& options = parts.front().o;
  const ClientConf& conf = session.conf();
  LaunchPlan plan = plan_of(session, parts, place);
  const std::vector<std::string> environment = plan.request.environment;
  if (!run_program(options.prolog.empty() ? conf.srun_prolog : options.prolog, "prolog", environment, log)) return 1;
  std::vector<rpc::StepCreated> steps;
  if (!create_all(session, parts, place, plan, steps, plugins, log)) return options.exit_error.value_or(1);
  plan.step = steps.front();
  StepLauncher launcher(std::move(plan), log);
  const int code = launcher.run();
  job_status = launcher.wait_status() == 0 && code != 0 ? code << 8 : launcher.wait_status();
  run_program(options.epilog.empty() ? conf.srun_epilog : options.epilog, "epilog", environment, log);
  if (place == Place::kInJob) finish_all(session, steps, job_status, launcher.out_of_memory());
  return code;
}

int run_in_own(Session& session, const JobScanResult& scan, const JobInputs& in, const CompleteOptions& complete, SpankHost& plugins,
               const os::CliLog& log) {
  std::vector<Part> parts(scan.more.size() + 1);
  std::vector<AskedRequest> requests;
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].component = static_cast<uint32_t>(i);
    if (auto code = read_part(scan, i, in, false, complete, parts[i], log)) return *code;
    parts[i].o.step.time_limit_min = std::nullopt;  // the controller enforces the job's limit and warning
    parts[i].o.step.warn = {};
    requests.push_back(parts[i].o.request);
  }
  const JobOptions& first = parts.front().o;
  if (!possible(parts, log)) return first.exit_error.value_or(1);
  std::optional<rpc::HetAllocated> all = allocate_together(session, std::move(requests), log);
  if (!all || all->components.size() != parts.size())
    return first.request.immediate_seconds ? first.exit_immediate.value_or(1) : first.exit_error.value_or(1);
  for (size_t i = 0; i < parts.size(); ++i) parts[i].a = std::move(all->components[i]);
  const JobId leader = parts.front().a.job.id;
  int32_t status = 0;
  const int code = run_steps(session, parts, Place::kInJobOfItsOwn, plugins, log, status);
  give_back(session, leader, status, log);
  return code;
}

int run_in_job(Session& session, const JobScanResult& scan, const JobInputs& in, const JobOptions& first, const CompleteOptions& complete,
               SpankHost& plugins, const os::CliLog& log) {
  const int failed = first.exit_error.value_or(1);
  rpc::JobSelector job;
  job.job = first.job_id;
  job.array_task = first.array_task;
  std::optional<rpc::Allocated> leader = attach(session, job, log);
  if (!leader) return failed;
  const HetPart het = leader->job.het;
  if (!het && !scan.more.empty()) {
    log.error("heterogeneous steps in a job that is not heterogeneous are not available");
    log.info("start each part with an srun of its own, or ask for the components when the job is submitted");
    return failed;
  }
  const auto meant = components_meant(scan, in, het ? het.size : 1u, log);
  if (!meant) return failed;
  std::vector<Part> parts(meant->size());
  for (size_t index = 0; index < parts.size(); ++index) {
    const auto [component, line] = (*meant)[index];
    parts[index].component = component;
    if (auto code = read_part(scan, line, in, true, complete, parts[index], log)) return *code;
    rpc::JobSelector one;
    one.job = het ? het.component(component) : leader->job.id;
    if (one.job == leader->job.id) {
      parts[index].a = *leader;
      continue;
    }
    std::optional<rpc::Allocated> a = attach(session, one, log);
    if (!a) return failed;
    parts[index].a = std::move(*a);
  }
  if (!possible(parts, log)) return failed;
  int32_t status = 0;
  return run_steps(session, parts, Place::kInJob, plugins, log, status);
}

}  // namespace

void fill_commands(JobScanResult& scan) {
  for (size_t i = scan.more.size(); i-- > 0;) {
    JobCommandLine& line = i == 0 ? scan.line : scan.more[i - 1];
    if (line.scan.operands.empty()) line.scan.operands = scan.more[i].scan.operands;
  }
}

EnvLookup environment_of_component(EnvLookup process, uint32_t component) {
  const std::string ending = "_HET_GROUP_" + std::to_string(component);
  return [process = std::move(process), component, ending](const char* name) -> const char* {
    if (std::string_view(name).starts_with("SLURM_"))
      if (const char* own = process((name + ending).c_str())) return own;
    if (component > 0 && std::ranges::find(kOfTheFirst, std::string_view(name)) != std::end(kOfTheFirst)) return nullptr;
    return process(name);
  };
}

bool means_components(const JobScanResult& scan, const JobOptions& first) {
  return !scan.more.empty() || (!first.het_groups.empty() && first.het_groups != std::vector<uint32_t>{0});
}

int run_together(Session& session, const JobScanResult& scan, const JobInputs& in, const JobOptions& first, const CompleteOptions& complete,
                 SpankHost& plugins, const os::CliLog& log) {
  if (first.job_id) return run_in_job(session, scan, in, first, complete, plugins, log);
  if (scan.more.empty()) {
    log.error("--het-group names components of the heterogeneous job that srun is called in, and it is in none");
    return first.exit_error.value_or(1);
  }
  return run_in_own(session, scan, in, complete, plugins, log);
}

}  // namespace muster::cli
