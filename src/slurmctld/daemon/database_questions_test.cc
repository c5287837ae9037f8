// Questions of users for slurmdbd: a stand-in for it on a port of the loopback, and askers over socket pairs.
#include "slurmctld/daemon/database_questions.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <list>

#include "net/test_support.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmctld {
namespace {

constexpr Uid kAlice{4242}, kBob{4243};

net::Security security() {
  net::Security s;
  s.key = std::string(32, 'k');
  return s;
}

// Takes questions and keeps them until the test answers.
class FakeDatabase {
 public:
  explicit FakeDatabase(net::Loop& loop) {
    auto listener = net::listen_tcp(loop, "127.0.0.1", 0, security(), [this](net::ChannelPtr channel) {
      net::Channel* raw = channel.get();
      channel->on_request = [this, raw](net::Frame frame) {
        rpc::Relay relay;
        ASSERT_TRUE(wire::decode(frame.payload, relay));
        asked.push_back({raw, frame.id, relay});
        if (on_question) on_question(asked.back());
      };
      channel->on_closed = [this](const Error&) { ++closed; };
      channels_.push_back(std::move(channel));
    });
    EXPECT_TRUE(listener);
    listener_ = std::move(*listener);
  }
  uint16_t port() const { return listener_->port(); }

  struct Asked {
    net::Channel* channel;
    uint64_t id;
    rpc::Relay relay;
    void part(std::string bytes) const { channel->answer_part(id, relay.message, std::move(bytes)); }
    void answer(std::string bytes) const { channel->answer(id, relay.message, std::move(bytes)); }
  };
  std::vector<Asked> asked;
  std::function<void(const Asked&)> on_question;
  size_t closed = 0;

 private:
  std::vector<net::ChannelPtr> channels_;
  std::unique_ptr<net::Listener> listener_;
};

struct DatabaseQuestionsTest : testing::Test {
  DatabaseQuestionsTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    asker = net::adopt_channel(f.loop, ends[0], net::Peer{});
    reader = ends[1];
    questions.emplace(f.loop, [this] {
      ++ways;
      return DatabaseQuestions::Way{hosts, port ? port : database.port(), security(), seconds(5)};
    });
  }
  ~DatabaseQuestionsTest() override {
    questions.reset();
    asker->close();
    ::close(reader);
  }
  void ask(Uid user, const std::string& text, uint64_t line = 0) {
    DatabaseQuestions::Question question;
    question.user = user;
    question.line = {asker.get(), line};
    question.asker = asker;
    rpc::Relay relay;
    relay.uid = user;
    relay.message = wire::number_of<rpc::QueryRecords>;
    relay.payload = text;
    question.relay = wire::encoded(relay);
    question.part = [this](std::string part) {
      parts.push_back(part);
      if (passes_on) asker->notify(wire::number_of<rpc::QueryRecords>, std::move(part));
      f.loop.stop();
    };
    question.answered = [this](Result<std::string> answer) {
      if (answer) answers.push_back(*answer);
      else errors.push_back(answer.error());
      f.loop.stop();
    };
    questions->ask(std::move(question));
  }
  void until(const std::function<bool()>& done) {
    while (!done() && !HasFailure()) {
      auto look = f.loop.after(milliseconds(5), [this] { f.loop.stop(); });
      f.run();
    }
  }

  net::test::Fixture f;
  FakeDatabase database{f.loop};
  std::vector<std::string> hosts{"127.0.0.1"};
  uint16_t port = 0;  // another than the database's
  net::ChannelPtr asker;
  int reader = -1;
  bool passes_on = false;
  int ways = 0;
  std::optional<DatabaseQuestions> questions;
  std::vector<std::string> parts, answers;
  std::vector<Error> errors;
};

TEST_F(DatabaseQuestionsTest, ItSaysWhoAsksAndPassesTheAnswerOn) {
  database.on_question = [](const FakeDatabase::Asked& asked) {
    asked.part("one");
    asked.part("two");
    asked.answer("end of " + asked.relay.payload);
  };
  ask(kAlice, "a question");
  until([&] { return !answers.empty(); });
  EXPECT_EQ(database.asked.at(0).relay.uid, kAlice);
  EXPECT_EQ(parts, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(answers, (std::vector<std::string>{"end of a question"}));
  EXPECT_EQ(questions->size(), 0u);
}

TEST_F(DatabaseQuestionsTest, TheBackupIsAskedWhereTheFirstDoesNotAnswer) {
  hosts = {"127.0.0.2", "127.0.0.1"};  // nobody listens at the first
  database.on_question = [](const FakeDatabase::Asked& asked) { asked.answer("from the backup"); };
  ask(kAlice, "q");
  until([&] { return !answers.empty() || !errors.empty(); });
  EXPECT_EQ(answers, (std::vector<std::string>{"from the backup"}));
}

TEST_F(DatabaseQuestionsTest, WhereNobodyAnswersTheErrorSaysWhere) {
  port = 1;
  ask(kAlice, "q");
  until([&] { return !errors.empty(); });
  EXPECT_EQ(errors.at(0).code, Errc::kConnectFailed);
  EXPECT_NE(errors.at(0).hint.find("127.0.0.1:1"), std::string::npos) << errors.at(0).hint;
  EXPECT_EQ(questions->size(), 0u);
}

TEST_F(DatabaseQuestionsTest, OneUserDoesNotKeepAnotherWaiting) {
  for (int i = 0; i < 50; ++i) ask(kAlice, "a" + std::to_string(i));
  ask(kBob, "b");
  const auto of = [&](Uid user) {
    return std::ranges::count_if(database.asked, [&](const auto& asked) { return asked.relay.uid == user; });
  };
  until([&] { return of(kAlice) == DatabaseQuestions::kMostOfUser && of(kBob) == 1; });
  EXPECT_EQ(questions->size(), 51u);
  const auto first = database.asked.front();
  first.answer("done");
  until([&] { return of(kAlice) == DatabaseQuestions::kMostOfUser + 1; });  // the next one's turn
  EXPECT_EQ(answers.size(), 1u);
}

TEST_F(DatabaseQuestionsTest, AQuestionWhoseAskerGoesIsGivenUp) {
  ask(kAlice, "of one asker", 1);
  ask(kAlice, "of another", 2);
  until([&] { return database.asked.size() == 2; });
  questions->forget({asker.get(), 1});
  until([&] { return database.closed == 1; });
  EXPECT_EQ(questions->size(), 1u);
  questions->forget_all(asker.get());
  until([&] { return database.closed == 2; });
  EXPECT_EQ(questions->size(), 0u);
  EXPECT_TRUE(answers.empty() && errors.empty());
}

TEST_F(DatabaseQuestionsTest, ALostConnectionIsAnErrorOnce) {
  database.on_question = [](const FakeDatabase::Asked& asked) { asked.channel->close(); };
  ask(kAlice, "q");
  until([&] { return !errors.empty(); });
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(questions->size(), 0u);
}

// The asker reads nothing: only about as much as kHighMark and what the sockets hold is taken from slurmdbd.
TEST_F(DatabaseQuestionsTest, AnAnswerComesAtThePaceOfItsReader) {
  passes_on = true;
  constexpr size_t kPart = 256u << 10, kParts = 400;
  size_t sent = 0;
  std::function<void()> more;
  database.on_question = [&](const FakeDatabase::Asked& asked) {
    more = [&, asked] {
      if (sent == kParts) return asked.answer("all");
      asked.part(std::string(kPart, 'x'));
      ++sent;
      asked.channel->when_writable(more);
    };
    more();
  };
  ask(kAlice, "much");
  until([&] { return asker->queued_bytes() > net::kHighMark; });
  for (int i = 0; i < 40; ++i) {  // as long as anything still comes
    auto look = f.loop.after(milliseconds(5), [this] { f.loop.stop(); });
    f.run();
  }
  EXPECT_LT(asker->queued_bytes(), 4 * net::kHighMark);
  EXPECT_LT(sent, kParts);
  std::thread reads([this] {
    std::vector<char> buffer(1 << 20);
    while (::recv(reader, buffer.data(), buffer.size(), MSG_DONTWAIT) != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  });
  until([&] { return !answers.empty(); });
  EXPECT_EQ(parts.size(), kParts);
  ::shutdown(reader, SHUT_RDWR);
  reads.join();
}

}  // namespace
}  // namespace muster::slurmctld
