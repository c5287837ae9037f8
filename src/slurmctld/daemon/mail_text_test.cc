#include "slurmctld/daemon/mail_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/mail.h"

namespace muster::slurmctld {
namespace {

SendMail mail(uint16_t what, JobState state = JobState::kCompleted, int32_t exit_status = 0) {
  SendMail m;
  JobRequest r;
  r.name = "train";
  r.user_name = "ada";
  m.job.id = JobId{7};
  m.job.ask(r);
  m.job.eligible = from_unix(100);
  m.job.started = from_unix(103);
  m.job.ended = from_unix(163);
  m.job.state = state;
  m.job.exit_status = exit_status;
  m.what = what;
  return m;
}

SendMail of_array(uint16_t what, uint32_t ok, uint32_t bad, uint32_t low, uint32_t high) {
  SendMail m = mail(what);
  m.job.array_job_id = JobId{3};
  m.job.array_task = 2;
  m.array = true;
  m.group.ended_ok = ok;
  m.group.ended_bad = bad;
  m.group.lowest_exit = low;
  m.group.highest_exit = high;
  return m;
}

TEST(MailText, SubjectsAsSlurmWordsThem) {
  Time now = from_unix(133);
  EXPECT_EQ(mail_subject(mail(kMailBegin, JobState::kRunning), now), "Slurm Job_id=7 Name=train Began, Queued time 00:00:03");
  EXPECT_EQ(mail_subject(mail(kMailEnd), now), "Slurm Job_id=7 Name=train Ended, Run time 00:01:00, COMPLETED, ExitCode 0");
  EXPECT_EQ(mail_subject(mail(kMailFail, JobState::kFailed, 3 << 8), now),
            "Slurm Job_id=7 Name=train Failed, Run time 00:01:00, FAILED, ExitCode 3");
  EXPECT_EQ(mail_subject(mail(kMailFail, JobState::kFailed, 9), now), "Slurm Job_id=7 Name=train Failed, Run time 00:01:00, FAILED");
  EXPECT_EQ(mail_subject(mail(kMailRequeue, JobState::kCancelled), now), "Slurm Job_id=7 Name=train Requeued, Run time 00:01:00");
  EXPECT_EQ(mail_subject(mail(kMailTimeLimit80, JobState::kRunning), now),
            "Slurm Job_id=7 Name=train Reached 80% of time limit, Run time 00:00:30");
  EXPECT_EQ(mail_subject(mail(kMailInvalidDepend, JobState::kPending), now), "Slurm Job_id=7 Name=train Invalid dependency");
}

TEST(MailText, ArraysAreWrittenAboutAsAWhole) {
  Time now = from_unix(133);
  EXPECT_EQ(mail_subject(of_array(kMailBegin, 0, 0, 0, 0), now), "Slurm Array Summary Job_id=3_* (3) Name=train Began");
  EXPECT_EQ(mail_subject(of_array(kMailEnd, 3, 0, 0, 0), now),
            "Slurm Array Summary Job_id=3_* (3) Name=train Ended, COMPLETED, ExitCode [0-0]");
  EXPECT_EQ(mail_subject(of_array(kMailFail, 1, 2, 0, 2), now),
            "Slurm Array Summary Job_id=3_* (3) Name=train Failed, Mixed, ExitCode [0-2]");
  EXPECT_EQ(mail_subject(of_array(kMailFail, 0, 2, 2, 2), now),
            "Slurm Array Summary Job_id=3_* (3) Name=train Failed, FAILED, ExitCode [2-2]");
  SendMail task = of_array(kMailEnd, 0, 0, 0, 0);
  task.array = false;
  EXPECT_EQ(mail_subject(task, now), "Slurm Array Task Job_id=3_2 (7) Name=train Ended, Run time 00:01:00, COMPLETED, ExitCode 0");
}

TEST(MailText, VariablesOfTheProgram) {
  auto env = mail_environment(mail(kMailFail, JobState::kFailed, 3 << 8), {"test", "gpu", "staff", "n[1-2]"}, from_unix(133));
  for (const char* wanted :
       {"SLURM_JOB_ID=7", "SLURM_JOB_USER=ada", "SLURM_JOB_GROUP=staff", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_JOB_STATE=FAILED",
        "SLURM_JOB_MAIL_TYPE=Failed", "SLURM_JOB_RUN_TIME=00:01:00", "SLURM_JOB_EXIT_CODE=768", "SLURM_JOB_EXIT_CODE2=3:0",
        "SLURM_JOB_EXIT_CODE_MAX=3", "SLURM_JOB_ACCOUNT=(null)"})
    EXPECT_THAT(env, testing::Contains(wanted));
}

}  // namespace
}  // namespace muster::slurmctld
