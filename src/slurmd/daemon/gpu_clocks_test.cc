#include "slurmd/daemon/gpu_clocks.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "os/node/gpu_clocks.h"

namespace muster::slurmd {
namespace {

using Texts = std::vector<std::string>;

// A spool directory, and the stand-in for NVIDIA's library, which keeps what was set as long as it is loaded, as a driver does.
class Clocks : public ::testing::Test {
 protected:
  Clocks() {
    setenv("MUSTER_FAKE_NVML", "h100", 1);
    EXPECT_TRUE(dlopen(MUSTER_FAKE_NVML_PATH, RTLD_NOW));
    EXPECT_TRUE(::mkdtemp(spool_));
    os::LogOptions quiet;
    quiet.async = false;
    log_ = *os::Log::open(quiet);
  }
  ~Clocks() override { std::filesystem::remove_all(spool_); }

  GpuClocks slurmd(const char* library = MUSTER_FAKE_NVML_PATH) { return GpuClocks(*log_, spool_, library); }
  static GpuClockOrder order(const std::string& gpu, const std::string& memory, Texts files) {
    return {GpuFrequencyWish{gpu, memory, false}, std::move(files), false, ""};
  }
  static std::string now(const std::string& file) {
    auto done = os::set_gpu_clocks({"", "", true}, {file}, MUSTER_FAKE_NVML_PATH);
    return done && !done->told.empty() ? done->told[0].substr(file.size() + 2) : "";
  }

  char spool_[32] = "/tmp/muster-clocks-XXXXXX";
  std::unique_ptr<os::Log> log_;
};

TEST_F(Clocks, WhoStillHoldsACardGetsItsOwnClocksBack) {
  GpuClocks clocks = slurmd();
  EXPECT_EQ(clocks.begin("1.batch", order("600", "high", {"/dev/nvidia1", "/dev/nvidia2"})), Texts{});
  EXPECT_EQ(clocks.begin("1.0", order("low", "low", {"/dev/nvidia2"})), Texts{});
  EXPECT_EQ(now("/dev/nvidia2"), "graphics 345 MHz, memory 1593 MHz");
  GpuClocks next = slurmd();  // that one was killed
  next.find_again();
  next.end("1.0");
  EXPECT_EQ(now("/dev/nvidia2"), now("/dev/nvidia1"));
  EXPECT_NE(now("/dev/nvidia2"), "graphics 1980 MHz, memory 2619 MHz");
  next.end("1.batch");
  EXPECT_EQ(now("/dev/nvidia2"), "graphics 1980 MHz, memory 2619 MHz");
  EXPECT_EQ(next.steps(), Texts{});
  EXPECT_TRUE(std::filesystem::is_empty(spool_));
}

TEST_F(Clocks, TheSitesWishIsNoMatterOfTheUser) {
  GpuClocks clocks = slurmd("libm.so.6");
  GpuClockOrder by_site = order("low", "", {"/dev/nvidia1"});
  EXPECT_EQ(clocks.begin("1.0", by_site).size(), 1u);
  by_site.by_site = true;
  EXPECT_EQ(clocks.begin("1.1", by_site), Texts{});
  EXPECT_EQ(slurmd().begin("1.2", {GpuFrequencyWish{"low", "", false}, {"/dev/nvidia99"}, true, ""}), Texts{});
}

}  // namespace
}  // namespace muster::slurmd
