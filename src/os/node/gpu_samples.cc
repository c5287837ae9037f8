#include "os/node/gpu_samples.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <span>

#include "base/text.h"
#include "os/error.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr std::string_view kFirst = "gpu-samples 1";
constexpr size_t kMostBytes = 1 << 20, kMostFaults = 64, kMostFaultBytes = 512;
constexpr uint64_t kMostMemory = uint64_t{1} << 50, kMostMilliwatts = 100'000'000, kMostMillijoules = uint64_t{1} << 60;

Error not_ours(std::string_view line) {
  return Error(Errc::kInvalidArgument, "gpu-samples: \"" + std::string(line.substr(0, 80)) + "\" is no line of it");
}

template <class T>
bool read_number(std::string_view text, T& to, T most) {
  const auto number = parse_number<T>(text, T{}, most);
  if (number) to = *number;
  return number.has_value();
}

bool read_process(const std::vector<std::string_view>& words, GpuSamples& out) {
  GpuSamples::Process p;
  if (words.size() != 4 || out.processes.size() == GpuSamples::kMostProcesses) return false;
  if (!read_number(words[1], p.pid, INT32_MAX) || p.pid == 0 || !read_number(words[2], p.util, GpuSamples::kMostUtil)) return false;
  if (!read_number(words[3], p.memory, kMostMemory)) return false;
  out.processes.push_back(p);
  return true;
}

bool read_card(const std::vector<std::string_view>& words, GpuSamples& out) {
  GpuSamples::Card c;
  if (words.size() != 4 || out.cards.size() == GpuSamples::kMostCards) return false;
  if (!read_number(words[1], c.minor, UINT32_MAX) || !read_number(words[2], c.milliwatts, kMostMilliwatts)) return false;
  if (!read_number(words[3], c.millijoules, kMostMillijoules)) return false;
  out.cards.push_back(c);
  return true;
}

bool read_times(const std::vector<std::string_view>& words, GpuSamples& out) {
  uint64_t taken = 0, every = 0;
  constexpr uint64_t kMost = INT64_MAX / 4;
  if (words.size() != 3 || !read_number(words[1], taken, kMost) || !read_number(words[2], every, kMost)) return false;
  out.taken = Duration(static_cast<int64_t>(taken));
  out.every = Duration(static_cast<int64_t>(every));
  return true;
}

}  // namespace

std::string GpuSamples::text() const {
  std::string out = std::string(kFirst) + "\ntaken " + std::to_string(taken.count()) + " " + std::to_string(every.count()) + "\n";
  for (const Card& c : cards)
    out += "card " + std::to_string(c.minor) + " " + std::to_string(c.milliwatts) + " " + std::to_string(c.millijoules) + "\n";
  for (const Process& p : processes)
    out += "process " + std::to_string(p.pid) + " " + std::to_string(p.util) + " " + std::to_string(p.memory) + "\n";
  for (size_t i = 0; i < faults.size() && i < kMostFaults; ++i) {
    std::string line = faults[i].substr(0, kMostFaultBytes);
    for (char& c : line)
      if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
    out += "fault " + line + "\n";
  }
  return out;
}

Result<GpuSamples> GpuSamples::parse(std::string_view text) {
  GpuSamples out;
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.empty() || lines[0] != kFirst) return std::unexpected(not_ours(lines.empty() ? "" : lines[0]));
  bool timed = false;
  for (const std::string_view line : std::span(lines).subspan(1)) {
    bool good = true;
    if (line.starts_with("fault ")) {
      if (out.faults.size() < kMostFaults) out.faults.emplace_back(line.substr(6));
    } else {
      const std::vector<std::string_view> words = split(line, ' ');
      if (words.empty()) good = false;
      else if (words[0] == "process") good = read_process(words, out);
      else if (words[0] == "card") good = read_card(words, out);
      else if (words[0] == "taken") good = timed = read_times(words, out);
      else good = false;
    }
    if (!good) return std::unexpected(not_ours(line));
  }
  if (!timed) return std::unexpected(not_ours(""));
  return out;
}

Duration boot_clock() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return seconds(t.tv_sec) + Duration(t.tv_nsec / 1000);
}

// Without a sync: after a crash of the machine the file is of no use.
Result<> write_gpu_samples(const std::string& path, const GpuSamples& samples) {
  const std::string fresh = path + ".new";
  Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(fresh);
  MUSTER_TRY_VOID(write_all(fd.get(), samples.text(), fresh));
  if (::rename(fresh.c_str(), path.c_str()) < 0) return fail_errno(path);
  return {};
}

Result<GpuSamples> read_gpu_samples(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return fail_errno(path);
  struct stat st;
  if (::fstat(fd.get(), &st) < 0) return fail_errno(path);
  if (!S_ISREG(st.st_mode) || st.st_uid != ::geteuid() || st.st_size > static_cast<off_t>(kMostBytes))
    return fail(Errc::kAccessDenied, path + ": it is not what slurmd wrote");
  std::string text(static_cast<size_t>(st.st_size), '\0');
  const ssize_t got = ::read(fd.get(), text.data(), text.size());
  if (got < 0) return fail_errno(path);
  text.resize(static_cast<size_t>(got));
  MUSTER_TRY(samples, GpuSamples::parse(text));
  if (!samples.fresh(boot_clock())) return fail(Errc::kTimedOut, path + ": its samples are old");
  return samples;
}

}  // namespace muster::os
