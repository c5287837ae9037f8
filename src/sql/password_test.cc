// A MariaDB session whose password is asked for: each session anew, and again when the server refuses it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>

#include "sql/connection.h"
#include "sql/testing.h"

namespace muster::sql {
namespace {

struct PasswordTest : testing::Test {
  void SetUp() override {
    if (!PrivateMariaDb::installed()) GTEST_SKIP() << "mariadb-server-core is not installed (tools/install-packages)";
    if (::geteuid() != 0) GTEST_SKIP() << "only as root the server asks for passwords";
    ASSERT_TRUE(server.start());
    auto opened = open_mariadb(server.options("mysql"));
    ASSERT_TRUE(opened);
    root = std::move(*opened);
    ASSERT_TRUE(root->run("CREATE USER slurm@localhost IDENTIFIED BY 'one'"));
    ASSERT_TRUE(root->run("GRANT ALL ON records.* TO slurm@localhost"));
    options = server.options("records");
    options.user = "slurm";
    options.ask_password = [this](bool refused) -> Result<std::string> {
      asked += refused ? 'r' : 'a';
      if (answers.empty()) return fail(Errc::kAccountingUnavailable, "the program failed");
      const std::string next = answers.front();
      if (answers.size() > 1) answers.pop_front();
      return next;
    };
  }

  PrivateMariaDb server;
  std::unique_ptr<Connection> root;
  MariaDbOptions options;
  std::deque<std::string> answers;  // the last one stays
  std::string asked;
};

TEST_F(PasswordTest, IsAskedForEachSessionAndOnceMoreWhenItIsRefused) {
  answers = {"one"};
  ASSERT_TRUE(open_mariadb(options));
  EXPECT_EQ(asked, "a");
  asked.clear();
  answers = {"old", "one"};
  auto connection = open_mariadb(options);
  ASSERT_TRUE(connection) << connection.error().message();
  EXPECT_EQ(asked, "ar");
  // It is changed, and the server loses the session.
  ASSERT_TRUE(root->run("ALTER USER slurm@localhost IDENTIFIED BY 'two'"));
  int64_t session = 0;
  ASSERT_TRUE(root->query("SELECT id FROM information_schema.processlist WHERE user = 'slurm'", {}, [&](const Row& row) -> Result<> {
    session = row.number(0);
    return {};
  }));
  ASSERT_TRUE(root->run("KILL " + std::to_string(session)));
  asked.clear();
  answers = {"one", "two"};
  const auto ran = (*connection)->query("SELECT 1", {}, [](const Row&) -> Result<> { return {}; });
  EXPECT_TRUE(ran) << ran.error().message();
  EXPECT_EQ(asked, "ar");
}

TEST_F(PasswordTest, AWrongOneAndNoneAreErrors) {
  answers = {"wrong"};
  const auto wrong = open_mariadb(options);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(asked, "ar");
  EXPECT_TRUE(wrong.error().message().contains("Access denied for user 'slurm'")) << wrong.error().message();
  EXPECT_FALSE(wrong.error().message().contains("wrong"));
  answers.clear();
  EXPECT_EQ(open_mariadb(options).error().message(), "the program failed");
}

}  // namespace
}  // namespace muster::sql
