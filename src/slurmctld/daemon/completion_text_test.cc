#include "slurmctld/daemon/completion_text.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace muster::slurmctld {
namespace {

struct CompletionText : testing::Test {
  EndedRun run;
  CompletionText() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
    JobRecord& r = run.record;
    r.key = {JobId{7}, from_unix(1795827101), 0};
    r.cluster = "c";
    r.name = "my job";
    r.uid = Uid{1000};
    r.gid = Gid{1001};
    r.user = "alice";
    r.group = "team";
    r.state = JobState::kFailed;
    r.partition = "main";
    r.time_limit_min = 5;
    r.eligible = r.key.submitted;
    r.started = from_unix(1795827103);
    r.ended = from_unix(1795827163);
    r.node_list = "n[1-2]";
    r.nodes = 2;
    r.cpus = 4;
    r.work_dir = "/home/alice";
    r.account = "one";
    r.exit_status = 3 << 8;
    r.tres_allocated.cpus = 4;
    r.comment = "a comment";
    run.submit_host = "login";
    run.is_batch = true;
  }
  std::string variable(const std::string& name) const {
    for (const std::string& v : completion_variables(run))
      if (v.starts_with(name + "=")) return v.substr(name.size() + 1);
    return "none";
  }
  rapidjson::Document document(bool comment = false, const std::optional<std::string>& script = {}) const {
    rapidjson::Document d;
    d.Parse(completion_document(run, comment, script).c_str());
    EXPECT_FALSE(d.HasParseError());
    return d;
  }
};

// The form that Slurm 22.05 writes.
TEST_F(CompletionText, ALine) {
  EXPECT_EQ(completion_line(run),
            "JobId=7 UserId=alice(1000) GroupId=team(1001) Name=my job JobState=FAILED Partition=main TimeLimit=5 "
            "StartTime=2026-11-28T00:51:43 EndTime=2026-11-28T00:52:43 NodeList=n[1-2] NodeCnt=2 ProcCnt=4 WorkDir=/home/alice "
            "ReservationName= Tres=cpu=4 Account=one QOS= WcKey= Cluster=c SubmitTime=2026-11-28T00:51:41 EligibleTime=2026-11-28T00:51:41 "
            "DerivedExitCode=0:0 ExitCode=3:0 \n");
}

TEST_F(CompletionText, AJobThatNeverRanAndATaskOfAnArray) {
  JobRecord& r = run.record;
  r.state = JobState::kCancelled;
  r.started = kTimeUnset;
  r.node_list.clear();
  r.nodes = r.cpus = 0;
  r.exit_status = 9;
  r.time_limit_min = kUnlimited32;
  r.array_job_id = JobId{3};
  r.array_task = 2;
  const std::string line = completion_line(run);
  EXPECT_NE(line.find(" StartTime=2026-11-28T00:52:43 EndTime=2026-11-28T00:52:43 NodeList=(null) NodeCnt=0 "), line.npos) << line;
  EXPECT_NE(line.find(" TimeLimit=UNLIMITED "), line.npos) << line;
  EXPECT_NE(line.find(" ArrayJobId=3 ArrayTaskId=2 DerivedExitCode=0:0 ExitCode=0:9 \n"), line.npos) << line;
}

// Neither a line nor a key comes out of a text that a user chose.
TEST_F(CompletionText, HostileTexts) {
  run.record.name = "x\nJobId=99 JobState=COMPLETED \x1b[2J\xff ExitCode=0:0";
  run.record.work_dir = "/tmp/a JobState=COMPLETED";
  const std::string line = completion_line(run);
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_EQ(line.find('\x1b'), line.npos);
  EXPECT_NE(line.find("Name=x\\nJobId=99\\040JobState=COMPLETED \\x1b[2J\\xff\\040ExitCode=0:0 JobState=FAILED"), line.npos) << line;
  size_t states = 0;
  for (size_t at = line.find(" JobState="); at != line.npos; at = line.find(" JobState=", at + 1)) ++states;
  EXPECT_EQ(states, 1u) << line;
  EXPECT_EQ(variable("JOBNAME"), run.record.name) << "a variable is no line";
  EXPECT_STREQ(document()["job_name"].GetString(), "x\nJobId=99 JobState=COMPLETED \x1b[2J? ExitCode=0:0");
}

TEST_F(CompletionText, WhatSomeTakeForTheEndOfALineIsNone) {
  run.record.name = "a\u2028JobId=3\u2029b\u2027c";
  EXPECT_NE(completion_line(run).find(" Name=a\\u2028JobId=3\\u2029b\u2027c JobState="), std::string::npos) << completion_line(run);
}

TEST_F(CompletionText, Variables) {
  EXPECT_EQ(variable("JOBID"), "7");
  EXPECT_EQ(variable("JOBSTATE"), "FAILED");
  EXPECT_EQ(variable("ARRAYTASKID"), "4294967294");
  EXPECT_EQ(variable("LIMIT"), "00:05:00");
  EXPECT_EQ(variable("START"), "1795827103");
  EXPECT_EQ(variable("EXITCODE"), "3:0");
  EXPECT_EQ(variable("BATCH"), "yes");
  EXPECT_EQ(variable("PATH"), "/usr/bin:/bin:/usr/sbin:/sbin");
}

TEST_F(CompletionText, Document) {
  const auto d = document();
  EXPECT_EQ(d["jobid"].GetInt(), 7);
  EXPECT_STREQ(d["@end"].GetString(), "2026-11-28T00:52:43");
  EXPECT_STREQ(d["@end_time"].GetString(), "2026-11-28T00:52:43");
  EXPECT_EQ(d["elapsed"].GetInt(), 60);
  EXPECT_EQ(d["@queue_wait"].GetInt(), 2);
  EXPECT_EQ(d["time_limit"].GetInt(), 300);
  EXPECT_DOUBLE_EQ(d["cpu_hours"].GetDouble(), 240.0 / 3600);
  EXPECT_STREQ(d["alloc_node"].GetString(), "login");
  EXPECT_FALSE(d.HasMember("comment"));
  EXPECT_FALSE(d.HasMember("script"));
  const auto whole = document(true, "#!/bin/sh\nexit 3\n");
  EXPECT_STREQ(whole["comment"].GetString(), "a comment");
  EXPECT_STREQ(whole["script"].GetString(), "#!/bin/sh\nexit 3\n");
}

}  // namespace
}  // namespace muster::slurmctld
