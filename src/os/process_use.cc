#include "os/process_use.h"

#include <dirent.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/text.h"
#include "os/files.h"

namespace muster::os {
namespace {

constexpr size_t kMostText = 4096;
constexpr size_t kMostChildren = 1 << 16;  // bytes of a list of children

std::string file_of(pid_t pid, std::string_view name) { return "/proc/" + std::to_string(pid) + "/" + std::string(name); }

Duration ticks(uint64_t n) {
  static const auto kPerSecond = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  return Duration(n * 1'000'000 / kPerSecond);
}
uint64_t pages(uint64_t n) {
  static const auto kPage = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return n * kPage;
}
uint64_t number(std::string_view text) { return parse_number<uint64_t>(trim(text)).value_or(0); }

// The number behind `name` on a line of its own: "rchar: 123", "Pss:      12 kB".
uint64_t labelled(std::string_view text, std::string_view name) {
  for (std::string_view line : split(text, '\n'))
    if (line.starts_with(name)) return number(split(trim(line.substr(name.size())), ' ')[0]);
  return 0;
}

Result<ProcessUse> from_stat(pid_t pid, std::string_view text) {
  const size_t close = text.rfind(')');                                                       // the name before it may hold anything
  const auto fields = split(text.substr(close == text.npos ? text.size() : close + 1), ' ');  // fields[0] is field 3, the state
  const auto field = [&](size_t n) { return number(fields[n - 3]); };                         // as proc(5) numbers them
  if (fields.size() < 22) return fail(Errc::kIo, file_of(pid, "stat") + ": unknown format");
  ProcessUse u;
  u.parent = static_cast<pid_t>(field(4));
  u.major_faults = field(12) + field(13);
  u.user_time = ticks(field(14) + field(16));
  u.system_time = ticks(field(15) + field(17));
  u.threads = static_cast<uint32_t>(field(20));
  u.virtual_bytes = field(23);
  u.resident_bytes = pages(field(24));
  if (fields.size() >= 37) u.core = static_cast<uint32_t>(field(39));
  return u;
}

uint64_t unshared(pid_t pid, uint64_t otherwise) {
  auto text = read_file(file_of(pid, "statm"), kMostText);
  if (!text) return otherwise;
  const auto f = split(*text, ' ');
  if (f.size() < 3) return otherwise;
  const uint64_t resident = number(f[1]), shared = number(f[2]);
  return pages(resident - std::min(resident, shared));
}

uint64_t portioned(pid_t pid, uint64_t otherwise) {
  auto text = read_file(file_of(pid, "smaps_rollup"), kMostText);
  return text && !text->empty() ? labelled(*text, "Pss:") * 1024 : otherwise;
}

void add_children(pid_t pid, std::string_view thread, std::vector<pid_t>& out) {
  auto text = read_file(file_of(pid, "task/" + std::string(thread) + "/children"), kMostChildren);
  if (!text) return;
  for (std::string_view child : split(*text, ' '))
    if (auto n = parse_number<pid_t>(trim(child), 1)) out.push_back(*n);
}

}  // namespace

Result<ProcessUse> read_process_use(pid_t pid, ResidentKind kind) {
  MUSTER_TRY(text, read_file(file_of(pid, "stat"), kMostText));
  MUSTER_TRY(use, from_stat(pid, text));
  if (kind == ResidentKind::kUnshared) use.resident_bytes = unshared(pid, use.resident_bytes);
  if (kind == ResidentKind::kPortioned) use.resident_bytes = portioned(pid, use.resident_bytes);
  if (auto io = read_file(file_of(pid, "io"), kMostText)) {
    use.read_bytes = labelled(*io, "rchar: ");
    use.written_bytes = labelled(*io, "wchar: ");
  }
  return use;
}

std::vector<pid_t> children_of(pid_t pid, uint32_t threads) {
  std::vector<pid_t> out;
  if (threads <= 1) {
    add_children(pid, std::to_string(pid), out);
    return out;
  }
  std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(file_of(pid, "task").c_str()), closedir);
  if (!dir) return out;
  while (const dirent* e = readdir(dir.get()))
    if (e->d_name[0] != '.') add_children(pid, e->d_name, out);
  return out;
}

}  // namespace muster::os
