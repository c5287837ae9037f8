#include <gtest/gtest.h>

#include <map>
#include <set>

#include "options/completion.h"
#include "options/help.h"
#include "options/job_options.h"
#include "options/man_page.h"
#include "options/manual_texts.h"
#include "options/query_options.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

EnvLookup env_of(const std::map<std::string, std::string>& env) {
  return [env](const char* name) -> const char* {
    auto it = env.find(name);
    return it == env.end() ? nullptr : it->second.c_str();
  };
}

TEST(Squeue, Filters) {
  auto p = parse_squeue(Words{"-u", "alice,bob", "-t", "R,PD", "--me", "-h", "-o", "%i %b", "-S", "-p", "-p", "gpu"}, {});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_EQ(p.options.users, (Words{"alice", "bob"}));
  EXPECT_EQ(p.options.states, (Words{"R", "PD"}));
  EXPECT_TRUE(p.options.me && p.options.noheader);
  EXPECT_EQ(p.options.format, "%i %b");
  EXPECT_EQ(p.options.sort, "-p");
  EXPECT_EQ(p.options.partitions, Words{"gpu"});
}

TEST(Squeue, JobListWithAndWithoutASpace) {
  for (const Words& w : {Words{"-j12,13_[1-3]"}, Words{"-j", "12,13_[1-3]"}, Words{"--jobs=12,13_[1-3]"}}) {
    auto p = parse_squeue(w, {});
    ASSERT_EQ(p.outcome, Outcome::kRun);
    EXPECT_TRUE(p.options.filters_jobs);
    EXPECT_EQ(p.options.jobs, (Words{"12", "13_[1-3]"}));
  }
  auto all = parse_squeue(Words{"-s", "-a"}, {});
  EXPECT_TRUE(all.options.filters_steps);
  EXPECT_EQ(all.options.visibility, Visibility::kAll);
}

TEST(Squeue, TypedFormatBeatsTheEnvironments) {
  auto p = parse_squeue(Words{"-o", "%i"}, env_of({{"SQUEUE_FORMAT2", "JobID"}, {"SQUEUE_USERS", "x"}}));
  EXPECT_EQ(p.options.format, "%i");
  EXPECT_EQ(p.options.long_format, "");
  EXPECT_EQ(p.options.users, Words{"x"});
  EXPECT_TRUE(p.options.given("user"));
  EXPECT_FALSE(p.options.typed("user"));
  EXPECT_EQ(parse_squeue(Words{"--json"}, {}).options.data.kind, DataOutput::Kind::kJson);
  EXPECT_EQ(parse_squeue(Words{"--json=list"}, {}).options.data.parser, "list");
  EXPECT_EQ(parse_squeue(Words{"--running-over=90"}, {}).options.running_over_seconds, 5400u);
  EXPECT_EQ(parse_squeue(Words{"--running-over=1:00:00"}, {}).options.running_over_seconds, 3600u);
}

TEST(Squeue, TheTwoFormatLanguagesExcludeEachOther) {
  EXPECT_EQ(parse_squeue(Words{"-o", "%i", "-O", "JobID"}, {}).outcome, Outcome::kFailed);
  auto from = [](const char* name) -> const char* { return std::string_view(name) == "SQUEUE_FORMAT" ? "%i" : nullptr; };
  EXPECT_EQ(parse_squeue(Words{"-O", "JobID"}, from).options.format, "");
}

TEST(Sinfo, Options) {
  auto p = parse_sinfo(Words{"-N", "-l", "-t", "idle,mix", "-n", "n[1-4]", "-i", "5"}, {});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_TRUE(p.options.node_centric && p.options.long_output);
  EXPECT_EQ(p.options.states, (Words{"idle", "mix"}));
  EXPECT_EQ(p.options.nodes, "n[1-4]");
  EXPECT_EQ(p.options.iterate_seconds, 5u);
}

TEST(Scancel, Options) {
  auto p = parse_scancel(Words{"12", "-s", "SIGUSR1", "13_4", "-t", "pd", "--name", "x"}, {});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_EQ(p.operands, (Words{"12", "13_4"}));
  EXPECT_EQ(p.options.signal, 10);
  EXPECT_EQ(p.options.states, Words{"PENDING"});
  EXPECT_EQ(p.options.name, "x");
}

TEST(Scontrol, Options) {
  auto p = parse_scontrol(Words{"show", "job", "-d", "12", "-o"}, {});
  EXPECT_EQ(p.operands, (Words{"show", "job", "12"}));
  EXPECT_TRUE(p.options.details && p.options.oneliner);
  EXPECT_EQ(parse_scontrol(Words{"-h"}, {}).outcome, Outcome::kHelp);
}

TEST(StepTools, Options) {
  auto a = parse_sattach(Words{"--output-filter=3", "-l", "12.0"}, {});
  EXPECT_EQ(a.outcome, Outcome::kRun);
  EXPECT_EQ(a.options.output_filter, 3u);
  auto b = parse_sbcast(Words{"-fp", "-s8m", "-j12.3", "a", "/tmp/a"}, {});
  EXPECT_EQ(b.outcome, Outcome::kRun);
  EXPECT_TRUE(b.options.force && b.options.preserve);
  EXPECT_EQ(b.options.size_bytes, 8u << 20);
  EXPECT_EQ(b.options.job, "12.3");
}

TEST(Sshare, Options) {
  auto p = parse_sshare(Words{"-alm", "-A", "a,b", "-u", "alice", "-P", "-n", "-U", "-o", "user"}, {});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_TRUE(p.options.all_users && p.options.long_output && p.options.partitions && p.options.noheader && p.options.only_users);
  EXPECT_EQ(p.options.accounts, (Words{"a", "b"}));
  EXPECT_EQ(p.options.users, Words{"alice"});
  EXPECT_EQ(p.options.form, SacctOptions::Form::kParsable2);
  EXPECT_EQ(parse_sshare(Words{"--yaml"}, env_of({{"SLURM_YAML", "compact"}})).options.yaml_style, "compact");
}

TEST(Sacctmgr, Documents) {
  auto p = parse_sacctmgr(Words{"--json=v0.0.44", "show", "qos"}, env_of({{"SLURM_JSON", "compact"}}));
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_EQ(p.options.data.kind, DataOutput::Kind::kJson);
  EXPECT_EQ(p.options.data.parser, "v0.0.44");
  EXPECT_EQ(p.options.json_style, "compact");
  EXPECT_EQ(parse_sacctmgr(Words{"--yaml", "show", "qos"}, {}).options.data.kind, DataOutput::Kind::kYaml);
}

TEST(Sstat, Options) {
  auto p = parse_sstat(Words{"-anp", "-j", "12,13.batch", "--fields=maxrss", "--noconvert", "14.0"}, {});
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_TRUE(p.options.all_steps && p.options.noheader && p.options.noconvert && !p.options.pids);
  EXPECT_EQ(p.options.jobs, (Words{"12", "13.batch", "14.0"}));
  EXPECT_EQ(p.options.format, "maxrss");
  EXPECT_EQ(p.options.form, SacctOptions::Form::kParsable);
  EXPECT_TRUE(parse_sstat(Words{"-i"}, {}).options.pids);
  EXPECT_EQ(parse_sstat(Words{"--json"}, {}).outcome, Outcome::kFailed);
}

TEST(Sprio, Options) {
  auto p = parse_sprio(Words{"-nlwh", "-j", "1,2", "-p", "main", "-u", "alice", "-S", "-y"}, env_of({{"SPRIO_FORMAT", "%i"}}));
  ASSERT_EQ(p.outcome, Outcome::kRun);
  EXPECT_TRUE(p.options.normalized && p.options.long_output && p.options.weights && p.options.noheader);
  EXPECT_EQ(p.options.jobs, (Words{"1", "2"}));
  EXPECT_EQ(p.options.users, Words{"alice"});
  EXPECT_EQ(p.options.sort, "-y");
  EXPECT_EQ(p.options.format, "%i");
  EXPECT_FALSE(p.options.typed("format"));
  EXPECT_EQ(parse_sprio(Words{"--users=bob"}, {}).options.users, Words{"bob"});
  EXPECT_EQ(parse_sprio(Words{"-j"}, {}).outcome, Outcome::kRun) << "all jobs";
  EXPECT_EQ(parse_sprio(Words{"-j", "1", "2"}, {}).outcome, Outcome::kFailed);
  auto both = parse_sprio(Words{"-l", "-o", "%i"}, {});
  EXPECT_EQ(both.outcome, Outcome::kFailed);
  EXPECT_EQ(both.messages.at(0).level, Message::Level::kFatal);
}

// Rules that hold for every row of every command.
TEST(Rows, AreComplete) {
  for (Command c : kAllCommands) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const OptionInfo* o : option_infos(c)) {
      std::string who = std::string(command_name(c)) + " --" + (o->name ? o->name : "(variable)");
      EXPECT_STRNE(o->doc, "") << who;
      EXPECT_EQ(o->status == Status::kWorks && !o->needs, o->note == nullptr) << who;
      EXPECT_TRUE(o->commands.has(c)) << who;
      if (!o->name) {
        EXPECT_NE(o->env.of(c), nullptr) << who;
        continue;
      }
      EXPECT_TRUE(names.insert(o->name).second) << who;
      if (o->letter) {
        EXPECT_TRUE(letters.insert(o->letter).second) << who << " -" << o->letter;
      }
      EXPECT_STRNE(o->summary, "") << who;
      EXPECT_LE(std::string_view(o->summary).size(), 52u) << who;
      EXPECT_EQ(o->arg == Arg::kNone, std::string_view(o->arg_name).empty()) << who;
    }
    EXPECT_TRUE(names.contains("help") || c == Command::kSbcast) << command_name(c);
  }
}

TEST(Generated, HelpListsEveryOptionWithin80Columns) {
  for (Command c : kAllCommands) {
    std::string help = help_text(c), usage = usage_text(c), man = man_page(c, "do it", "One.\n\n.Two."), zsh = zsh_completion(c);
    EXPECT_TRUE(help.starts_with("Usage: " + std::string(command_name(c))));
    for (const OptionInfo* o : option_infos(c)) {
      if (!o->name || o->hidden) continue;
      EXPECT_NE(help.find("--" + std::string(o->name)), std::string::npos) << o->name;
    }
    size_t at = 0;
    while (at < help.size()) {
      size_t end = help.find('\n', at);
      EXPECT_LE(end - at, 84u) << help.substr(at, end - at);
      at = end + 1;
    }
    EXPECT_NE(man.find(".SH OPTIONS"), std::string::npos);
    EXPECT_EQ(manual_text(c).command, c);
    EXPECT_NE(man_page(manual_text(c)).find(".SH DESCRIPTION\n.PP\n"), std::string::npos);
    EXPECT_NE(man.find("\n\\&.Two."), std::string::npos);
    EXPECT_NE(zsh.find("#compdef"), std::string::npos);
    EXPECT_NE(fish_completion(c).find("complete -c"), std::string::npos);
    EXPECT_FALSE(usage.empty());
  }
  PluginOption plugin{"container-image", Arg::kRequired, "image", "image to run in", "pyxis"};
  EXPECT_NE(help_text(Command::kSrun, {&plugin, 1}).find("Plugins:\n      --container-image=image"), std::string::npos);
  plugin = {"container-env", Arg::kRequired, "NAME[,NAME...]", "names of variables that keep the host's values, not those of the image",
            "pyxis"};
  EXPECT_NE(help_text(Command::kSrun, {&plugin, 1})
                .find("      --container-env=NAME[,NAME...]\n"
                      "                              names of variables that keep the host's values,\n"
                      "                              not those of the image\n"),
            std::string::npos);
  std::string bash = bash_completion(kAllCommands);
  EXPECT_NE(bash.find("complete -o default -F _muster_sbatch sbatch"), std::string::npos);
  EXPECT_NE(bash.find("--gpus-per-node="), std::string::npos);
  EXPECT_NE(topic_help_text("hint").find("compute_bound"), std::string::npos);
}

}  // namespace
}  // namespace muster
