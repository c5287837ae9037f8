#include "os/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"
#include "os/process.h"

namespace muster::os {
namespace {

std::string proc_path(pid_t pid, const char* file) { return "/proc/" + std::to_string(pid) + "/" + file; }

constexpr uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of the flags field, proc(5)

Duration ticks(uint64_t n) { return Duration(n * 1'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK))); }

template <class T>
T number(std::string_view s) {
  T v{};
  std::from_chars(s.data(), s.data() + s.size(), v);
  return v;
}

Result<ProcessInfo> parse_stat(pid_t pid, const std::string& text) {
  const auto open = text.find('('), close = text.rfind(')');  // the name may hold anything, also ") "
  if (open == std::string::npos || close == std::string::npos || close < open)
    return fail(Errc::kIo, proc_path(pid, "stat") + ": unknown format");
  const auto fields = split(std::string_view(text).substr(close + 1), ' ');  // fields[0] is field 3, the state
  if (fields.size() < 37 || fields[0].empty()) return fail(Errc::kIo, proc_path(pid, "stat") + ": too few fields");
  ProcessInfo process;
  process.pid = pid;
  process.name = text.substr(open + 1, close - open - 1);
  process.state = fields[0][0];
  process.parent = number<pid_t>(fields[1]);
  process.group = number<pid_t>(fields[2]);
  process.session = number<pid_t>(fields[3]);
  process.kernel_thread = (number<uint64_t>(fields[6]) & kKernelThread) != 0;
  process.major_faults = number<uint64_t>(fields[9]);
  process.user_time = ticks(number<uint64_t>(fields[11]));
  process.system_time = ticks(number<uint64_t>(fields[12]));
  process.start_ticks = number<uint64_t>(fields[19]);
  process.virtual_bytes = number<uint64_t>(fields[20]);
  process.rss_bytes = number<uint64_t>(fields[21]) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  process.last_cpu = number<int>(fields[36]);
  return process;
}

// all is sorted by pid. Marks everything below root, however deep.
std::vector<bool> below(const std::vector<ProcessInfo>& all, pid_t root) {
  std::vector<bool> in(all.size(), false);
  if (root <= 0) return in;
  std::vector<std::pair<pid_t, size_t>> by_parent;
  for (size_t i = 0; i < all.size(); ++i) by_parent.emplace_back(all[i].parent, i);
  std::sort(by_parent.begin(), by_parent.end());
  std::vector<pid_t> todo{root};
  while (!todo.empty()) {
    const pid_t parent = todo.back();
    todo.pop_back();
    auto at = std::lower_bound(by_parent.begin(), by_parent.end(), std::pair<pid_t, size_t>(parent, 0));
    for (; at != by_parent.end() && at->first == parent; ++at) {
      if (in[at->second]) continue;
      in[at->second] = true;
      todo.push_back(all[at->second].pid);
    }
  }
  return in;
}

}  // namespace

Result<ProcessInfo> read_process(pid_t pid) {
  MUSTER_TRY(text, read_file(proc_path(pid, "stat"), 4096));
  return parse_stat(pid, text);
}

namespace {

// Reads /proc once. True when complete: no process ended between the reading of its name and of its files.
bool look_at_all(std::vector<ProcessInfo>& out) {
  out.clear();
  std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir("/proc"), closedir);
  if (!dir) return true;
  bool complete = true;
  while (const dirent* e = readdir(dir.get())) {
    auto pid = parse_number<pid_t>(e->d_name, 1);
    if (!pid) continue;
    if (auto p = read_process(*pid)) out.push_back(std::move(*p));
    else complete = false;
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return complete;
}

}  // namespace

std::vector<ProcessInfo> list_processes() {
  constexpr int kLooksAtAll = 8;  // where processes come and go all the time, the last look is good enough
  std::vector<ProcessInfo> out;
  for (int look = 0; look < kLooksAtAll && !look_at_all(out); ++look) {
  }
  return out;
}

Result<ProcessIo> read_process_io(pid_t pid) {
  MUSTER_TRY(text, read_file(proc_path(pid, "io"), 4096));
  ProcessIo io;
  for (std::string_view line : split(text, '\n')) {
    if (line.starts_with("rchar: ")) io.read_bytes = number<uint64_t>(line.substr(7));
    if (line.starts_with("wchar: ")) io.written_bytes = number<uint64_t>(line.substr(7));
  }
  return io;
}

namespace {

enum class HasEnv : uint8_t { kNo, kYes, kUnknown };

// kUnknown: in the middle of an execve the kernel shows no environment for a moment. A kernel thread never has one.
HasEnv look_for_env(const ProcessInfo& p, std::string_view entry, const std::vector<std::string>& also) {
  auto text = read_file(proc_path(p.pid, "environ"), 4 << 20);
  if (!text || p.kernel_thread) return HasEnv::kNo;
  if (text->empty()) return HasEnv::kUnknown;
  const std::vector<std::string_view> have = split(*text, '\0');
  auto has = [&](std::string_view wanted) { return std::ranges::find(have, wanted) != have.end(); };
  return has(entry) && std::ranges::all_of(also, has) ? HasEnv::kYes : HasEnv::kNo;
}

// Processes with an unknown answer are looked at again, all of them together, for at most kLooks milliseconds: a program that was given no
// environment at all costs that much.
constexpr int kLooks = 20;

void settle(const std::vector<ProcessInfo>& all, std::string_view entry, const std::vector<std::string>& also, std::vector<HasEnv>& known) {
  for (int look = 0; look < kLooks; ++look) {
    bool again = false;
    for (size_t i = 0; i < all.size(); ++i) {
      if (known[i] != HasEnv::kUnknown) continue;
      known[i] = look_for_env(all[i], entry, also);
      again |= known[i] == HasEnv::kUnknown;
    }
    if (!again) return;
    poll(nullptr, 0, 1);
  }
}

// Which of `all` carry the entry; the ones in `decided` are not asked.
std::vector<bool> with_env(const std::vector<ProcessInfo>& all, std::string_view entry, const std::vector<std::string>& also,
                           const std::vector<bool>& decided) {
  std::vector<HasEnv> known(all.size(), HasEnv::kUnknown);
  for (size_t i = 0; i < all.size(); ++i)
    if (decided[i] || entry.empty()) known[i] = HasEnv::kNo;
  settle(all, entry, also, known);
  std::vector<bool> out(all.size());
  for (size_t i = 0; i < all.size(); ++i) out[i] = known[i] == HasEnv::kYes;
  return out;
}

}  // namespace

bool process_has_env(pid_t pid, std::string_view entry) {
  auto process = read_process(pid);
  return process && with_env({*process}, entry, {}, {false})[0];
}

namespace {

// The first number behind "Uid:".
std::optional<Uid> real_user(pid_t pid) {
  auto text = read_file(proc_path(pid, "status"), 1 << 16);
  const size_t at = text ? text->find("\nUid:\t") : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  return Uid(number<uint32_t>(std::string_view(*text).substr(at + 6)));
}

bool excepted(const ProcessSet& set, const ProcessInfo& p) {
  return std::ranges::find(set.except, p.pid) != set.except.end() ||
         std::ranges::find(set.except_groups, p.group) != set.except_groups.end() || p.start_ticks < set.not_before ||
         (set.only_of && real_user(p.pid) != set.only_of);
}

}  // namespace

std::vector<ProcessInfo> find_processes(const ProcessSet& set) {
  std::vector<ProcessInfo> all = list_processes(), out;
  const pid_t self = getpid();
  std::vector<bool> member = below(all, set.root);
  std::vector<bool> decided(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const ProcessInfo& p = all[i];
    member[i] = member[i] || (set.include_root && set.root > 0 && p.pid == set.root) || (set.session > 0 && p.session == set.session) ||
                (set.group > 0 && p.group == set.group);
    decided[i] = member[i] || p.pid == self || p.state == 'Z' || p.state == 'X';
  }
  const std::vector<bool> marked = with_env(all, set.env_marker, set.env_also, decided);
  std::vector<bool> spared(all.size());
  for (pid_t root : set.except_trees) {
    const std::vector<bool> tree = below(all, root);
    for (size_t i = 0; i < all.size(); ++i) spared[i] = spared[i] || tree[i] || all[i].pid == root;
  }
  for (size_t i = 0; i < all.size(); ++i)
    if ((member[i] || marked[i]) && all[i].pid != self && all[i].state != 'Z' && all[i].state != 'X' && !spared[i] &&
        !excepted(set, all[i]))
      out.push_back(std::move(all[i]));
  return out;
}

std::vector<ProcessInfo> processes_below(pid_t root, pid_t group) {
  std::vector<ProcessInfo> out = find_processes({.root = root, .include_root = false});
  std::erase_if(out, [&](const ProcessInfo& p) { return p.group != group; });
  return out;
}

namespace {

// The process as a pidfd, if it still is the one that was listed.
Fd hold(const ProcessInfo& p) {
  auto fd = open_pidfd(p.pid);
  if (!fd) return Fd();
  auto now = read_process(p.pid);
  if (!now || now->start_ticks != p.start_ticks) return Fd();
  return std::move(*fd);
}

std::string survivors_text(const std::vector<ProcessInfo>& left) {
  std::string text;
  for (size_t i = 0; i < left.size() && i < 8; ++i) {
    if (i) text += ", ";
    text += "process " + std::to_string(left[i].pid) + " (" + left[i].state + ", " + left[i].name + ")";
  }
  if (left.size() > 8) text += " and " + std::to_string(left.size() - 8) + " more";
  return text + " cannot be killed";
}

}  // namespace

bool signal_process(const ProcessInfo& p, int signal) {
  Fd fd = hold(p);
  return fd && signal_pidfd(fd.get(), signal);
}

size_t signal_processes(const ProcessSet& set, int signal) {
  size_t reached = 0;
  for (const ProcessInfo& p : find_processes(set)) reached += signal_process(p, signal);
  return reached;
}

size_t signal_group_below(pid_t root, pid_t group, int signal) {
  size_t reached = 0;
  for (const ProcessInfo& p : processes_below(root, group)) reached += signal_process(p, signal);
  return reached;
}

Result<> kill_processes(const ProcessSet& set, Duration timeout) {
  const Time deadline = monotonic_now() + timeout;
  int empty_looks = 0;  // one alone may have missed a child whose parent ended just then
  while (true) {
    const auto members = find_processes(set);
    if (members.empty()) {
      if (++empty_looks == 2) return {};
      continue;
    }
    empty_looks = 0;
    std::vector<Fd> held;
    std::vector<pollfd> polls;
    for (const ProcessInfo& p : members) {
      Fd fd = hold(p);
      if (!fd || !signal_pidfd(fd.get(), SIGKILL)) continue;
      polls.push_back({fd.get(), POLLIN, 0});
      held.push_back(std::move(fd));
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
    if (left <= 0) return fail(Errc::kTimedOut, survivors_text(members));
    // Wait for each in turn. One that cannot die keeps us until the deadline; the next round then reports it.
    for (pollfd& p : polls) {
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
      poll(&p, 1, rest > 0 ? static_cast<int>(std::min<int64_t>(rest, 1 << 30)) : 0);
    }
    if (polls.empty()) poll(nullptr, 0, 1);  // all were replaced between listing and holding
  }
}

}  // namespace muster::os
