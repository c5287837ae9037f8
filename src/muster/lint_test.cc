#include "muster/lint.h"

#include <gtest/gtest.h>

namespace muster::front {
namespace {

LintWorld a_world() {
  LintWorld w;
  w.work_dir = "/home/u";
  w.is_directory = [](const std::string& path) { return path == "/home/u/logs" || path == "/tmp"; };
  return w;
}

std::string told(std::string_view script) {
  std::vector<Finding> findings = lint_script(script, "j.sh", a_world());
  in_order(findings);
  return to_text(findings);
}
std::string told_of(std::string_view directives, std::string_view body = "srun x\n") {
  return told("#!/bin/bash\n" + std::string(directives) + std::string(body));
}

// Scripts as people write them, with nothing to complain about.
TEST(Lint, QuietAboutGoodScripts) {
  EXPECT_EQ(told_of("#SBATCH --job-name=llm-fsdp-train\n#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=1\n"
                    "#SBATCH --gres=gpu:8      # all of them\n#SBATCH --time=48:00:00\n#SBATCH --mem=900G\n"
                    "#SBATCH --output=logs/train-%j.out\n##SBATCH --exclusive\n# SBATCH lines end here\n\n"
                    "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"),
            "");
  EXPECT_EQ(told_of("#SBATCH -t 30 -n4 -c 2 --mem-per-cpu=2000 -o x.out\n#SBATCH --comment='a $5 # note'\n"), "");
  EXPECT_EQ(told_of("#SBATCH --array=0-999%16\n#SBATCH --output=logs/%A_%4a.out\n#SBATCH --time=1-00:00:00\n"), "");
  EXPECT_EQ(told_of("#SBATCH --nodes=2\n", "python launch.py\nsource env.sh\n"), "");
  EXPECT_EQ(told_of("#SBATCH -n1\n", "cat > inner.sh <<'EOF'\n#!/bin/bash\n#SBATCH -n2\nEOF\nsbatch inner.sh\n"), "");
  EXPECT_EQ(told_of("#SBATCH --gpus=8 --gpus-per-task=1\n#SBATCH --nodes=2 --gpus-per-node=4\n"), "");
}

TEST(Lint, NoInterpreterLine) {
  EXPECT_EQ(told("#SBATCH --job-name=train-model\nsrun x\n"),
            "j.sh:1: error: This does not look like a batch script. The first line must start with #! followed by the "
            "path to an interpreter. For instance: #!/bin/sh\n"
            "    add a first line such as #!/bin/bash before the #SBATCH lines\n");
  EXPECT_NE(told("\xEF\xBB\xBF#!/bin/bash\nsrun x\n").find("byte order mark"), std::string::npos);
}

TEST(Lint, DosLineEnds) {
  EXPECT_EQ(told("#!/bin/bash\r\n#SBATCH -n2\r\nsrun x\r\n"),
            "j.sh: error: Batch script contains DOS line breaks (\\r\\n) instead of expected UNIX line breaks (\\n).\n"
            "    dos2unix, or sed -i 's/\\r$//', puts them right\n");
}

TEST(Lint, DirectivesThatAreNotRead) {
  EXPECT_EQ(told_of("", "module load x\n#SBATCH --nodes=2\nsrun x\n"),
            "j.sh:3: warning: #SBATCH: is not read: the first command is in line 2\n    move it above that line\n");
  EXPECT_EQ(told_of("# SBATCH --nodes=2\n#sbatch -n3\n#SBACTH --mem=3G\n #SBATCH -n1\n#note -x\n"),
            "j.sh:2: warning: # SBATCH: is a comment, not a directive\n"
            "    a directive is #SBATCH at the very beginning of the line (##SBATCH says that it is meant to be off)\n"
            "j.sh:3: warning: #sbatch: is a comment, not a directive\n    did you mean #SBATCH?\n"
            "j.sh:4: warning: #SBACTH: is a comment, not a directive\n    did you mean #SBATCH?\n"
            "j.sh:5: warning: #SBATCH: is a comment, not a directive\n"
            "    a directive is #SBATCH at the very beginning of the line (##SBATCH says that it is meant to be "
            "off)\n");
}

TEST(Lint, WrongOptionsAreErrors) {
  EXPECT_EQ(told_of("#SBATCH --gpu-per-node=8\n#SBATCH --nodes = 2\n#SBATCH --mem=4G --mem-per-cpu=1G\n"),
            "j.sh:2: error: unrecognized option '--gpu-per-node=8'\n    did you mean --gpus-per-node?\n"
            "j.sh:3: error: --nodes: has blanks around its =\n    write --nodes=2\n"
            "j.sh:4: error: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive. (--mem in line 4, "
            "--mem-per-cpu in line 4)\n");
}

TEST(Lint, Characters) {
  EXPECT_EQ(told_of("#SBATCH --job-name=run#3\n"), "j.sh:2: warning: #: ends the line: what is read is \"--job-name=run\"\n"
                                                   "    write the value in quotes, or a blank before a comment\n");
  EXPECT_NE(told_of("#SBATCH \xE2\x80\x93-nodes=2\n").find("is a typographic dash, not two hyphens"), std::string::npos);
  EXPECT_NE(told_of("#SBATCH -nodes=2\n")
                .find("j.sh:2: warning: -nodes: a long option has two dashes\n"
                      "    write --nodes=2\n"),
            std::string::npos)
      << told_of("#SBATCH -nodes=2\n");
  EXPECT_EQ(told_of("#SBATCH --output=$HOME/x.out\n#SBATCH --error=~/x.err\n"),
            "j.sh:2: warning: --output: \"$HOME/x.out\": variables are not expanded in directives\n"
            "    %u is the user, %j the job, %x its name, %A_%a an array task; or give the option on sbatch's command "
            "line\n"
            "j.sh:3: warning: --error: \"~/x.err\": ~ is not expanded in directives\n"
            "    write the whole path, or one relative to where sbatch is called\n");
}

TEST(Lint, Units) {
  EXPECT_EQ(told_of("#SBATCH --time=48\n#SBATCH --mem=64\n"),
            "j.sh:2: warning: --time: 48 is 48 minutes\n    48 hours would be 48:00:00\n"
            "j.sh:3: warning: --mem: 64 is 64 megabytes\n    64 gigabytes would be 64G\n");
  EXPECT_EQ(told_of("#SBATCH --time=24:00\n"), "j.sh:2: warning: --time: 24:00 is 24 minutes\n    24 hours would be 24:00:00\n");
}

TEST(Lint, Gpus) {
  EXPECT_EQ(told_of("#SBATCH --gres=gpus:4\n"),
            "j.sh:2: warning: --gres: \"gpus\" is hardly the name of a resource\n    GPUs are called gpu: --gres=gpu:4\n");
  EXPECT_EQ(told_of("#SBATCH --gpus-per-task=1\n"),
            "j.sh:2: warning: --gpus-per-task: says GPUs for each task, and nothing says how many tasks there are\n"
            "    add --ntasks=N (or --gpus=N)\n");
  EXPECT_EQ(told_of("#SBATCH --gpus=8\n#SBATCH --gpus-per-node=8 -N 4\n"),
            "j.sh:2: warning: --gpus: 8 does not agree with 4 nodes with 8 GPUs each\n"
            "    --gpus counts those of the whole job: --gpus=32\n");
}

TEST(Lint, Counts) {
  EXPECT_EQ(told_of("#SBATCH -N 2 --ntasks-per-node=4 -n 16\n"),
            "j.sh:2: warning: --ntasks: 16 tasks do not fit 2 nodes with 4 tasks each\n"
            "    leave --ntasks out, or write --ntasks=8\n");
  EXPECT_EQ(told_of("#SBATCH -n 2\n#SBATCH --ntasks=3\n"), "j.sh:3: warning: --ntasks: is given twice: 3 counts, not 2 of line 2\n");
  EXPECT_EQ(told_of("#SBATCH --nodes=4\n", "python train.py\n"),
            "j.sh:2: warning: --nodes: the job gets 4 nodes, but the script runs on the first of them only\n"
            "    srun COMMAND starts it on all of them\n");
}

TEST(Lint, Output) {
  EXPECT_EQ(told_of("#SBATCH --output=logs/%j/train.out\n"),
            "j.sh:2: warning: --output: the directory logs/%j cannot be there when the job starts\n"
            "    Muster makes it; other sites' Slurm ends the job without any output: put the pattern into the name of "
            "the file\n");
  EXPECT_EQ(told_of("#SBATCH --output=out/x.%j\n"),
            "j.sh:2: warning: --output: the directory out does not exist\n"
            "    Muster makes it; other sites' Slurm ends the job without any output: mkdir -p out first\n");
  EXPECT_EQ(told_of("#SBATCH --array=1-4\n#SBATCH --output=logs/%A.out\n"),
            "j.sh:3: warning: --output: all tasks of the array write to the same file\n"
            "    %A_%a in its name tells them apart\n");
}

}  // namespace
}  // namespace muster::front
