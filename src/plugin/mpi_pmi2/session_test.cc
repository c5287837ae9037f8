#include "plugin/mpi_pmi2/session.h"

#include <gtest/gtest.h>

namespace muster::mpi_pmi2 {
namespace {

// A task whose values go nowhere else.
struct Client {
  std::string said, aborted;
  std::map<std::string, std::string> keys, node_keys;
  int fences = 0;
  Session session{"job.1", 2, 4, "(vector,(0,2,2))", ports()};

  Session::Ports ports() {
    Session::Ports p;
    p.write = [this](std::string b) { said += b; };
    p.put = [this](std::string k, std::string v) { keys[k] = v; };
    p.get = [this](const std::string& k) { return find(keys, k); };
    p.put_node = [this](std::string k, std::string v) { node_keys[k] = v; };
    p.get_node = [this](const std::string& k) { return find(node_keys, k); };
    p.fence = [this] { ++fences; };
    p.abort = [this](const std::string& text) { aborted = text; };
    return p;
  }
  static std::optional<std::string> find(const std::map<std::string, std::string>& m, const std::string& k) {
    auto at = m.find(k);
    return at == m.end() ? std::nullopt : std::optional(at->second);
  }
  std::string say(const std::string& bytes) {
    said.clear();
    auto ok = session.read(bytes);
    return ok ? said : "error: " + std::string(ok.error().message());
  }
  std::string block(const std::string& body) {
    char length[8];
    snprintf(length, sizeof length, "%6zu", body.size());
    return unframed(say(length + body));
  }
  // Without its length, which must be right.
  static std::string unframed(const std::string& answer) {
    if (answer.empty()) return {};
    char length[8];
    snprintf(length, sizeof length, "%6zu", answer.size() - 6);
    return answer.starts_with(length) ? answer.substr(6) : "wrong length: " + answer;
  }
};

TEST(Pmi1, AnswersWhatMpichAsks) {
  Client c;
  EXPECT_EQ(c.say("cmd=init pmi_version=1 pmi_subversion=1\n"), "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(c.say("cmd=get_maxes\n"), "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=1024\n");
  EXPECT_EQ(c.say("cmd=get_my_kvsname\n"), "cmd=my_kvsname kvsname=job.1\n");
  EXPECT_EQ(c.say("cmd=get_universe_size\n"), "cmd=universe_size size=4\n");
  EXPECT_EQ(c.say("cmd=get kvsname=job.1 key=PMI_process_mapping\n"), "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n");
  EXPECT_EQ(c.say("cmd=put kvsname=job.1 key=P2 value=a b=c d\n"), "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(c.say("cmd=get kvsname=job.1 key=P2\n"), "cmd=get_result rc=0 msg=success value=a b=c d\n");
  EXPECT_EQ(c.say("cmd=get kvsname=job.1 key=P3\n"), "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
  EXPECT_EQ(c.say("cmd=finalize\n"), "cmd=finalize_ack\n");
}

TEST(Pmi1, ABarrierIsOverWhenItIsOver) {
  Client c;
  c.say("cmd=init pmi_version=1 pmi_subversion=1\n");
  EXPECT_EQ(c.say("cmd=barr"), "");
  EXPECT_EQ(c.say("ier_in\n"), "");
  EXPECT_EQ(c.fences, 1);
  c.session.fence_over(true);
  EXPECT_EQ(c.said, "cmd=barrier_out\n");
}

TEST(Pmi1, WhatIsNotThereIsRefused) {
  Client c;
  c.say("cmd=init pmi_version=1 pmi_subversion=1\n");
  EXPECT_EQ(c.say("mcmd=spawn\nnprocs=2\nexecname=x\n"), "");
  EXPECT_EQ(c.say("endcmd\n"), "cmd=spawn_result rc=-1 msg=not_supported\n");
  EXPECT_EQ(c.say("cmd=publish_name service=a port=b\n"), "cmd=publish_result rc=-1 info=not_supported msg=not_supported\n");
  c.say("cmd=abort exitcode=7\n");
  EXPECT_EQ(c.aborted, "PMI_Abort by task 2, status 7");
}

TEST(Pmi2, SpeaksInBlocks) {
  Client c;
  EXPECT_EQ(c.say("cmd=init pmi_version=2 pmi_subversion=0\n"), "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n");
  EXPECT_EQ(c.block("cmd=fullinit;pmirank=2;threaded=FALSE;"),
            "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=2;size=4;appnum=0;debugged=FALSE;pmiverbose=FALSE;rc=0;");
  EXPECT_EQ(c.block("cmd=kvs-put;key=k;value=a;;b;thrid=7;"), "cmd=kvs-put-response;thrid=7;rc=0;");
  EXPECT_EQ(c.keys["k"], "a;b");
  EXPECT_EQ(c.block("cmd=kvs-get;jobid=job.1;srcid=-1;key=k;"), "cmd=kvs-get-response;found=TRUE;value=a;;b;rc=0;");
  EXPECT_EQ(c.block("cmd=kvs-get;key=other;"), "cmd=kvs-get-response;found=FALSE;rc=0;");
  EXPECT_EQ(c.block("cmd=job-spawn;ncmds=1;"), "cmd=job-spawn-response;rc=1;errmsg=not supported;");
}

TEST(Pmi2, ANodeAttributeMayBeWaitedFor) {
  Client c;
  c.say("cmd=init pmi_version=2 pmi_subversion=0\n");
  EXPECT_EQ(c.block("cmd=info-getnodeattr;key=a;wait=TRUE;"), "");
  c.session.node_attribute_came();
  EXPECT_EQ(c.said, "");
  c.node_keys["a"] = "1";
  c.session.node_attribute_came();
  EXPECT_NE(c.said.find("found=TRUE;value=1;rc=0;"), std::string::npos) << c.said;
}

TEST(Pmi, WhatIsNoPmiIsSaid) {
  Client c;
  EXPECT_EQ(c.say("hello there\n"), "error: PMI: not a command: hello there");
  Client d;
  d.say("cmd=init pmi_version=2 pmi_subversion=0\n");
  EXPECT_EQ(d.say("abcdefgh"), "error: PMI-2: no length before a command");
  Client e;
  EXPECT_EQ(e.say(std::string((1u << 20) + 1, 'x')), "error: PMI: more than 1 MiB without an end");
}

TEST(ProcessMapping, SaysRunsOfNodes) {
  EXPECT_EQ(process_mapping({{"a", {0, 1}}, {"b", {2, 3}}, {"c", {4}}}), "(vector,(0,2,2),(2,1,1))");
  EXPECT_EQ(process_mapping({{"a", {0, 2}}, {"b", {1, 3}}}), "");
}

// Many commands may come in one piece: what counts is what has no end yet.
TEST(Pmi1, OnlyWhatHasNoEndIsBounded) {
  Client c;
  c.say("cmd=init pmi_version=1 pmi_subversion=1\n");
  std::string many;
  while (many.size() <= 1u << 20) many += "cmd=put kvsname=job.1 key=K value=" + std::string(60000, 'v') + "\n";
  EXPECT_TRUE(c.say(many).starts_with("cmd=put_result rc=0 msg=success\n"));
  EXPECT_EQ(c.say("cmd=put value=" + std::string(1u << 20, 'v')), "error: PMI: more than 1 MiB without an end");
}

TEST(Pmi2, WhatIsSaidBackIsBounded) {
  auto asks = [](const std::string& body) {
    Client c;
    c.say("cmd=init pmi_version=2 pmi_subversion=0\n");
    return c.block(body);
  };
  EXPECT_EQ(asks("cmd=job-getid;thrid=" + std::string(64, 't') + ";"),
            "cmd=job-getid-response;thrid=" + std::string(64, 't') + ";jobid=job.1;rc=0;");
  const std::string refused = "wrong length: error: PMI-2: cmd and thrid have at most 64 bytes";
  EXPECT_EQ(asks("cmd=job-getid;thrid=" + std::string(65, 't') + ";"), refused);
  EXPECT_EQ(asks("cmd=" + std::string(999990, 'c') + ";"), refused);
}

}  // namespace
}  // namespace muster::mpi_pmi2
