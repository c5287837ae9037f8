#include "fields/values.h"

#include <gtest/gtest.h>
#include <time.h>

#include <cstdlib>

namespace muster::fields {
namespace {

std::string printed(Time when, const Environment& env = {}) {
  std::string out = "at ";
  put_time(out, when, env, "none");
  return out.substr(3);
}

TEST(PutTime, SaysEachSecondOfAMinuteInTheZoneThatHolds) {
  const Time t = from_unix(1795250940);
  for (const auto& [zone, minute] :
       {std::pair("UTC0", "2026-11-21T08:49:"), std::pair("IST-5:30", "2026-11-21T14:19:"), std::pair("UTC0", "2026-11-21T08:49:"),
        std::pair("CET-1CEST,M3.5.0,M10.5.0/3", "2026-11-21T09:49:")}) {
    setenv("TZ", zone, 1);
    tzset();
    const Environment env;
    for (int second : {0, 7, 59, 60, 0}) EXPECT_EQ(printed(t + seconds(second), env), format_time(t + seconds(second))) << zone;
    EXPECT_EQ(printed(t + seconds(59)), std::string(minute) + "59") << zone;
    EXPECT_EQ(printed(kTimeUnset), "none");
  }
  unsetenv("TZ");
  tzset();
}

TEST(PutTime, SaysTimesThatNoMinuteBegins) {
  Environment env;
  for (int64_t second : {-1, 1, 59, 61, 119, -61}) {
    EXPECT_EQ(printed(from_unix(second), env), format_time(from_unix(second)));
  }
  setenv("TZ", "LMT-0:00:20", 1);  // a clock that is twenty seconds ahead
  tzset();
  for (int64_t second : {1795250940, 1795250999}) EXPECT_EQ(printed(from_unix(second)), format_time(from_unix(second)));
  unsetenv("TZ");
  tzset();
}

}  // namespace
}  // namespace muster::fields
