// The module between slurmstepd, other nodes' modules and libpmix: slurmstepd's end of the socket and the functions of libpmix are ours.
#include "plugin/mpi_pmix/module.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/socket.h>

#include <list>

#include "net/notify.h"

namespace muster::mpi_pmix {
namespace {

// What libpmix was told, and what it says. Its functions carry no context.
struct Fake {
  pmix_server_module_t table{};
  pmix_status_t init = PMIX_SUCCESS;
  std::string name_space;
  std::vector<uint32_t> clients;
  struct Wanted {
    uint32_t rank;
    pmix_dmodex_response_fn_t answer;
    void* context;
  };
  std::vector<Wanted> wanted;
};
Fake* fake = nullptr;

Library fake_library() {
  Library l;
  l.PMIx_server_init = [](pmix_server_module_t* table, pmix_info_t*, size_t) {
    fake->table = *table;
    return fake->init;
  };
  l.PMIx_server_register_nspace = [](const char* name, int, pmix_info_t*, size_t, pmix_op_cbfunc_t, void*) {
    fake->name_space = name;
    return static_cast<pmix_status_t>(PMIX_OPERATION_SUCCEEDED);
  };
  l.PMIx_server_register_client = [](const pmix_proc_t* p, uid_t, gid_t, void*, pmix_op_cbfunc_t, void*) {
    fake->clients.push_back(p->rank);
    return static_cast<pmix_status_t>(PMIX_SUCCESS);
  };
  l.PMIx_server_setup_fork = [](const pmix_proc_t* p, char*** env) {
    *env = static_cast<char**>(::realloc(*env, 2 * sizeof(char*)));
    (*env)[0] = ::strdup(("PMIX_RANK=" + std::to_string(p->rank)).c_str());
    (*env)[1] = nullptr;
    return static_cast<pmix_status_t>(PMIX_SUCCESS);
  };
  l.PMIx_server_dmodex_request = [](const pmix_proc_t* p, pmix_dmodex_response_fn_t answer, void* context) {
    fake->wanted.push_back({p->rank, answer, context});
    return static_cast<pmix_status_t>(PMIX_SUCCESS);
  };
  l.PMIx_generate_regex = l.PMIx_generate_ppn = [](const char*, char** out) {
    static char nothing[] = "";
    *out = nothing;
    return static_cast<pmix_status_t>(PMIX_SUCCESS);
  };
  l.PMIx_Info_load = [](pmix_info_t*, const char*, const void*, pmix_data_type_t) { return static_cast<pmix_status_t>(PMIX_SUCCESS); };
  l.PMIx_Error_string = [](pmix_status_t) { return "the reason"; };
  l.PMIx_Get_version = [] { return "fake"; };
  return l;
}

// What a task gets for what it asked.
struct Got {
  std::optional<pmix_status_t> status;
  std::string data;
  int times = 0;
  static void take(pmix_status_t status, const char* data, size_t size, void* self, pmix_release_cbfunc_t release, void* released) {
    auto* got = static_cast<Got*>(self);
    got->status = status;
    got->data.assign(data ? data : "", size);
    ++got->times;
    if (release) release(released);
  }
};

// Three nodes with two tasks each; the module is of node `self`.
class PmixModuleTest : public testing::Test {
 protected:
  PmixModuleTest() { fake = &fake_; }
  ~PmixModuleTest() override { fake = nullptr; }
  void start(
      uint32_t self, Module::OpenLibrary open = [] { return Result<Library>(fake_library()); }) {
    open_socket(std::move(open));
    mpi_rpc::ModuleStart m;
    m.job = JobId(12);
    m.node_id = self;
    for (uint32_t n = 0; n < 3; ++n) m.setup.nodes.push_back({"n" + std::to_string(n), {2 * n, 2 * n + 1}});
    say(m);
    until([&] { return ready || failed; });
  }
  void open_socket(Module::OpenLibrary open) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    slurmstepd = net::adopt_channel(loop, ends[0], net::Peer{});
    slurmstepd->on_request = [this](net::Frame f) { on_frame(f); };
    module.emplace(loop, ends[1], std::move(open));
  }
  template <class M>
  void say(const M& m) {
    net::notify(*slurmstepd, m);
  }
  void letter(uint32_t from, const mpi::Letter& l) {
    mpi_rpc::NodeLetter m;
    m.from = from;
    wire::encode(l, m.content);
    say(m);
  }
  void until(const std::function<bool()>& holds) {
    const Duration end = net::Loop::monotonic() + seconds(60);
    while (!holds()) {
      ASSERT_LT(net::Loop::monotonic(), end) << "it never came to be";
      auto timer = loop.after(milliseconds(1), [this] { loop.stop(); });
      loop.run();
    }
  }
  // Everything said so far has been looked at.
  void settle() {
    const int before = ends;
    say(mpi_rpc::ModuleEnd{});
    until([&] { return ends > before; });
  }
  pmix_status_t fence(Got& got, std::vector<uint32_t> ranks, std::string data, std::optional<int> timeout = std::nullopt,
                      const char* name = nullptr) {
    std::vector<pmix_proc_t> procs(ranks.size());
    for (size_t i = 0; i < ranks.size(); ++i) {
      ::strncpy(procs[i].nspace, name ? name : fake_.name_space.c_str(), PMIX_MAX_NSLEN);
      procs[i].rank = ranks[i];
    }
    pmix_info_t info{};
    ::strncpy(info.key, PMIX_TIMEOUT, PMIX_MAX_KEYLEN);
    info.value.type = PMIX_INT;
    info.value.data.integer = timeout.value_or(0);
    return fake_.table.fence_nb(procs.data(), procs.size(), &info, timeout ? 1 : 0, data.data(), data.size(), Got::take, &got);
  }
  pmix_status_t want(Got& got, uint32_t rank) {
    pmix_proc_t p{};
    ::strncpy(p.nspace, fake_.name_space.c_str(), PMIX_MAX_NSLEN);
    p.rank = rank;
    return fake_.table.direct_modex(&p, nullptr, 0, Got::take, &got);
  }
  static mpi::Letter part(std::string group, uint64_t number, std::string data, mpi::LetterKind kind = mpi::LetterKind::kContribution) {
    mpi::Letter l;
    l.kind = kind;
    l.group = std::move(group);
    l.number = number;
    l.data = std::move(data);
    return l;
  }
  static mpi::Letter question(uint64_t number, uint32_t rank) {
    mpi::Letter l;
    l.kind = mpi::LetterKind::kQuestion;
    l.number = number;
    l.rank = rank;
    return l;
  }
  bool noted(const std::string& text) const {
    return std::ranges::any_of(notes, [&](const std::string& n) { return n.find(text) != n.npos; });
  }

  struct Sent {
    std::vector<uint32_t> to;
    mpi::Letter letter;
  };
  Fake fake_;
  net::Loop loop;
  net::ChannelPtr slurmstepd;
  std::optional<mpi_rpc::ModuleReady> ready;
  std::optional<std::string> failed;
  std::vector<Sent> letters;
  std::vector<std::string> notes, aborts;
  int ends = 0;
  std::optional<Module> module;

 private:
  template <class M, class F>
  static void on(const net::Frame& f, F then) {
    if (f.message != M::kNumber) return;
    M m;
    ASSERT_TRUE(wire::decode(f.payload, m));
    then(m);
  }
  void on_frame(const net::Frame& f) {
    on<mpi_rpc::ModuleReady>(f, [&](auto& m) { ready = m; });
    on<mpi_rpc::ModuleFailed>(f, [&](auto& m) { failed = m.text; });
    on<mpi_rpc::ModuleNote>(f, [&](auto& m) { notes.push_back(m.text); });
    on<mpi_rpc::ModuleAbort>(f, [&](auto& m) { aborts.push_back(m.text); });
    on<mpi_rpc::ModuleEnd>(f, [&](auto&) { ++ends; });
    on<mpi_rpc::NodeLetter>(f, [&](auto& m) {
      Sent& sent = letters.emplace_back(Sent{m.to, {}});
      ASSERT_TRUE(wire::decode(m.content, sent.letter));
    });
  }
};

// ---- the beginning
TEST_F(PmixModuleTest, TellsTheVariablesOfTheTasksHere) {
  start(1);
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->tasks.size(), 2u);
  EXPECT_EQ(ready->tasks[1].rank, 3u);
  EXPECT_EQ(ready->tasks[1].environment, std::vector<std::string>{"PMIX_RANK=3"});
  EXPECT_EQ(fake_.name_space, "slurm.pmix.12.0");
  EXPECT_EQ(fake_.clients, (std::vector<uint32_t>{2, 3}));
}

TEST_F(PmixModuleTest, ANodeWithoutLibpmixSaysSo) {
  start(0, [] { return fail(Errc::kUnsupported, "PMIx is not on this node"); });
  ASSERT_TRUE(failed);
  EXPECT_EQ(*failed, "PMIx is not on this node");
  letter(1, part("*", 0, "early"));  // the others do not know it yet
  letter(1, question(1, 0));
  say(mpi_rpc::NodesLost{{1}});
  say(mpi_rpc::TaskGone{0, 0});
  say(mpi_rpc::StepAbort{});
  bool turned = false;
  auto timer = loop.after(milliseconds(20), [&] { turned = true; });
  until([&] { return turned; });
  EXPECT_TRUE(letters.empty());
}

TEST_F(PmixModuleTest, AServerThatDoesNotStartFailsTheLaunch) {
  fake_.init = PMIX_ERROR;
  start(0);
  ASSERT_TRUE(failed);
  EXPECT_EQ(*failed, "PMIx_server_init: the reason");
}

TEST_F(PmixModuleTest, AStartThatMeansNothingEndsTheModule) {
  for (bool garbage : {true, false}) {
    open_socket([] { return Result<Library>(fake_library()); });
    mpi_rpc::ModuleStart m;
    m.node_id = 3;
    m.setup.nodes.resize(3);
    if (garbage) slurmstepd->notify(mpi_rpc::ModuleStart::kNumber, "\xff\xff\xff");
    else say(m);
    loop.run();  // until the module stops it
    EXPECT_FALSE(ready || failed);
  }
}

TEST_F(PmixModuleTest, EndsWithSlurmstepd) {
  start(0);
  slurmstepd->close();
  loop.run();
}

// ---- fences
TEST_F(PmixModuleTest, TheLowestNodeGathersAFenceOfAll) {
  start(0);
  Got got;
  ASSERT_EQ(fence(got, {PMIX_RANK_WILDCARD}, "zero"), PMIX_SUCCESS);
  letter(2, part("*", 0, "two"));
  settle();
  EXPECT_FALSE(got.status);
  letter(1, part("*", 0, "one"));
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(*got.status, PMIX_SUCCESS);
  EXPECT_EQ(got.data, "zeroonetwo");
  settle();
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].to, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(letters[0].letter.data, "zeroonetwo");
}

TEST_F(PmixModuleTest, TheOthersGetTheResultFromItAlone) {
  start(2);
  Got got;
  ASSERT_EQ(fence(got, {0, 4}, "two"), PMIX_SUCCESS);
  until([&] { return letters.size() == 1; });
  EXPECT_EQ(letters[0].to, std::vector<uint32_t>{0});
  EXPECT_EQ(letters[0].letter.group, "0,4");
  letter(1, part("0,4", 0, "not its root", mpi::LetterKind::kResult));
  settle();
  EXPECT_FALSE(got.status);
  letter(0, part("0,4", 0, "all", mpi::LetterKind::kResult));
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(got.data, "all");
  letter(0, part("0,4", 0, "again", mpi::LetterKind::kResult));
  settle();
  EXPECT_EQ(got.times, 1);
}

TEST_F(PmixModuleTest, AFenceOfOthersIsRefused) {
  start(1);
  Got got, foreign;
  EXPECT_EQ(fence(foreign, {2}, "", std::nullopt, "another.job"), PMIX_ERR_NOT_SUPPORTED);
  ASSERT_EQ(fence(got, {0, 4}, ""), PMIX_SUCCESS);
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(*got.status, PMIX_ERR_BAD_PARAM);
  EXPECT_EQ(fence(foreign, {77}, ""), PMIX_ERR_NOT_SUPPORTED) << "no process of the step";
  EXPECT_FALSE(foreign.status);
}

TEST_F(PmixModuleTest, ANodeLostWithinAFenceEndsItForAll) {
  start(0);
  Got got;
  fence(got, {PMIX_RANK_WILDCARD}, "zero");
  letter(1, part("*", 0, "one"));
  say(mpi_rpc::NodesLost{{2}});
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(*got.status, PMIX_ERR_LOST_CONNECTION);
  settle();
  EXPECT_TRUE(noted("fence: node n2 is gone"));
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].to, std::vector<uint32_t>{1}) << "not to the lost one";
  EXPECT_EQ(letters[0].letter.kind, mpi::LetterKind::kFailed);
}

TEST_F(PmixModuleTest, ANodeThatGaveItsPartMayBeLost) {
  start(0);
  Got got;
  fence(got, {PMIX_RANK_WILDCARD}, "zero");
  letter(2, part("*", 0, "two"));
  say(mpi_rpc::NodesLost{{2}});
  letter(1, part("*", 0, "one"));
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(*got.status, PMIX_SUCCESS);
}

TEST_F(PmixModuleTest, TheRootIsLostBeforeAndAfter) {
  start(1);
  Got during, later;
  fence(during, {PMIX_RANK_WILDCARD}, "one");
  settle();
  say(mpi_rpc::NodesLost{{0, 99}});
  until([&] { return during.status.has_value(); });
  EXPECT_EQ(*during.status, PMIX_ERR_LOST_CONNECTION);
  fence(later, {PMIX_RANK_WILDCARD}, "one");
  until([&] { return later.status.has_value(); });
  EXPECT_EQ(*later.status, PMIX_ERR_LOST_CONNECTION);
}

TEST_F(PmixModuleTest, AFenceThatIsOverdueNamesWhoIsMissing) {
  start(0);
  Got got;
  fence(got, {PMIX_RANK_WILDCARD}, "zero", 1);
  letter(1, part("*", 0, "one"));
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(*got.status, PMIX_ERR_TIMEOUT);
  settle();
  EXPECT_TRUE(noted("fence: node n2 did not enter in time"));
}

// ---- data of single processes
TEST_F(PmixModuleTest, AsksTheNodeOfAProcessAndTakesItsAnswerOnly) {
  start(0);
  Got got;
  ASSERT_EQ(want(got, 5), PMIX_SUCCESS);
  until([&] { return letters.size() == 1; });
  EXPECT_EQ(letters[0].to, std::vector<uint32_t>{2});
  EXPECT_EQ(letters[0].letter.rank, 5u);
  letter(1, mpi::Questions::answer_to(letters[0].letter.number, {0, "not mine to say"}));
  settle();
  EXPECT_FALSE(got.status);
  letter(2, mpi::Questions::answer_to(letters[0].letter.number, {0, "data"}));
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(got.data, "data");
}

TEST_F(PmixModuleTest, DataOfALostNodeAndOfNobodyIsRefused) {
  start(0);
  Got lost, nobody, here;
  want(lost, 5);
  settle();
  say(mpi_rpc::NodesLost{{2}});
  want(nobody, 77);
  want(here, 1);
  until([&] { return lost.status && nobody.status && here.status; });
  EXPECT_EQ(*lost.status, PMIX_ERR_LOST_CONNECTION);
  EXPECT_EQ(*nobody.status, PMIX_ERR_NOT_FOUND);
  EXPECT_EQ(*here.status, PMIX_ERR_NOT_FOUND) << "libpmix knows its own";
}

TEST_F(PmixModuleTest, AnswersOthersWithWhatLibpmixHas) {
  start(0);
  letter(2, question(7, 1));
  until([&] { return fake_.wanted.size() == 1; });
  EXPECT_EQ(fake_.wanted[0].rank, 1u);
  char data[] = "data";
  fake_.wanted[0].answer(PMIX_SUCCESS, data, 4, fake_.wanted[0].context);
  until([&] { return letters.size() == 1; });
  EXPECT_EQ(letters[0].to, std::vector<uint32_t>{2});
  EXPECT_EQ(letters[0].letter.number, 7u);
  EXPECT_EQ(letters[0].letter.data, "data");
}

// libpmix would keep the question until the process shows up, which it never does.
TEST_F(PmixModuleTest, AQuestionForAProcessThatIsNotHereIsAnsweredAtOnce) {
  start(0);
  for (uint32_t rank : {2u, 77u, PMIX_RANK_WILDCARD}) letter(2, question(rank, rank));
  until([&] { return letters.size() == 3; });
  for (const Sent& s : letters) EXPECT_EQ(s.letter.status, PMIX_ERR_NOT_FOUND);
  EXPECT_TRUE(fake_.wanted.empty());
}

TEST_F(PmixModuleTest, AnAnswerTooLongForALetterIsRefused) {
  start(0);
  letter(2, question(7, 1));
  until([&] { return fake_.wanted.size() == 1; });
  std::string data(mpi_rpc::kMaxLetter + 1, 'x');
  fake_.wanted[0].answer(PMIX_SUCCESS, data.data(), data.size(), fake_.wanted[0].context);
  until([&] { return letters.size() == 1; });
  EXPECT_EQ(letters[0].letter.status, PMIX_ERR_OUT_OF_RESOURCE);
}

// ---- abort, and what means nothing
TEST_F(PmixModuleTest, AnAbortSaysWhoAndWhyWithinBounds) {
  start(0);
  pmix_proc_t p{};
  p.rank = 1;
  fake_.table.abort(&p, nullptr, 3, "it is broken", nullptr, 0, nullptr, nullptr);
  fake_.table.abort(&p, nullptr, 3, std::string(100'000, 'x').c_str(), nullptr, 0, nullptr, nullptr);
  fake_.table.abort(&p, nullptr, 3, nullptr, nullptr, 0, nullptr, nullptr);
  until([&] { return aborts.size() == 3; });
  EXPECT_EQ(aborts[0], "PMIx_Abort by task 1, status 3: it is broken");
  EXPECT_LT(aborts[1].size(), 2000u);
  EXPECT_EQ(aborts[2], "PMIx_Abort by task 1, status 3");
}

TEST_F(PmixModuleTest, LettersThatMeanNothingChangeNothing) {
  start(0);
  Got got;
  fence(got, {PMIX_RANK_WILDCARD}, "zero");
  for (uint16_t number : {mpi_rpc::NodeLetter::kNumber, mpi_rpc::NodesLost::kNumber, mpi_rpc::TaskGone::kNumber,
                          mpi_rpc::ModuleStart::kNumber, uint16_t{0xffff}})
    slurmstepd->notify(number, "\xff\xff\xff\xff\xff");
  say(mpi_rpc::NodeLetter{1, {}, "\xff\xff\xff"});
  say(mpi_rpc::NodeLetter{1, {}, {}});  // as an empty contribution to the group ""
  mpi::Letter unknown = part("*", 0, "x");
  unknown.kind = static_cast<mpi::LetterKind>(200);
  letter(1, unknown);
  letter(1, mpi::Questions::answer_to(99, {0, "to no question"}));
  letter(1, part("*", 0, "one"));
  letter(1, part("*", 0, "one, once more"));
  letter(99, part("*", 0, "from nowhere"));
  letter(2, part("*", 0, "two"));
  until([&] { return got.status.has_value(); });
  EXPECT_EQ(got.data, "zeroonetwo");
}

}  // namespace
}  // namespace muster::mpi_pmix
