#include "os/node/gpu_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>

#include "base/text.h"
#include "os/fd.h"
#include "os/files.h"
#include "os/node/gpu_sysfs.h"

namespace muster::os {
namespace {

constexpr size_t kMostRecords = 1 << 20, kLongestRecord = 8192;
constexpr std::string_view kXid = "NVRM: Xid (";

// What amdgpu, i915 and xe say of a card: the first row whose text is part of the message counts. "NONFATAL error" is none of them.
struct MessageRow {
  std::string_view driver, text;
  GpuTrouble trouble;
};
constexpr MessageRow kMessages[] = {
    {"amdgpu", "device lost from bus", GpuTrouble::kOffTheBus},
    {"amdgpu", "uncorrectable hardware error", GpuTrouble::kUncorrectable},
    {"amdgpu", "RAS uncorrectable", GpuTrouble::kUncorrectable},
    {"amdgpu", "GPU reset end with ret = -", GpuTrouble::kResetFailed},
    {"amdgpu", "GPU Recovery Failed", GpuTrouble::kResetFailed},
    {"amdgpu", "GPU reset begin", GpuTrouble::kResetBegun},
    {"i915", "wedged", GpuTrouble::kWedged},
    {"i915", "GPU HANG", GpuTrouble::kHang},
    {"xe", "wedged", GpuTrouble::kWedged},
    {"xe", "reported FATAL error", GpuTrouble::kFatal},
    {"xe", "GT reset failed", GpuTrouble::kResetFailed},
};

struct Said {
  std::string address;  // "0000:3b:00" as NVIDIA's driver says it, "0000:3b:00.0" as the others do
  uint32_t number = 0;  // GpuLogEntry::number
  bool xid = false;
};

bool is_address(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos && text.find("..") == text.npos;
}

// "NVRM: Xid (PCI:0000:3b:00): 79, pid=…"
std::optional<Said> xid_in(std::string_view message) {
  message.remove_prefix(kXid.size());
  if (message.starts_with("PCI:")) message.remove_prefix(4);
  const size_t end = message.find("): ");
  if (end == message.npos) return std::nullopt;
  const std::string_view address = message.substr(0, end), rest = message.substr(end + 3);
  const auto number = parse_number<uint32_t>(trim(rest.substr(0, rest.find(','))));
  if (!number || !is_address(address)) return std::nullopt;
  return Said{to_lower(address), *number, true};
}

// "amdgpu 0000:c3:00.0: amdgpu: GPU reset begin!"
std::optional<Said> trouble_in(std::string_view message) {
  const size_t blank = message.find(' '), end = message.find(": ");
  if (blank == message.npos || end == message.npos || end < blank) return std::nullopt;
  const std::string_view driver = message.substr(0, blank), address = message.substr(blank + 1, end - blank - 1),
                         text = message.substr(end);
  if (!is_address(address)) return std::nullopt;
  for (const MessageRow& row : kMessages)
    if (driver == row.driver && text.find(row.text) != text.npos) return Said{to_lower(address), static_cast<uint32_t>(row.trouble), false};
  return std::nullopt;
}

std::optional<Said> said_by_driver(std::string_view message) { return message.starts_with(kXid) ? xid_in(message) : trouble_in(message); }

// "Device Minor: \t 3" among what NVIDIA's driver says of the card at a PCI address.
std::optional<GpuId> nvidia_card_at(const std::string& root, const std::string& address) {
  const std::string text = read_file(root + "/proc/driver/nvidia/gpus/" + address + ".0/information", 65536).value_or("");
  for (std::string_view line : split(text, '\n'))
    if (const size_t colon = line.find(':'); colon != line.npos && line.substr(0, colon) == "Device Minor")
      if (const auto minor = parse_number<uint32_t>(trim(line.substr(colon + 1)), 0, GpuId::kMostMinor)) return GpuId{*minor};
  return std::nullopt;
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
    auto [known, is_new] = cards_.try_emplace(said->address);
    if (is_new) known->second = said->xid ? nvidia_card_at(root_, said->address) : render_card_at(root_, said->address);
    if (known->second) out_.logged.push_back({*number, *known->second, said->number});
    if (out_.logged.size() > GpuReadings::kMostLogged) out_.logged.erase(out_.logged.begin());
  }

 private:
  const std::string& root_;
  GpuReadings& out_;
  std::map<std::string, std::optional<GpuId>> cards_;  // by address
};

}  // namespace

// Each read is one record, with further lines that begin with a space; EPIPE: some were overwritten meanwhile.
void read_gpu_log(const std::string& root, GpuReadings& out) {
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
