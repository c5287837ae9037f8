#include "site/guard.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/files.h"

namespace muster::site {
namespace {

struct Guard : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(os::write_file_atomic(file, "secret", 0600));
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  }
  Uid me{::geteuid()};
  os::TempDir dir = std::move(*os::TempDir::create("guard"));
  std::string file = dir.path() + "/f";

  std::string refusal(mode_t mode, auto checked) {
    ::chmod(file.c_str(), mode);
    auto ok = checked();
    return ok ? "" : std::string(ok.error().message()) + " | " + ok.error().hint;
  }
};

TEST_F(Guard, ASecretIsNobodyElses) {
  auto secret = [&] { return check_secret(file, "the cluster key", me); };
  EXPECT_EQ(refusal(0600, secret), "");
  EXPECT_EQ(refusal(0400, secret), "");
  EXPECT_EQ(refusal(0640, secret), file + ": mode 0640 lets others read it; the cluster key wants mode 0600 or 0400 | chmod 600 " + file);
  EXPECT_EQ(refusal(0602, secret), file + ": mode 0602 lets others change it; the cluster key wants mode 0600 or 0400 | chmod 600 " + file);
  EXPECT_NE(refusal(0604, [&] { return check_secret(file, "x", std::nullopt); }), "");
}

TEST_F(Guard, SomeSecretsAreTheirGroupsToo) {
  auto secret = [&] { return check_secret_of_group(file, "slurmdbd.conf", me); };
  EXPECT_EQ(refusal(0640, secret), "");
  EXPECT_NE(refusal(0660, secret), "");
  EXPECT_NE(refusal(0644, secret), "");
}

TEST_F(Guard, AFolderIsWrittenByItsOwnerAlone) {
  auto folder = [&] { return check_folder(file, "StateSaveLocation", me); };
  EXPECT_EQ(refusal(0755, folder), "");
  EXPECT_EQ(refusal(0775, folder),
            file + ": mode 0775 lets others change it; StateSaveLocation wants mode 0755 or less | chmod 755 " + file);
  EXPECT_NE(refusal(01777, folder), "");
}

TEST_F(Guard, AProgramIsChangedByItsOwnerAlone) {
  auto program = [&] { return check_program(file, "StoragePassScript", me); };
  EXPECT_EQ(refusal(0700, program), "");
  EXPECT_EQ(refusal(0755, program), "");
  EXPECT_EQ(refusal(0757, program),
            file + ": mode 0757 lets others change it; StoragePassScript wants mode 0755 or less | chmod 755 " + file);
}

TEST_F(Guard, WhatIsAnothersIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(check_secret(file, "the cluster key", Uid{4711}));
  EXPECT_TRUE(check_secret(file, "the cluster key", Uid{65534}));
  EXPECT_TRUE(check_secret(file, "the cluster key", std::nullopt));
}

TEST_F(Guard, WhatIsNotThereIsNoFault) { EXPECT_TRUE(check_secret(file + "x", "x", me)); }

}  // namespace
}  // namespace muster::site
