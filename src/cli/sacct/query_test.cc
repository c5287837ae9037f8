#include "cli/sacct/query.h"

#include <gtest/gtest.h>

#include "cli/sacct/print.h"
#include "cli/sacct/unknown_names.h"

namespace muster::cli {
namespace {

using Words = std::vector<std::string>;
constexpr int64_t kNow = 1795252815;  // Sat Nov 21 09:20:15 2026 UTC

SacctOptions options(Words words) {
  auto parse = parse_sacct(words, {});
  EXPECT_EQ(parse.outcome, Outcome::kRun) << (parse.messages.empty() ? "" : parse.messages[0].text);
  return parse.options;
}

std::expected<RecordQuery, QueryMistake> ask(Words words, Uid me = Uid{}) {
  return make_record_query(options(std::move(words)), "orc", from_unix(kNow), me);
}

std::pair<int64_t, int64_t> window(Words words) {
  auto q = ask(std::move(words));
  if (!q) return {-1, -1};
  const auto& f = q->query.filter;
  return {f.from == kTimeUnset ? 0 : unix_seconds(f.from) - kNow, unix_seconds(f.until) - kNow};
}

std::string wrong(Words words) {
  auto q = ask(std::move(words));
  return q ? "" : q.error().text;
}

struct SacctQuery : testing::Test {
  SacctQuery() {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_F(SacctQuery, TheWindowDependsOnJobsAndStates) {
  constexpr int64_t kMidnight = -(9 * 3600 + 20 * 60 + 15);
  using P = std::pair<int64_t, int64_t>;
  EXPECT_EQ(window({}), P(kMidnight, 1));
  EXPECT_EQ(window({"-j", "1"}), P(0, 1));  // 0: ever
  EXPECT_EQ(ask({"-j", "1"})->query.filter.from, kTimeUnset);
  EXPECT_EQ(ask({"-j", "1", "-s", "R"})->query.filter.from, kTimeUnset);
  EXPECT_EQ(window({"-s", "R"}), P(0, 1));
  EXPECT_EQ(ask({"-s", "R"})->query.filter.from, from_unix(kNow));
  EXPECT_EQ(window({"-s", "R", "-S", "now-1hours"}), P(-3600, -3599));  // at that moment
  EXPECT_EQ(window({"-s", "R", "-S", "now-1hours", "-E", "now"}), P(-3600, 0));
  EXPECT_EQ(window({"-S", "now-2days", "-E", "now-1days"}), P(-172800, -86400));
  EXPECT_EQ(window({"-S", "08:00"}), P(-(3600 + 20 * 60 + 15), 1));  // today, though it is past
}

// A component's own id does not say which job it is of; its record does.
TEST_F(SacctQuery, TheWholeOfAComponentThatIsNamedByItsOwnId) {
  const auto asked = [](Words words) { return wholes_question(options(words), *ask(words)).has_value(); };
  EXPECT_TRUE(asked({"-j", "13", "--whole-hetjob"}));
  EXPECT_FALSE(asked({"-j", "13"}));
  EXPECT_FALSE(asked({"-j", "13", "--whole-hetjob=no"}));
  EXPECT_FALSE(asked({"--whole-hetjob=yes"}));
  auto query = ask({"-j", "13,7", "--whole-hetjob=yes"});
  JobRecord component, plain;
  component.key.id = JobId(13);
  component.het = {JobId(12), 1, 3};
  plain.key.id = JobId(7);
  for (int twice = 0; twice < 2; ++twice) mean_whole(*query, component), mean_whole(*query, plain);
  ASSERT_EQ(query->query.filter.jobs.size(), 3u);
  EXPECT_EQ(query->query.filter.jobs[2].job, JobId(12));
  EXPECT_FALSE(query->query.filter.jobs[2].het_offset);
}

TEST_F(SacctQuery, TheSecondThatEndNamesBelongsToTheWindow) {
  EXPECT_EQ(ask({"-S", "now-1hours", "-E", "now"})->query.filter.until, from_unix(kNow + 1) - Duration(1));
}

// The chargeback line of the checklist asks for a month of completed jobs and names no end.
TEST_F(SacctQuery, EndedStatesSinceAStartAskUntilNow) {
  EXPECT_EQ(window({"-S", "now-30days", "-s", "COMPLETED"}).second, 1);
  EXPECT_EQ(window({"-S", "now-30days", "-s", "cd,f,to"}).second, 1);
  EXPECT_EQ(window({"-S", "now-30days", "-s", "cd,r"}).second, -30 * 86400 + 1);
}

TEST_F(SacctQuery, AUserSeesTheOwnJobsUnlessOthersAreNamed) {
  const Uid me{1000};
  EXPECT_EQ(ask({}, me)->query.filter.users, std::vector{me});
  EXPECT_TRUE(ask({}, Uid{})->query.filter.users.empty());
  EXPECT_TRUE(ask({"-a"}, me)->query.filter.users.empty());
  EXPECT_TRUE(ask({"-j", "7"}, me)->query.filter.users.empty());
  EXPECT_EQ(ask({"-u", "root,4711"}, me)->query.filter.users, (std::vector{Uid{}, Uid{4711}}));
  EXPECT_EQ(ask({"-g", "root"})->query.filter.groups.size(), 1u);
}

TEST_F(SacctQuery, FiltersReachTheQuestion) {
  auto q = ask({"-A", "a,b", "-r", "p", "--name=x", "-q",      "high", "-W",  "k",  "-C",       "f1,f2", "-N", "n[1-3]",
                "-i", "2-4", "-I", "8", "-k",       "1:00:00", "-K",   "2-0", "-R", "Priority", "-D",    "-X"});
  ASSERT_TRUE(q) << q.error().text;
  const auto& f = q->query.filter;
  EXPECT_EQ(f.accounts, (Words{"a", "b"}));
  EXPECT_EQ(f.nodes, (Words{"n1", "n2", "n3"}));
  EXPECT_EQ(f.features, (Words{"f1", "f2"}));
  EXPECT_EQ(f.reasons, Words{"Priority"});
  EXPECT_EQ(f.min_nodes, 2u);
  EXPECT_EQ(f.max_nodes, 4u);
  EXPECT_EQ(f.min_cpus, 8u);
  EXPECT_EQ(f.max_cpus, 8u);
  EXPECT_EQ(f.min_limit_min, 60u);
  EXPECT_EQ(f.max_limit_min, 2880u);
  EXPECT_EQ(f.clusters, Words{"orc"});
  EXPECT_TRUE(f.duplicates);
  EXPECT_FALSE(f.steps);
  EXPECT_EQ(ask({"-M", "x,y"})->query.filter.clusters, (Words{"x", "y"}));
  EXPECT_TRUE(ask({"-M", "all"})->query.filter.clusters.empty());
  EXPECT_TRUE(ask({"-L"})->query.filter.clusters.empty());
}

TEST_F(SacctQuery, WrongValuesInSlurmsWords) {
  EXPECT_EQ(wrong({"-s", "foo"}), "unrecognized job state value 'foo'");
  EXPECT_EQ(wrong({"-s", "R,CG"}), "job state CG is not supported / accounted");
  EXPECT_EQ(wrong({"-S", "foo"}), "Invalid time specification (pos=0): foo");
  EXPECT_EQ(wrong({"-j", "foo"}), "Bad job/step specified: foo");
  EXPECT_EQ(wrong({"-j", "s6DPK2R0G9C0G0+1"}), "Bad job/step specified: s6DPK2R0G9C0G0+1") << "it names one run of one job";
  EXPECT_EQ(wrong({"-u", "no-such-user"}), "Invalid user id: no-such-user");
  EXPECT_EQ(wrong({"-g", "no-such-group"}), "Invalid group id: no-such-group");
  EXPECT_EQ(wrong({"-i", "foo"}), "Invalid numeric value \"foo\" for requested node range.");
  EXPECT_EQ(wrong({"-I", "4-2"}), "Invalid numeric value \"4-2\" for requested cpu range.");
  EXPECT_EQ(wrong({"-k", "foo"}), "Invalid time limit specification");
  EXPECT_EQ(wrong({"-K", "foo"}), "Invalid time limit specification");
  EXPECT_EQ(wrong({"-S", "now", "-E", "now-1hour"}), "Start time (2026-11-21T09:20:15) requested is after end time (2026-11-21T08:20:15).");
  EXPECT_EQ(ask({"-s", "RUNING"}).error().hint, "did you mean RUNNING?");
  auto parse = parse_sacct(Words{"--units=Q"}, {});
  ASSERT_EQ(parse.outcome, Outcome::kFailed);
  EXPECT_EQ(parse.messages[0].text, "Invalid unit type 'Q'. Possible options are 'KMGTP'");
  EXPECT_EQ(wrong({"-B"}), "When requesting job scripts you must also request specific jobs with the '-j' option.");
  EXPECT_EQ(wrong({"-B", "--env-vars", "-j", "1"}), "Options --batch-script and --env-vars are mutually exclusive");
  EXPECT_EQ(wrong({"--env-vars", "-j", "1"}), "");
  EXPECT_EQ(parse_sacct(Words{"-x", "1"}, {}).outcome, Outcome::kFailed);
  EXPECT_EQ(wrong({"-F", "schedmain,1"}), "Invalid job flag 1");
  EXPECT_EQ(ask({"-F", "SchedSubmit,schedbackfill,StartReceived"})->query.filter.started_by, kStartedAtSubmission | kStartedByBackfill);
  EXPECT_EQ(parse_sacct(Words{"-f"}, {}).outcome, Outcome::kFailed) << "it needs a file";
  EXPECT_TRUE(parse_sacct(Words{"-c"}, {}).options.completion);
  EXPECT_EQ(parse_sacct(Words{"-f", "/v/old"}, {}).options.completion_file, "/v/old");
}

TEST_F(SacctQuery, TheWindowAsVerboseTellsIt) {
  EXPECT_EQ(window_text(ask({"-j", "1", "-E", "2026-11-22T05:35:22"})->query.filter),
            "Jobs Eligible in the time window from Epoch 0 to Sun Nov 22 05:35:22 2026");
  EXPECT_EQ(window_text(ask({"-s", "cd,f", "-S", "2026-11-20", "-E", "2026-11-21"})->query.filter),
            "Jobs COMPLETED,FAILED in the time window from Fri Nov 20 00:00:00 2026 to Sat Nov 21 00:00:00 2026");
}

TEST(Query, AQosThatIsNoneIsRefusedWithThoseThatAre) {
  std::map<std::string, QosRecord> known;
  for (const char* name : {"normal", "fast", "gone"}) {
    known[name].id = static_cast<uint32_t>(known.size());
    known[name].deleted = std::string_view(name) == "gone";
  }
  EXPECT_TRUE(check_record_qos(known, ask({"-q", "Fast,gone"})->query.filter));
  auto refused = check_record_qos(known, ask({"-q", "fast,nosuch"})->query.filter);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "You gave a bad qos 'nosuch'. Valid QOS's are normal,fast");
}

struct Printed : testing::Test {
  std::string text(Words words, const rpc::JobRecords& part) {
    SacctOptions o = options(words);
    auto q = make_record_query(o, "orc", from_unix(kNow), Uid{});
    auto table = record_table(o);
    EXPECT_TRUE(q && table);
    fields::Environment env;
    env.now = from_unix(kNow);
    fields::RecordStyle style;
    Out out;
    print_records(o, q->selectors, *table, style, env, part, out);
    std::string got = out.buffer();
    out.buffer().clear();
    return got;
  }
  static rpc::JobRecords records() {
    rpc::JobRecords r;
    for (uint32_t id : {1u, 2u}) {
      JobRecord j;
      j.key.id = JobId{id};
      r.jobs.push_back(j);
      for (StepId step : {kBatchStep, StepId{0}}) {
        StepRecord s;
        s.job = j.key;
        s.id = step;
        r.steps.push_back(s);
      }
    }
    return r;
  }
};

TEST_F(Printed, StepsFollowTheirJobs) {
  EXPECT_EQ(text({"-P", "-o", "jobid"}, records()), "1\n1.batch\n1.0\n2\n2.batch\n2.0\n");
  EXPECT_EQ(text({"-P", "-X", "-o", "jobid"}, records()), "1\n2\n");
  EXPECT_EQ(text({"-P", "-o", "jobid", "-j", "1.0,2.batch"}, records()), "1.0\n2.batch\n");
}

// Each part but the first begins with the last job again.
TEST_F(Printed, ALargeJobComesInSeveralParts) {
  rpc::JobRecords first = records(), more, rest;
  more.jobs = rest.jobs = {first.jobs[1]};
  for (uint32_t id : {1u, 2u}) {
    StepRecord s = first.steps.back();
    s.id = StepId{id};
    (id == 1 ? more : rest).steps.push_back(s);
  }
  JobRecord other;
  other.key.id = JobId{3};
  rest.jobs.push_back(other);
  std::string lines;
  WholeJobs jobs([&](const rpc::JobRecords& part) { lines += text({"-P", "-o", "jobid"}, part); });
  for (rpc::JobRecords* part : {&first, &more, &rest}) jobs.add(std::move(*part));
  jobs.end();
  EXPECT_EQ(lines, "1\n1.batch\n1.0\n2\n2.batch\n2.0\n2.1\n2.2\n3\n");
}

TEST_F(Printed, AStepAloneAndAWholeJobInOneList) {
  EXPECT_EQ(text({"-P", "-o", "jobid", "-j", "1.0,2"}, records()), "1.0\n2\n2.batch\n2.0\n");
  EXPECT_EQ(text({"-P", "-o", "jobid", "-j", "1.0,1"}, records()), "1\n1.batch\n1.0\n");
  rpc::JobRecords r = records();
  r.jobs[1].array_job_id = JobId{5};
  r.jobs[1].array_tasks = "1-3,7%2";
  EXPECT_EQ(text({"-P", "-X", "-o", "jobidraw", "-j", "1.0,5_7"}, r), "2\n");
  EXPECT_EQ(text({"-P", "-X", "-o", "jobidraw", "-j", "1.0,5_4"}, r), "");
  EXPECT_EQ(text({"-P", "-X", "-o", "jobidraw", "-j", "1.0,5_[4-8]"}, r), "2\n");
  EXPECT_EQ(text({"-P", "-X", "-o", "jobidraw", "-j", "1.0,5_[4-6]"}, r), "");
}

TEST_F(Printed, PendingTasksOnLinesOfTheirOwn) {
  rpc::JobRecords r;
  r.jobs.resize(1);
  r.jobs[0].key.id = r.jobs[0].array_job_id = JobId{5};
  r.jobs[0].array_tasks = "1-3,7%2";
  EXPECT_EQ(text({"-P", "-o", "jobid"}, r), "5_[1-3,7%2]\n");
  EXPECT_EQ(text({"-P", "--array", "-o", "jobid"}, r), "5_1\n5_2\n5_3\n5_7\n");
}

TEST_F(Printed, WhichColumns) {
  auto columns = [](Words words, const char* env = nullptr) {
    auto parse = parse_sacct(words, [env](const char* name) { return std::string_view(name) == "SACCT_FORMAT" ? env : nullptr; });
    auto table = record_table(parse.options);
    std::string out;
    if (table) table->header(out);
    return out.substr(0, out.find('\n'));
  };
  EXPECT_EQ(columns({"-P"}), "JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode");
  EXPECT_EQ(columns({"-P", "-b"}), "JobID|State|ExitCode");
  EXPECT_EQ(columns({"-P"}, "jobid,user"), "JobID|User");
  EXPECT_EQ(columns({"-P", "-b"}, "jobid,user"), "JobID|State|ExitCode");
  EXPECT_EQ(columns({"-P", "-o", "user", "-l"}), "User");
  EXPECT_TRUE(columns({"-P", "-l"}).starts_with("JobID|JobIDRaw|JobName|Partition|MaxVMSize|"));
  EXPECT_EQ(columns({"-P", "-o", "all"}).find("AllocGRES"), std::string::npos);
  EXPECT_TRUE(columns({"-P", "-o", "ALL"}).starts_with("Account|AdminComment|"));
}

}  // namespace
}  // namespace muster::cli
