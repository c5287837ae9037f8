#include "os/node/gpu_xids.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include "base/text.h"
#include "os/fd.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr size_t kMostRecords = 1 << 20, kLongestRecord = 8192;
constexpr std::string_view kDriver = "NVRM: Xid (";

// "Device Minor: \t 3" among what the driver says of the card at a PCI address.
std::optional<uint32_t> minor_at(const std::string& root, const std::string& address) {
  const std::string text = read_file(root + "/proc/driver/nvidia/gpus/" + address + ".0/information", 65536).value_or("");
  for (std::string_view line : split(text, '\n'))
    if (const size_t colon = line.find(':'); colon != line.npos && line.substr(0, colon) == "Device Minor")
      return parse_number<uint32_t>(trim(line.substr(colon + 1)), 0, 65535);
  return std::nullopt;
}

struct Said {
  std::string address;  // "0000:3b:00"
  uint32_t number = 0;
};

// "NVRM: Xid (PCI:0000:3b:00): 79, pid=…"
std::optional<Said> said_by_driver(std::string_view message) {
  if (!message.starts_with(kDriver)) return std::nullopt;
  message.remove_prefix(kDriver.size());
  if (message.starts_with("PCI:")) message.remove_prefix(4);
  const size_t end = message.find("): ");
  if (end == message.npos) return std::nullopt;
  const std::string_view address = message.substr(0, end), rest = message.substr(end + 3);
  const auto number = parse_number<uint32_t>(trim(rest.substr(0, rest.find(','))));
  if (!number || address.empty() || address.find_first_not_of("0123456789abcdefABCDEF:") != address.npos) return std::nullopt;
  return Said{to_lower(address), *number};
}

class Log {
 public:
  Log(const std::string& root, GpuReadings& out) : root_(root), out_(out) {}

  // "PRIORITY,NUMBER,MICROSECONDS,FLAGS;MESSAGE". Below 8 the kernel itself has written it.
  void take(std::string_view line) {
    const size_t semicolon = line.find(';');
    const auto head = split(line.substr(0, semicolon), ',', true);
    if (semicolon == line.npos || head.size() < 2) return;
    const auto priority = parse_number<uint32_t>(head[0]);
    const auto number = parse_number<uint64_t>(head[1]);
    if (!priority || !number) return;
    out_.log_end = *number + 1;
    const auto said = *priority < 8 ? said_by_driver(line.substr(semicolon + 1)) : std::nullopt;
    if (!said) return;
    auto [known, is_new] = minors_.try_emplace(said->address);
    if (is_new) known->second = minor_at(root_, said->address);
    if (known->second) out_.xids.push_back({*number, *known->second, said->number});
    if (out_.xids.size() > GpuReadings::kMostXids) out_.xids.erase(out_.xids.begin());
  }

 private:
  const std::string& root_;
  GpuReadings& out_;
  std::map<std::string, std::optional<uint32_t>> minors_;  // by address
};

}  // namespace

// Each read is one record, with further lines that begin with a space; EPIPE: some were overwritten meanwhile.
void read_gpu_xids(const std::string& root, GpuReadings& out) {
  const Fd kernel(::open((root + "/dev/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!kernel) return;
  Log log(root, out);
  std::string record(kLongestRecord, 0);
  for (size_t i = 0; i < kMostRecords; ++i) {
    const ssize_t size = ::read(kernel.get(), record.data(), record.size());
    if (size < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (size <= 0) return;
    for (std::string_view line : split(std::string_view(record).substr(0, static_cast<size_t>(size)), '\n'))
      if (!line.starts_with(' ')) log.take(line);
  }
}

}  // namespace muster::os
