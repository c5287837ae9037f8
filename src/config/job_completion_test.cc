#include "config/job_completion.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace muster::config {
namespace {

ConfigReport read(const std::string& lines) {
  MemoryFiles files{{"/e/slurm.conf", "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n\n" + lines}};
  return check_config(files, "/e/slurm.conf");
}
JobCompletion chosen(const std::string& lines) {
  const ConfigReport report = read(lines);
  EXPECT_EQ(to_text(report.errors), "");
  EXPECT_EQ(to_text(report.loaded.notices), "");
  return job_completion(report.loaded.config);
}

TEST(JobCompletion, KindsAndPlaces) {
  EXPECT_EQ(chosen("").kind, CompletionKind::kNone);
  EXPECT_EQ(chosen("JobCompType=jobcomp/none\n").kind, CompletionKind::kNone);
  EXPECT_EQ(chosen("JobCompType=jobcomp/filetxt\n").place, "/var/log/slurm_jobcomp.log");
  EXPECT_EQ(chosen("JobCompType=jobcomp/filetxt\nJobCompLoc=/v/comp\n"), (JobCompletion{CompletionKind::kFile, "/v/comp"}));
  EXPECT_EQ(chosen("JobCompType=jobcomp/script\nJobCompLoc=comp.sh\n"), (JobCompletion{CompletionKind::kScript, "/e/comp.sh"}));
  EXPECT_EQ(chosen("JobCompType=jobcomp/elasticsearch\nJobCompLoc=es:9200/jobs/_doc\nJobCompParams=send_script,send_comment\n"),
            (JobCompletion{CompletionKind::kElasticsearch, "es:9200/jobs/_doc", true, true, "", "", milliseconds(500)}));
}

TEST(JobCompletion, WhatIsNotThereIsTold) {
  for (const char* kind : {"lua", "mysql"}) {
    const ConfigReport report = read("JobCompType=jobcomp/" + std::string(kind) + "\nJobCompLoc=/x\n");
    EXPECT_EQ(to_text(report.errors), "");
    const std::string told = to_text(report.loaded.notices);
    EXPECT_NE(told.find("slurm.conf:4: JobCompType: jobcomp/" + std::string(kind)), told.npos) << told;
    EXPECT_NE(told.find("no record of a finished job is written"), told.npos) << told;
    EXPECT_EQ(job_completion(report.loaded.config).kind, CompletionKind::kNone);
  }
}

TEST(JobCompletion, WordsWithoutEffectAreTold) {
  std::string told = to_text(read("JobCompType=jobcomp/elasticsearch\nJobCompLoc=h:1/x\nJobCompParams=send_coment\n").loaded.notices);
  EXPECT_NE(told.find("JobCompParams: send_coment has no effect"), told.npos) << told;
  told = to_text(read("JobCompType=jobcomp/filetxt\nJobCompParams=send_script\n").loaded.notices);
  EXPECT_NE(told.find("send_script has no effect but with JobCompType=jobcomp/elasticsearch and jobcomp/kafka"), told.npos) << told;
}

TEST(JobCompletion, Kafka) {
  const std::string kafka = "JobCompType=jobcomp/kafka\nJobCompLoc=/e/kafka.conf\n";
  JobCompletion plain = chosen(kafka);
  EXPECT_EQ(plain.kind, CompletionKind::kKafka);
  EXPECT_EQ(plain.place, "/e/kafka.conf");
  EXPECT_EQ(plain.topic, "c");
  EXPECT_EQ(plain.start_topic, "");
  EXPECT_EQ(plain.flush_timeout, milliseconds(500));
  EXPECT_EQ(chosen(kafka + "JobCompParams=enable_job_start\n").start_topic, "c-job-start");
  const JobCompletion named =
      chosen(kafka + "JobCompParams=topic=ends,topic_job_start=starts,enable_job_start,flush_timeout=-1,send_script\n");
  EXPECT_EQ(named.topic, "ends");
  EXPECT_EQ(named.start_topic, "starts");
  EXPECT_EQ(named.flush_timeout, Duration::max());
  EXPECT_TRUE(named.send_script);
  const std::string told =
      to_text(read(kafka + "JobCompParams=poll_interval=3,requeue_on_msg_timeout,flush_timeout=soon\n").loaded.notices);
  EXPECT_NE(told.find("poll_interval is not needed: answers of brokers are taken as they come"), told.npos) << told;
  EXPECT_NE(told.find("requeue_on_msg_timeout is not needed"), told.npos) << told;
  EXPECT_NE(told.find("flush_timeout=soon is no number of milliseconds: 500 is taken"), told.npos) << told;
  EXPECT_NE(to_text(read("JobCompType=jobcomp/kafka\nJobCompLoc=kafka.conf\n").errors).find("'kafka.conf' is no absolute path"),
            std::string::npos);
}

TEST(JobCompletion, PlacesThatAreNoneAreErrors) {
  for (const char* lines : {"JobCompType=jobcomp/script\n", "JobCompType=jobcomp/elasticsearch\n", "JobCompType=jobcomp/kafka\n"})
    EXPECT_NE(to_text(read(lines).errors).find("needs JobCompLoc"), std::string::npos) << lines;
  EXPECT_NE(to_text(read("JobCompType=jobcomp/filetxt\nJobCompLoc=comp.log\n").errors).find("'comp.log' is no absolute path"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::config
