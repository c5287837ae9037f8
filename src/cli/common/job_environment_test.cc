#include "cli/common/job_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/common/command.h"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

const std::vector<std::string> kOwn = {"HOME=/h", "EDITOR=vi", "SLURM_X=1", "SPANK_Y=2", "EMPTY="};

JobOptions with_export(const std::string& value) {
  JobOptions o;
  o.command = Command::kSbatch;
  EXPECT_TRUE(set_job_option(o, "export", value, Time{})) << value;
  return o;
}

TEST(Export, AllIsTheDefault) {
  EXPECT_EQ(exported(JobOptions{}, kOwn), kOwn);
  EXPECT_EQ(exported(with_export("ALL"), kOwn), kOwn);
}

TEST(Export, NoneAndNilKeepSlurmAndSpank) {
  EXPECT_THAT(exported(with_export("NONE"), kOwn), ElementsAre("SLURM_X=1", "SPANK_Y=2"));
  EXPECT_THAT(exported(with_export("NIL"), kOwn), ElementsAre("SLURM_X=1", "SPANK_Y=2"));
}

TEST(Export, AListNamesOrSets) {
  EXPECT_THAT(exported(with_export("EDITOR,ARG1=test,UNSET"), kOwn),
              UnorderedElementsAre("SLURM_X=1", "SPANK_Y=2", "EDITOR=vi", "ARG1=test"));
  EXPECT_THAT(exported(with_export("EDITOR=emacs"), kOwn), UnorderedElementsAre("SLURM_X=1", "SPANK_Y=2", "EDITOR=emacs"));
}

TEST(Export, WithAllTheUsersOwnValueWins) {
  std::vector<std::string> out = exported(with_export("ALL,EDITOR=emacs,NEW=1"), kOwn);
  EXPECT_THAT(out, testing::Contains("EDITOR=vi"));
  EXPECT_THAT(out, testing::Contains("NEW=1"));
  EXPECT_THAT(out, testing::Contains("HOME=/h"));
}

TEST(VariableList, SettingReplacesOnlyTheWholeName) {
  VariableList v({"SLURM_GPUS_PER_NODE=8", "SLURM_GPUS=1"});
  v.set("SLURM_GPUS", "2");
  v.set_default("SLURM_GPUS", "3");
  EXPECT_THAT(v.list(), ElementsAre("SLURM_GPUS_PER_NODE=8", "SLURM_GPUS=2"));
  EXPECT_EQ(v.blob(), std::string("SLURM_GPUS_PER_NODE=8\0SLURM_GPUS=2\0", 35));
}

TEST(OptionVariables, SayWhatWasAskedFor) {
  JobOptions o;
  o.request.num_tasks = 16;
  o.request.cpus_per_task = 4;
  o.request.mem_per_node_mb = 2048;
  o.gpus_per_node = "h100:8";
  o.request.distribution = "plane=4,pack";
  VariableList v;
  add_option_variables(o, v);
  EXPECT_THAT(v.list(), UnorderedElementsAre("SLURM_NTASKS=16", "SLURM_NPROCS=16", "SLURM_CPUS_PER_TASK=4", "SLURM_MEM_PER_NODE=2048",
                                             "SLURM_GPUS_PER_NODE=h100:8", "SLURM_TRES_PER_TASK=cpu=4", "SLURM_DISTRIBUTION=plane",
                                             "SLURM_DIST_PLANESIZE=4"));
}

TEST(OptionVariables, TresPerTaskIsAsTypedWithWhatOtherOptionsAdd) {
  auto said = [](const char* typed, const char* gpus, uint32_t cpus, const char* tres) {
    JobOptions o;
    o.tres_per_task = typed;
    o.gpus_per_task = gpus;
    o.request.cpus_per_task = cpus;
    o.request.tres_per_task = tres;
    VariableList v;
    add_option_variables(o, v);
    for (const std::string& e : v.list())
      if (e.starts_with("SLURM_TRES_PER_TASK=")) return e.substr(20);
    return std::string();
  };
  EXPECT_EQ(said("cpu:2", "", 2, ""), "cpu:2");
  EXPECT_EQ(said("gres/gpu:a100:1,license/x=2", "", 0, "gres/gpu:a100:1,license/x:2"), "gres/gpu:a100:1,license/x=2");
  EXPECT_EQ(said("gres/gpu:1", "", 4, "gres/gpu:1"), "cpu=4,gres/gpu:1");
  EXPECT_EQ(said("cpu=2", "a100:1", 2, "gres/gpu:a100:1"), "gres/gpu:a100=1,cpu=2");
  EXPECT_EQ(said("cpu=2", "", 3, ""), "cpu=3");  // of the job's environment, and -c was typed
  EXPECT_EQ(said("", "1", 0, "gres/gpu:1"), "gres/gpu=1");
}

TEST(SubmitVariables, SayWhere) {
  JobOptions o;
  o.request.name = "train";
  o.request.umask = 027;
  ClientConf conf;
  conf.cluster_name = "c";
  VariableList v;
  add_submit_variables(o, conf, "/work", 0, v);
  EXPECT_THAT(v.list(), UnorderedElementsAre("SLURM_SUBMIT_DIR=/work", "SLURM_SUBMIT_HOST=" + short_hostname(), "SLURM_JOB_NAME=train",
                                             "SLURM_CLUSTER_NAME=c", "SLURM_PRIO_PROCESS=0", "SLURM_UMASK=0027"));
}

TEST(EnvironmentFile, LinesOrZeroBytes) {
  EXPECT_THAT(parse_environment_file("A=1\nB=x y\n\nnothing\n=3\n"), ElementsAre("A=1", "B=x y"));
  EXPECT_THAT(parse_environment_file(std::string_view("A=1\n2\0B=2\0", 10)), ElementsAre("A=1\n2", "B=2"));
}

}  // namespace
}  // namespace muster::cli
