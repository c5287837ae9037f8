#include <gtest/gtest.h>

#include <set>

#include "base/result.h"

namespace muster {
namespace {

// Numbers and texts as `scontrol errnumstr N` of Debian's 22.05 prints them.
TEST(Errc, NumbersAndTextsAreSlurms) {
  const struct {
    Errc code;
    int number;
    const char* text;
  } cases[] = {
      {Errc::kOk, 0, "No error"},
      {Errc::kProtocolVersion, 1005, "Incompatible versions of client and server code"},
      {Errc::kConnectFailed, 1800, "Unable to contact slurm controller (connect failure)"},
      {Errc::kInvalidPartition, 2000, "Invalid partition name specified"},
      {Errc::kAccessDenied, 2002, "Access/permission denied"},
      {Errc::kRequestedNodeConfigUnavailable, 2014, "Requested node configuration is not available"},
      {Errc::kInvalidJobId, 2017, "Invalid job id specified"},
      {Errc::kAlreadyDone, 2021, "Job/step already completing or completed"},
      {Errc::kInvalidAccount, 2045, "Invalid account or account/partition combination specified"},
      {Errc::kInvalidTimeLimit, 2051, "Requested time limit is invalid (missing or exceeds some limit)"},
      {Errc::kInvalidQos, 2066, "Invalid qos specification"},
      {Errc::kInvalidGres, 2072, "Invalid generic resource (gres) specification"},
      {Errc::kInvalidArray, 2081, "Invalid job array specification"},
      {Errc::kSpankError, 3000, "Generic error"},
      {Errc::kInvalidCredential, 4004, "Invalid job credential"},
      {Errc::kAccountingUnavailable, 7000, "Unable to connect to database"},
      {Errc::kContainersNotConfigured, 10000, "Container support is not configured"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(errc_number(c.code), c.number) << c.text;
    EXPECT_EQ(errc_text(c.code), c.text);
    EXPECT_EQ(errc_text_of_number(c.number), c.text);
  }
}

TEST(Errc, EveryRowIsFoundByItsNumber) {
  const Errc all[] = {
#define MUSTER_ERRC(name, number, text) Errc::name,
#include "base/errc.def"
#undef MUSTER_ERRC
  };
  for (Errc code : all) {
    EXPECT_FALSE(errc_text(code).empty());
    EXPECT_EQ(errc_text_of_number(errc_number(code)), errc_text(code));
  }
  EXPECT_EQ(Errc{}, Errc::kOk);
}

TEST(Errc, UnknownNumbersAndCodes) {
  for (int n : {-2, 1, 2097, 4002, 18999, 1 << 30}) EXPECT_EQ(errc_text_of_number(n), "") << n;
  EXPECT_EQ(errc_number(static_cast<Errc>(1 << 20)), -1);
  EXPECT_EQ(errc_number(static_cast<Errc>(-5)), -1);
}

Result<int> half(int n) {
  if (n % 2) return fail(Errc::kInvalidArgument, "odd", "take an even one");
  return n / 2;
}
Result<int> quarter(int n) {
  MUSTER_TRY(h, half(n));
  MUSTER_TRY(q, half(h));
  return q;
}

TEST(Result, TryPassesTheErrorOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error(), Error(Errc::kInvalidArgument, "odd", "take an even one"));
  EXPECT_EQ(Error(Errc::kInvalidQos).message(), "Invalid qos specification");
  EXPECT_EQ(Error(Errc::kInvalidQos, "other").message(), "other");
}

}  // namespace
}  // namespace muster
