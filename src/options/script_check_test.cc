#include "options/script_check.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string told(std::string_view directives) {
  std::string out;
  for (const DirectiveFinding& f : check_directives("#!/bin/sh\n" + std::string(directives), Time{}).findings)
    out +=
        std::to_string(f.line) + (f.error ? " E " : " W ") + f.option + ": " + f.text + (f.hint.empty() ? "" : " (" + f.hint + ")") + "\n";
  return out;
}

TEST(ScriptCheck, EveryMistakeNotOnlyTheFirst) {
  EXPECT_EQ(told("#SBATCH --nodez=2\n#SBATCH --cpus_per_tsk=2\n#SBATCH --time=soon\n#SBATCH -n 4 four tasks\n"),
            "2 E : unrecognized option '--nodez=2' (did you mean --nodes?)\n"
            "3 E : unrecognized option '--cpus_per_tsk=2' (did you mean --cpus-per-task?)\n"
            "4 E --time: Invalid --time specification (formats: minutes, min:sec, hours:min:sec, days-hours[:min[:sec]], "
            "UNLIMITED)\n"
            "5 E : Invalid directive found in batch script: four\n");
}

TEST(ScriptCheck, BothOptionsOfAConflictAreNamed) {
  EXPECT_EQ(told("#SBATCH --mem=4G\n#SBATCH -n2\n#SBATCH --mem-per-cpu=2G\n"),
            "4 E : --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive. (--mem in line 2, --mem-per-cpu in "
            "line 4)\n");
  EXPECT_EQ(told("#SBATCH --mem=4G\n#SBATCH --mem-per-cpu=2G\n#SBATCH --exclusive\n#SBATCH --oversubscribe\n"),
            "3 E : --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive. (--mem in line 2, --mem-per-cpu in "
            "line 3)\n"
            "5 E : --exclusive and --oversubscribe options are mutually exclusive (--exclusive in line 4, "
            "--oversubscribe in line 5)\n");
}

TEST(ScriptCheck, WhatIsGivenTogether) {
  DirectiveCheck c = check_directives("#!/bin/sh\n#SBATCH -N 2 --gres=gpu:a100:4\n#SBATCH -t 10\necho\n#SBATCH -n 9\n", Time{});
  EXPECT_TRUE(c.findings.empty());
  ASSERT_EQ(c.given.size(), 3u);
  EXPECT_EQ(c.given[1].name, "gres");
  EXPECT_EQ(c.given[2].line, 3u);
  EXPECT_EQ(c.options.request.tres_per_node, "gres/gpu:a100:4");
  EXPECT_EQ(c.options.request.num_tasks, 0u);
}

TEST(ScriptCheck, EndsAtTheNextComponent) {
  DirectiveCheck c = check_directives("#!/bin/sh\n#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 8 --nonsense\n", Time{});
  ASSERT_EQ(c.findings.size(), 1u);
  EXPECT_EQ(c.findings[0].line, 3u);
  EXPECT_EQ(c.given.size(), 1u);
}

TEST(ScriptCheck, FormsOfGres) {
  EXPECT_NE(told("#SBATCH --gres=gpu=4\n").find("did you mean gpu:4?"), std::string::npos);
  EXPECT_NE(told("#SBATCH --gres=gpu:4:a100\n").find("did you mean gpu:a100:4?"), std::string::npos);
}

TEST(ScriptCheck, OptionsOfPluginsAreKnown) {
  const std::vector<PluginOption> pyxis{{"container-image", Arg::kRequired, "IMAGE", "the image", "pyxis"}};
  const char* script = "#!/bin/sh\n#SBATCH --container-image=ubuntu\n#SBATCH --container-image\n";
  DirectiveCheck known = check_directives(script, Time{}, pyxis);
  ASSERT_EQ(known.findings.size(), 1u);
  EXPECT_EQ(known.findings[0].text, "option '--container-image' requires an argument");
  EXPECT_TRUE(known.options.given("container-image"));
  EXPECT_EQ(check_directives(script, Time{}).findings.size(), 2u);
}

}  // namespace
}  // namespace muster
