#include "os/node/cpu_clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr size_t kFirstCore = 4096;  // bytes of /proc/cpuinfo; the kernel makes no more than is read

uint64_t from_driver(uint32_t core, const std::string& root) {
  auto text = read_line(root + "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_cur_freq");
  return text ? parse_number<uint64_t>(trim(*text)).value_or(0) : 0;
}

// "cpu MHz		: 2596.992"
uint64_t from_cpuinfo(const std::string& root) {
  const Fd fd(::open((root + "/proc/cpuinfo").c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(kFirstCore, '\0');
  const ssize_t got = fd ? ::read(fd.get(), text.data(), text.size()) : 0;
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  for (std::string_view line : split(text, '\n')) {
    if (!line.starts_with("cpu MHz")) continue;
    const std::string_view number = trim(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
    double mhz = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), mhz).ec != std::errc()) return 0;
    return mhz > 0 && mhz < 1e6 ? static_cast<uint64_t>(mhz * 1000) : 0;
  }
  return 0;
}

}  // namespace

uint64_t cpu_clock(uint32_t core, const std::string& root) {
  const uint64_t khz = from_driver(core, root);
  return khz ? khz : from_cpuinfo(root);
}

uint64_t mean_cpu_clock(uint32_t cores, const std::string& root) {
  if (from_driver(0, root) == 0) return from_cpuinfo(root);
  uint64_t sum = 0, known = 0;
  for (uint32_t core = 0; core < std::min(cores, kMostCoresAsked); ++core)
    if (const uint64_t khz = from_driver(core, root)) sum += khz, ++known;
  return known ? sum / known : 0;
}

}  // namespace muster::os
