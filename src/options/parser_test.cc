// Right values reach the record, from each source and with the documented strength.
#include "options/parser.h"

#include <gtest/gtest.h>

#include <map>

#include "options/query_options.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;
using Env = std::map<std::string, std::string>;

JobParse parse(Command c, const Words& words, const Env& env = {}, const char* script = nullptr) {
  auto scan = scan_job_command(c, words);
  JobParse failed;
  failed.messages = scan.messages;
  if (!scan.ok()) return failed;
  static std::string text;  // JobInputs keeps a pointer for the call only
  JobInputs in;
  if (script) {
    text = script;
    in.script = &text;
    in.script_name = "job.sh";
  }
  in.env = [&](const char* name) -> const char* {
    auto it = env.find(name);
    return it == env.end() ? nullptr : it->second.c_str();
  };
  in.now = from_unix(1'767'225'600);
  return parse_job_command(scan.line, in);
}

JobOptions accept(Command c, const Words& words, const Env& env = {}, const char* script = nullptr) {
  JobParse p = parse(c, words, env, script);
  EXPECT_EQ(p.outcome, Outcome::kRun);
  for (const Message& m : p.messages) EXPECT_NE(m.level, Message::Level::kError) << m.text;
  return p.options;
}

std::string first_message(Command c, const Words& words, const Env& env = {}, const char* script = nullptr) {
  JobParse p = parse(c, words, env, script);
  return p.messages.empty() ? "" : render(p.messages[0], command_name(c));
}

constexpr Command kB = Command::kSbatch, kR = Command::kSrun, kA = Command::kSalloc;

// The rows 31-54 of the checklist, as a user writes them.
TEST(JobOptions, TheTutorialScript) {
  auto o = accept(kB, {"train.sh"}, {}, R"(#!/bin/bash
#SBATCH --job-name=llm-fsdp-train
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:a100_3g.20gb:1
#SBATCH --cpus-per-task=96
#SBATCH --mem=900G
#SBATCH --exclusive
#SBATCH --time=72:00:00
#SBATCH --partition=training
#SBATCH --output=logs/%j/train.out
#SBATCH --error=logs/%j/train.err
#SBATCH --requeue
#SBATCH --array=0-999          # 1000 shards
export MASTER_ADDR=x
#SBATCH --nodes=9
)");
  const AskedRequest& r = o.request;
  EXPECT_EQ(r.name, "llm-fsdp-train");
  EXPECT_EQ(r.min_nodes, 4u);
  EXPECT_EQ(r.max_nodes, 4u);
  EXPECT_EQ(r.ntasks_per_node, 1u);
  EXPECT_EQ(r.tres_per_node, "gres/gpu:a100_3g.20gb:1");
  EXPECT_EQ(r.cpus_per_task, 96u);
  EXPECT_EQ(r.mem_per_node_mb, 900u * 1024);
  EXPECT_EQ(r.exclusive, Exclusive::kNode);
  EXPECT_EQ(r.time_limit_min, 72u * 60);
  EXPECT_EQ(r.partitions, Words{"training"});
  EXPECT_EQ(r.std_out, "logs/%j/train.out");
  EXPECT_EQ(r.std_err, "logs/%j/train.err");
  EXPECT_EQ(r.requeue, TriState::kYes);
  EXPECT_EQ(r.array, "0-999");
}

TEST(JobOptions, CommandLineBeatsEnvironmentBeatsScript) {
  const char* script = "#!/bin/sh\n#SBATCH -p s -A s -q s\n";
  auto o = accept(kB, {"-p", "c", "job.sh"}, {{"SBATCH_PARTITION", "e"}, {"SBATCH_ACCOUNT", "e"}}, script);
  EXPECT_EQ(o.request.partitions, Words{"c"});
  EXPECT_EQ(o.request.account, "e");
  EXPECT_EQ(o.request.qos, "s");
  EXPECT_EQ(o.source_of("partition"), Source::kCommandLine);
  EXPECT_EQ(o.source_of("account"), Source::kEnvironment);
  EXPECT_EQ(o.source_of("qos"), Source::kScript);
  EXPECT_EQ(o.source_of("time"), Source::kDefault);
}

TEST(JobOptions, WordsOfTheCommandAreItsOwn) {
  auto p = parse(kR, {"-n2", "--ntasks-per-node", "8", "bash", "-c", "echo", "-n9"});
  EXPECT_EQ(p.operands, (Words{"bash", "-c", "echo", "-n9"}));
  EXPECT_EQ(p.options.request.num_tasks, 2u);
  EXPECT_EQ(p.options.request.ntasks_per_node, 8u);
  auto dashes = parse(kB, {"-n1", "--", "-odd-name"});
  EXPECT_EQ(dashes.operands, Words{"-odd-name"});
}

TEST(JobOptions, AbbreviationsBundlesAndOptionalArguments) {
  auto o = accept(kR, {"-vvK0", "-I60", "--ntasks-per-n=3", "--part", "a,b", "true"});
  EXPECT_EQ(o.verbose, 2u);
  EXPECT_EQ(o.step.kill_on_bad_exit, KillOnBadExit::kNo);
  EXPECT_EQ(o.request.immediate_seconds, 60u);
  EXPECT_EQ(o.request.ntasks_per_node, 3u);
  EXPECT_EQ(o.request.partitions, (Words{"a", "b"}));
  EXPECT_EQ(accept(kA, {"-I"}).request.immediate_seconds, 1u);
}

TEST(JobOptions, CountsAsScriptsWriteThem) {
  EXPECT_EQ(accept(kB, {"-n", "+4"}).request.num_tasks, 4u);
  EXPECT_EQ(accept(kB, {"-n", " 4"}).request.num_tasks, 4u);
  for (const char* bad : {"", "+", "++4", "+-4", "4 ", "- 4"}) EXPECT_EQ(parse(kB, {"-n", bad}).outcome, Outcome::kFailed) << bad;
  EXPECT_EQ(parse(kB, {"--ntasks-per-node=0"}).outcome, Outcome::kFailed);
}

TEST(JobOptions, FlagsOfGresThatNegateEachOther) {
  EXPECT_EQ(accept(kB, {"--gres-flags=Enforce-Binding,one-task-per-sharing"}).request.gres_flags, "enforce-binding,one-task-per-sharing");
  for (const char* bad : {"enforce-binding,disable-binding", "multiple-tasks-per-sharing,one-task-per-sharing", "enforce-binding,", "near"})
    EXPECT_EQ(parse(kB, {std::string("--gres-flags=") + bad}).outcome, Outcome::kFailed) << bad;
}

TEST(JobOptions, TasksPerGpuAndAFewGpusSayHowManyTasks) {
  EXPECT_EQ(accept(kB, {"--ntasks-per-gpu=2", "--gpus=2"}).request.num_tasks, 4u);
  EXPECT_EQ(accept(kB, {"--ntasks-per-gpu=2", "--gpus-per-node=3", "-N2"}).request.num_tasks, 12u);
  EXPECT_EQ(accept(kB, {"--ntasks-per-gpu=2", "--gpus=2", "-n3"}).request.num_tasks, 3u);
  EXPECT_EQ(accept(kB, {"--ntasks-per-gpu=2", "-n4"}).request.num_tasks, 4u);
}

TEST(JobOptions, ArbitraryDistributionNeedsAList) {
  EXPECT_EQ(first_message(kB, {"-m", "arbitrary"}),
            "sbatch: error: With Arbitrary distribution you need to specify a nodelist or hostfile with the -w option");
  EXPECT_EQ(accept(kB, {"-m", "arbitrary", "-w", "n1"}).request.distribution, "arbitrary");
}

TEST(JobOptions, FlagsFromTheEnvironment) {
  for (const char* on : {"", "yes", "1", "7"}) EXPECT_TRUE(accept(kB, {}, {{"SBATCH_OVERCOMMIT", on}}).request.overcommit) << on;
  for (const char* off : {"0", "no", "maybe"}) EXPECT_FALSE(accept(kB, {}, {{"SBATCH_OVERCOMMIT", off}}).request.overcommit) << off;
  EXPECT_EQ(accept(kB, {}, {{"SBATCH_DEBUG", "3"}}).verbose, 3u);
  EXPECT_EQ(accept(kB, {}, {{"SBATCH_REQUEUE", "0"}}).request.requeue, TriState::kDefault);
  EXPECT_EQ(accept(kB, {}, {{"SBATCH_CLUSTERS", "a"}, {"SLURM_CLUSTERS", "b"}}).request.clusters, "a");
  EXPECT_EQ(accept(kB, {}, {{"SLURM_CLUSTERS", "b"}}).request.clusters, "b");
}

TEST(JobOptions, MemUpdateIsKeptAsTypedAndMeansAMarginAndADelay) {
  const auto o = accept(kB, {"--mem-update=20@0:30"});
  EXPECT_EQ(o.request.mem_update.text(), "20@0:30");
  EXPECT_EQ(o.request.mem_update.value(), (MemUpdate{20, seconds(30)}));
  EXPECT_TRUE(accept(kB, {}).request.mem_update.empty());
}

TEST(JobOptions, MemoryTypedBeatsMemoryInherited) {
  auto o = accept(kR, {"--mem-per-cpu=2G", "true"}, {{"SLURM_JOB_ID", "7"}, {"SLURM_MEM_PER_NODE", "4096"}});
  EXPECT_EQ(o.step.mem_per_cpu_mb, 2048u);
  EXPECT_EQ(o.step.mem_per_node_mb, std::nullopt);
  EXPECT_EQ(accept(kB, {"--mem=0"}).request.mem_per_node_mb, 0u);
  EXPECT_EQ(first_message(kB, {"--mem-per-cpu=3"}, {}, "#!/bin/sh\n#SBATCH --mem=3\n"),
            "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
}

TEST(JobOptions, GpuOptionsBecomeTres) {
  auto r = accept(kB, {"--gpus-per-node=a100:8", "--gres=nic:2"}).request;
  EXPECT_EQ(r.tres_per_node, "gres/nic:2,gres/gpu:a100:8");
  EXPECT_EQ(accept(kB, {"-G", "16"}).request.tres_per_job, "gres/gpu:16");
  auto task = accept(kB, {"--gpus-per-task=2", "-n4"}).request;
  EXPECT_EQ(task.tres_per_task, "gres/gpu:2");
  EXPECT_EQ(task.tres_bind, "gres/gpu:per_task:2");
  auto bound = accept(kB, {"--gpus-per-task=2", "-n4", "--gpu-bind=map_gpu:0,1"}).request;
  EXPECT_EQ(bound.tres_bind, "gres/gpu:map:0,1");
  auto tres = accept(kB, {"--tres-per-task=cpu=4,gres/gpu:a100=2,license/x=1", "-n2"}).request;
  EXPECT_EQ(tres.cpus_per_task, 4u);
  EXPECT_EQ(tres.tres_per_task, "gres/gpu:a100:2,license/x:1");
  EXPECT_EQ(tres.tres_bind, "gres/gpu:per_task:2");
  EXPECT_EQ(accept(kB, {"--ntasks-per-gpu=2", "-G4"}).request.tres_bind, "gres/gpu:single:2");
  EXPECT_EQ(accept(kB, {"--gres=gpu"}).request.tres_per_node, "gres/gpu:1");
}

// What sbatch --gpus-per-task=1 -c4 leaves in the job's environment must not stop srun, and what is typed
// wins.
TEST(JobOptions, StepInheritsItsJobsEnvironment) {
  Env env{{"SLURM_JOB_ID", "7"},
          {"SLURM_JOB_NAME", "batch"},
          {"SLURM_JOB_NUM_NODES", "2"},
          {"SLURM_NNODES", "2"},
          {"SLURM_NTASKS", "4"},
          {"SLURM_CPUS_PER_TASK", "4"},
          {"SLURM_GPUS_PER_TASK", "1"},
          {"SLURM_TRES_PER_TASK", "cpu=4,gres/gpu=1"},
          {"SLURM_TRES_BIND", "gres/gpu:per_task:1"}};
  auto o = accept(kR, {"true"}, env);
  EXPECT_EQ(o.job_id.value, 7u);
  EXPECT_EQ(o.step.name, "");
  EXPECT_EQ(o.step.min_nodes, 2u);
  EXPECT_EQ(o.step.num_tasks, 4u);
  EXPECT_EQ(o.step.cpus_per_task, 4u);
  EXPECT_EQ(o.step.tres_per_task, "gres/gpu:1");
  EXPECT_EQ(o.step.tres_bind, "gres/gpu:per_task:1");
  auto typed = accept(kR, {"-c8", "--gpus-per-task=2", "-Jx", "true"}, env);
  EXPECT_EQ(typed.step.cpus_per_task, 8u);
  EXPECT_EQ(typed.step.tres_per_task, "gres/gpu:2");
  EXPECT_EQ(typed.step.tres_bind, "gres/gpu:per_task:2");
  EXPECT_EQ(typed.step.name, "x");
  EXPECT_EQ(accept(kR, {"true"}, {{"SLURM_JOB_NAME", "n"}}).request.name, "n");
}

TEST(JobOptions, GresOfTheJobGiveWayToThoseTyped) {
  Env env{{"SLURM_JOB_ID", "7"}, {"SLURM_GPUS_PER_NODE", "8"}};
  EXPECT_EQ(accept(kR, {"--gres=gpu:1", "true"}, env).step.tres_per_node, "gres/gpu:1");
  EXPECT_EQ(accept(kR, {"--gres=none", "true"}, {{"SLURM_JOB_ID", "7"}}).step.tres_per_node, "none");
  EXPECT_EQ(accept(kR, {"-G2", "true"}, env).step.tres_per_node, "");
  EXPECT_EQ(accept(kR, {"--tres-per-task=cpu=2,gres/gpu=1", "-n1", "true"}, env).step.tres_per_node, "");
  EXPECT_EQ(accept(kR, {"--tres-per-task=cpu=2", "-n1", "true"}, env).step.tres_per_node, "gres/gpu:8");
}

TEST(JobOptions, StepOptions) {
  auto o = accept(kR, {"--jobid=12", "--overlap", "--pty", "-l", "-r1", "--mpi=pmix", "-W0", "-o", "%t.out", "bash"});
  EXPECT_EQ(o.job_id.value, 12u);
  EXPECT_TRUE(o.step.overlap && o.step.pty && o.step.label && o.step.unbuffered);
  EXPECT_EQ(o.step.relative, 1);
  EXPECT_EQ(o.step.mpi, "pmix");
  EXPECT_EQ(o.step.wait_seconds, 0u);
  EXPECT_EQ(o.step.std_out, "%t.out");
  EXPECT_FALSE(o.step.exact);
  EXPECT_TRUE(accept(kR, {"--exclusive", "true"}).step.exact);
  EXPECT_FALSE(accept(kR, {"--exclusive=allocation", "true"}).step.exact);
  EXPECT_TRUE(accept(kR, {"-c2", "true"}).step.exact);
  EXPECT_EQ(accept(kR, {"-w", "/tmp/hosts", "true"}).nodelist_file, "/tmp/hosts");
}

TEST(JobOptions, OlderSpellings) {
  auto o = accept(kR, {"--cpu_bind=cores", "--mem_bind=local", "--accel-bind=vg", "true"});
  EXPECT_EQ(o.step.cpu_bind, "cores");
  EXPECT_EQ(o.step.mem_bind, "local");
  EXPECT_EQ(o.step.tres_bind, "gres/gpu:verbose,closest");
  EXPECT_FALSE(scan_job_command(kA, Words{"--test-only"}).ok());
}

TEST(JobOptions, NamesThatNoPageListsButScriptsUse) {
  auto o = accept(kB, {"--cluster=here", "--ntasks-per-tres=2", "--wrap=true", "--gpus=1"});
  EXPECT_EQ(o.request.ntasks_per_gpu, 2u);
  EXPECT_EQ(o.request.clusters, "here");
  EXPECT_EQ(accept(kR, {"--tasks-per-node=3", "true"}).request.ntasks_per_node, 3u);
  EXPECT_EQ(accept(kR, {"--tasks-per=3", "true"}).request.ntasks_per_node, 3u);  // getopt takes beginnings of these, too
  EXPECT_FALSE(accept(kR, {"--whole", "-c2", "true"}).step.exact);
  EXPECT_EQ(parse(kR, {"--pack-group=0", "true"}).outcome, Outcome::kRun);
  // What excludes the option by its name of today excludes it by the other one.
  EXPECT_EQ(parse(kB, {"--tasks-per-node=2", "--ntasks-per-gpu=1", "--wrap=true"}).outcome, Outcome::kFailed);
  JobOptions lua;
  lua.command = kB;
  EXPECT_TRUE(set_job_option(lua, "tasks_per_node", "4", {}));
  EXPECT_EQ(lua.request.ntasks_per_node, 4u);
}

TEST(JobOptions, TresPerTaskCountsOnceWhereNoNumberIsGiven) {
  auto tres = [](const char* text) {
    JobParse p = parse(kB, {std::string("--tres-per-task=") + text, "--wrap=true"});
    return p.outcome == Outcome::kRun ? p.options.request.tres_per_task : std::string("refused");
  };
  EXPECT_EQ(tres("gres/gpu"), "gres/gpu:1");
  EXPECT_EQ(tres("gres/gpu:a100"), "gres/gpu:a100:1");
  EXPECT_EQ(tres("gres:gpu,gres/shard,license/lic"), "gres/gpu:1,gres/shard:1,license/lic:1");
  EXPECT_EQ(tres("gres/gpu:a100:2"), "gres/gpu:a100:2");
  EXPECT_EQ(tres("cpu:2,gres/gpu=2"), "gres/gpu:2");
  for (const char* wrong : {"cpu", "cpu:2cpu:2", "cpu::2", "cpu=2=2", "gres/gpu::2", "gres/", "gres", "license/", "license/a b",
                            "gres/gpu:", "gres/gpu:a:b:c", "gres/gpu=", "gres/gpu=0", "gres/gpu=-1", "cpu/x=1", ",cpu=2", "cpu=2,"})
    EXPECT_EQ(tres(wrong), "refused") << wrong;
}

TEST(JobOptions, AStepHasTheLicensesOfItsJob) {
  JobParse p = parse(kR, {"--tres-per-task=cpu=1,license/lic=5", "-n1", "true"}, {{"SLURM_JOB_ID", "7"}});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_EQ(p.options.step.tres_per_task, "");
  ASSERT_FALSE(p.messages.empty());
  EXPECT_TRUE(p.messages[0].text.starts_with("Ignoring --tres-per-task license specification")) << p.messages[0].text;
}

TEST(JobOptions, ResourcesAreMoreOfTheLicences) {
  EXPECT_EQ(accept(kB, {"--resources=flat:2,power:full_node"}).request.licenses, "flat:2,power:full_node");
  EXPECT_EQ(accept(kB, {"--resources=flat:2", "-L", "matlab"}).request.licenses, "matlab,flat:2");
  EXPECT_EQ(parse(kB, {"--resources=flat|power"}).outcome, Outcome::kFailed);
  EXPECT_EQ(parse(kB, {"--resources=flat", "-L", "a|b"}).outcome, Outcome::kFailed);
}

TEST(JobOptions, ATaskOfAnArrayAsJob) {
  auto o = accept(kR, {"--jobid=5_0", "true"});
  EXPECT_EQ(o.job_id, JobId{5});
  EXPECT_EQ(o.array_task, 0u);
  EXPECT_EQ(accept(kR, {"--jobid=5", "true"}, {{"SLURM_JOB_ID", "7"}}).array_task, kNoArrayTask);
  for (const char* wrong : {"--jobid=5_", "--jobid=_1", "--jobid=5_x", "--jobid=5_1_2"})
    EXPECT_EQ(parse(kR, {wrong, "true"}).outcome, Outcome::kFailed) << wrong;
}

TEST(JobOptions, TestOnlyNeedsNoProgram) {
  EXPECT_EQ(parse(kR, {"--test-only"}).outcome, Outcome::kRun);
  EXPECT_EQ(parse(kR, {"-n2"}).outcome, Outcome::kFailed);
}

TEST(JobOptions, TheHostFileMakesTheDistributionArbitrary) {
  for (Command c : {kB, kR, kA}) {
    auto o = accept(c, c == kB ? Words{"-n3", "--wrap=true"} : Words{"-n3", "true"}, {{"SLURM_HOSTFILE", "/x"}});
    EXPECT_EQ(o.request.distribution, "arbitrary");
    EXPECT_EQ(o.host_file, "/x");
  }
  auto listed = accept(kR, {"-w", "n1", "true"}, {{"SLURM_HOSTFILE", "/x"}});
  EXPECT_EQ(listed.host_file, "");
  EXPECT_EQ(listed.request.distribution, "");
  EXPECT_EQ(accept(kB, {"-w", "./f", "--wrap=true"}).nodelist_file, "./f");
}

TEST(JobOptions, GpusOfAStepFollowFromItsTasks) {
  EXPECT_EQ(accept(kR, {"-n5", "--ntasks-per-gpu=2", "true"}).step.tres_per_step, "gres/gpu:3");
  EXPECT_EQ(accept(kR, {"-n4", "--ntasks-per-gpu=2", "--gpus=4", "true"}).step.tres_per_step, "gres/gpu:4");
}

TEST(JobOptions, AHintThatIsIgnoredSaysSo) {
  JobParse p = parse(kB, {"--hint=nomultithread", "--threads-per-core=2", "--wrap=true"});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  ASSERT_EQ(p.messages.size(), 1u);
  EXPECT_EQ(p.messages[0].level, Message::Level::kWarning);
  EXPECT_NE(p.messages[0].text.find("Ignoring --hint"), std::string::npos);
  EXPECT_TRUE(parse(kR, {"--threads-per-core=2", "true"}, {{"SLURM_HINT", "nomultithread"}}).messages.empty());
}

// mpirun of Open MPI starts its daemons like this.
TEST(JobOptions, TheCommandLineOfMpirun) {
  auto p = parse(kR, {"--ntasks-per-node=1", "--kill-on-bad-exit", "--mpi=none", "--nodes=2", "--nodelist=n1,n2", "--ntasks=2", "orted",
                      "-mca", "ess", "slurm"});
  EXPECT_EQ(p.outcome, Outcome::kRun);
  EXPECT_TRUE(p.messages.empty());
  EXPECT_EQ(p.options.step.kill_on_bad_exit, KillOnBadExit::kYes);
  EXPECT_EQ(p.options.step.required_nodes, "n1,n2");
}

TEST(JobOptions, TimesSignalsAndPriorities) {
  auto r = accept(kB, {"--signal=B:USR1@120", "--time=0", "--time-min=10", "--nice", "--priority=TOP", "--begin=now+1hour",
                       "--switches=2@1:00:00", "--delay-boot=5"})
               .request;
  EXPECT_EQ(r.warn.signal, 10);
  EXPECT_EQ(r.warn.seconds_before_end, 120u);
  EXPECT_TRUE(r.warn.batch_shell_only);
  EXPECT_EQ(r.time_limit_min, kUnlimited32);
  EXPECT_EQ(r.time_min_min, 10u);
  EXPECT_EQ(r.nice, 100);
  EXPECT_EQ(r.priority, kUnlimited32);
  EXPECT_EQ(unix_seconds(r.begin), 1'767'225'600 + 3600);
  EXPECT_EQ(r.switches, 2u);
  EXPECT_EQ(r.switches_wait, minutes(60));
  EXPECT_EQ(r.delay_boot, minutes(5));
  EXPECT_EQ(accept(kB, {"--nice=-5"}).request.nice, -5);
}

TEST(JobOptions, NothingBeginsAfterItsDeadline) {
  for (const char* begin : {"--begin=now+50minutes", "--begin=now+2hours"}) {
    auto p = parse(kB, {"--deadline=now+1hour", begin});
    const bool late = std::string_view(begin).ends_with("2hours");
    EXPECT_EQ(p.outcome == Outcome::kRun, !late);
    if (late && p.messages.size() == 1) {
      EXPECT_EQ(p.messages[0].text, "Incompatible begin and deadline time specification");
    }
    EXPECT_EQ(p.messages.size(), late ? 1u : 0u);
  }
}

TEST(JobOptions, HintsAndTheNumbersTheyStandFor) {
  EXPECT_EQ(accept(kB, {"--hint=nomultithread"}).request.threads_per_core, 1u);
  auto typed = accept(kB, {"--hint=nomultithread", "--threads-per-core=2"}).request;
  EXPECT_EQ(typed.threads_per_core, 2u);
  EXPECT_EQ(typed.hint, "");
  auto env = accept(kB, {"--hint=nomultithread"}, {{"SBATCH_THREADS_PER_CORE", "2"}}).request;
  EXPECT_EQ(env.threads_per_core, 1u);
  auto b = accept(kB, {"-B", "2:*:1"}).request;
  EXPECT_EQ(b.sockets_per_node, 2u);
  EXPECT_EQ(b.cores_per_socket, 0u);
  EXPECT_EQ(b.threads_per_core, 1u);
}

TEST(JobOptions, ExportForms) {
  EXPECT_EQ(accept(kB, {}).request.env_export, EnvExport::kAll);
  auto none = accept(kB, {"--export=NONE"});
  EXPECT_EQ(none.request.env_export, EnvExport::kNone);
  EXPECT_EQ(none.request.get_user_env, "yes");
  EXPECT_EQ(accept(kB, {"--export=NIL"}).request.get_user_env, "");
  auto list = accept(kB, {"--export=ALL,A=1,B='x,y',C"});
  EXPECT_EQ(list.request.env_export, EnvExport::kList);
  EXPECT_TRUE(list.export_all);
  EXPECT_EQ(list.export_list, (Words{"A=1", "B=x,y", "C"}));
  EXPECT_FALSE(accept(kB, {"--export=A"}).export_all);
  EXPECT_EQ(accept(kR, {"true"}, {{"SRUN_EXPORT_ENV", "NONE"}, {"SLURM_EXPORT_ENV", "ALL"}}).request.env_export, EnvExport::kNone);
}

TEST(JobOptions, NodesAndDistribution) {
  auto r = accept(kB, {"-N", "1-15:4", "-m", "Block:Cyclic,Pack"}).request;
  EXPECT_EQ(r.node_sizes, "1,5,9,13");
  EXPECT_EQ(r.min_nodes, 1u);
  EXPECT_EQ(r.max_nodes, 13u);
  EXPECT_EQ(r.distribution, "block:cyclic,pack");
  EXPECT_EQ(accept(kB, {"-N2k"}).request.min_nodes, 2048u);
  auto range = accept(kB, {"--nodes=2-4"}).request;
  EXPECT_EQ(range.min_nodes, 2u);
  EXPECT_EQ(range.max_nodes, 4u);
  EXPECT_EQ(accept(kR, {"-m", "plane", "true"}, {{"SLURM_DIST_PLANESIZE", "3"}}).step.distribution, "plane=3");
  EXPECT_EQ(first_message(kB, {"-n2", "-N4"}), "sbatch: Warning: can't run 2 processes on 4 nodes, setting nnodes to 2");
  EXPECT_EQ(parse(kB, {"-n2", "-N4"}).options.request.min_nodes, 2u);
}

TEST(JobOptions, HelpWinsOverWrongValues) {
  EXPECT_EQ(parse(kB, {"-n", "x", "--help"}).outcome, Outcome::kHelp);
  EXPECT_EQ(parse(kB, {"-V"}).outcome, Outcome::kVersion);
  EXPECT_EQ(parse(kB, {"--usage"}).outcome, Outcome::kUsage);
  auto p = parse(kR, {"--cpu-bind=help"});
  EXPECT_EQ(p.outcome, Outcome::kTopicHelp);
  EXPECT_EQ(p.topic, "cpu-bind");
  EXPECT_EQ(parse(kR, {"--mpi=list"}).topic, "mpi");
}

TEST(JobOptions, AnErrorSaysWhereItComesFrom) {
  auto p = parse(kB, {}, {{"SBATCH_TIMELIMIT", "soon"}});
  ASSERT_GE(p.messages.size(), 2u);
  EXPECT_EQ(p.messages.back().text, "it comes from the environment variable SBATCH_TIMELIMIT");
  auto q = parse(kB, {}, {}, "#!/bin/sh\n\n#SBATCH --time=soon\n");
  EXPECT_EQ(q.messages.back().text, "job.sh, line 3");
}

TEST(JobOptions, OptionsWithoutEffectWarnOnceAndOnlyWhenTyped) {
  auto p = parse(kR, {"--power=a", "--power=b", "true"});
  EXPECT_EQ(p.outcome, Outcome::kRun);
  EXPECT_EQ(p.messages.size(), 1u);
  EXPECT_TRUE(parse(kR, {"true"}, {{"SLURM_POWER", "a"}}).messages.empty());
  EXPECT_TRUE(parse(kR, {"--network=a", "true"}).messages.empty());
  EXPECT_TRUE(parse(kR, {"--profile=none", "true"}).messages.empty());
}

// What a user gets of an option that does not work: a refusal or one warning, and the reason in it.
TEST(JobOptions, WhatDoesNotWorkSaysSo) {
  const std::map<std::string, std::string> kValues{{"profile", "task"}, {"cpu-freq", "low"}, {"gpu-freq", "low"}, {"delay-boot", "5"}};
  for (Command c : {kB, kR, kA}) {
    size_t seen = 0;
    for (const OptionInfo* o : option_infos(c)) {
      if (!o->name || o->status == Status::kWorks) continue;
      ++seen;
      std::string word = "--" + std::string(o->name);
      auto value = kValues.find(o->name);
      if (o->arg == Arg::kRequired) word += "=" + (value == kValues.end() ? std::string("1") : value->second);
      auto p = parse(c, {word, "true"});
      ASSERT_EQ(p.messages.size(), 1u) << word;
      bool refused = o->status == Status::kRefused;
      EXPECT_EQ(p.outcome == Outcome::kRun, !refused) << word;
      EXPECT_EQ(p.messages[0].text, "--" + std::string(o->name) + (refused ? " is not supported: " : " has no effect: ") + o->note);
    }
    EXPECT_GE(seen, 5u);
  }
}

TEST(JobOptions, PortsOfSteps) {
  EXPECT_FALSE(accept(kR, {"true"}).step.resv_ports_set);
  EXPECT_FALSE(accept(kR, {"--resv-ports=0", "true"}).step.resv_ports_set);
  auto each = accept(kR, {"--resv-ports", "true"});
  EXPECT_TRUE(each.step.resv_ports_set);
  EXPECT_EQ(each.step.resv_ports, 0u);
  EXPECT_EQ(accept(kR, {"true"}, {{"SLURM_RESV_PORTS", "3"}}).step.resv_ports, 3u);
}

TEST(JobOptions, HowTheProgramReachesTheNodes) {
  EXPECT_EQ(accept(kR, {"--bcast", "--compress", "--treewidth=off", "true"}).treewidth, 0u);
  EXPECT_EQ(accept(kR, {"--bcast", "--compress", "true"}).compress, "lz4");
  EXPECT_EQ(accept(kR, {"--compress=none", "--treewidth=50", "true"}).treewidth, 50u);
  EXPECT_EQ(accept(kR, {"true"}).treewidth, std::nullopt);
  EXPECT_EQ(accept(kR, {"--slurmd-debug=debug", "true"}).step.slurmd_debug, 5u);
}

// Pyxis: its options stand on command lines and in scripts like any other.
TEST(JobOptions, OptionsOfPlugins) {
  std::vector<PluginOption> pyxis{{"container-image", Arg::kRequired, "image", "image to run in", "pyxis"},
                                  {"container-writable", Arg::kNone, "", "make it writable", "pyxis"}};
  auto scan = scan_job_command(kB, Words{"--container-image", "b", "--container-w", "job.sh"}, pyxis);
  ASSERT_TRUE(scan.ok());
  std::string script = "#!/bin/sh\n#SBATCH --container-image=nvcr.io/nvidia/pytorch:24.12-py3\n";
  JobInputs in;
  in.script = &script;
  in.script_name = "job.sh";
  JobParse p = parse_job_command(scan.line, in);
  ASSERT_EQ(p.outcome, Outcome::kRun);
  ASSERT_EQ(p.options.plugin_options.size(), 3u);
  EXPECT_EQ(p.options.plugin_options[0].value, "nvcr.io/nvidia/pytorch:24.12-py3");
  EXPECT_EQ(p.options.plugin_options[0].source, Source::kScript);
  EXPECT_EQ(p.options.plugin_options[1].value, "b");
  EXPECT_EQ(p.options.plugin_options[2].name, "container-writable");
  EXPECT_FALSE(scan_job_command(kB, Words{"--container-image=x"}).ok());
}

TEST(JobOptions, OptionsOfPluginsThatAreMissing) {
  auto hint = [](const char* option, std::span<const PluginOption> plugins) {
    auto scan = scan_job_command(kR, Words{option, "true"}, plugins);
    return scan.messages.size() == 3 ? render(scan.messages[2], "srun") : "no hint";
  };
  EXPECT_EQ(hint("--container-image=x", {}),
            "srun: hint: --container-image comes from a SPANK plugin such as Pyxis, and plugstack.conf loads none that brings it");
  EXPECT_NE(hint("--no-container_mount_home", {}).find("--no-container-mount-home comes from a SPANK plugin"), std::string::npos);
  std::vector<PluginOption> pyxis{{"container-image", Arg::kRequired, "image", "image to run in", "pyxis"}};
  EXPECT_EQ(hint("--container-imagge=x", pyxis), "srun: hint: did you mean --container-image?");
  auto squeue = parse_squeue(Words{"--container-image"}, {});
  EXPECT_EQ(squeue.messages.size(), 2u);
}

TEST(JobOptions, ByNameForLuaAndRest) {
  JobOptions o;
  EXPECT_TRUE(set_job_option(o, "cpus_per_task", "4", Time{}));
  EXPECT_EQ(o.request.cpus_per_task, 4u);
  EXPECT_TRUE(set_job_option(o, "hold", "", Time{}));
  EXPECT_TRUE(o.request.hold);
  auto wrong = set_job_option(o, "time", "soon", Time{});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, "Invalid --time specification");
  auto unknown = set_job_option(o, "partitoin", "a", Time{});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().hint, "did you mean partition?");
}

}  // namespace
}  // namespace muster
