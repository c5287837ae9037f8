#include "slurmstepd/task_files.h"

#include <fcntl.h>

#include "os/error.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kOpenPatience = minutes(5);  // a file server may be away for a while; whoever ends the step ends this, too
constexpr Duration kWritePatience = seconds(3);
constexpr size_t kMostUnwritten = 64u << 10;

bool is_file(const std::string& path) { return !path.empty() && path != "/dev/null"; }
std::string input_key(const step_rpc::TaskLaunch& t) { return "<" + std::to_string(t.rank); }

}  // namespace

void TaskFiles::open(const std::vector<step_rpc::TaskLaunch>& tasks, std::function<void()> done) {
  os::Errand errand;
  os::OpenOutput how;
  how.append = append_;
  how.make_parents = true;
  how.mode = 0666 & ~umask_;
  std::map<std::string, size_t> asked;
  for (const step_rpc::TaskLaunch& t : tasks) {
    // Inputs are not shared: each task reads from the beginning.
    if (is_file(t.std_in)) asked[input_key(t)] = errand.open_input(t.std_in);
    for (const std::string* path : {&t.std_out, &t.std_err})
      if (is_file(*path) && !asked.contains(">" + *path)) asked[">" + *path] = errand.open_output(*path, how);
  }
  if (asked.empty()) return done();
  openings_.send(std::move(errand), kOpenPatience, [this, asked = std::move(asked), done = std::move(done)](os::Errand& e) {
    for (const auto& [key, number] : asked) {
      Result<os::Fd> fd = e.take(number);
      // Tasks of several nodes may write to one file: each write goes to its end.
      if (fd && key[0] == '>') ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_APPEND);
      fds_.insert_or_assign(key, std::move(fd));
    }
    done();
  });
}

Result<int> TaskFiles::null() {
  auto at = fds_.find("/");
  if (at == fds_.end()) {
    os::Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!fd) return os::fail_errno("/dev/null");
    at = fds_.emplace("/", std::move(fd)).first;
  }
  return at->second->get();
}

Result<int> TaskFiles::output(const std::string& path) {
  if (!is_file(path)) return null();
  auto at = fds_.find(">" + path);
  if (at == fds_.end()) return fail(path + ": was not opened");
  if (!at->second) return std::unexpected(at->second.error());
  return at->second->get();
}

Result<int> TaskFiles::input(const step_rpc::TaskLaunch& task) {
  if (!is_file(task.std_in)) return null();
  auto at = fds_.find(input_key(task));
  if (at == fds_.end()) return fail(task.std_in + ": was not opened");
  if (!at->second) return std::unexpected(at->second.error());
  return at->second->get();
}

void TaskFiles::note(const std::string& line) {
  for (int fd : error_fds_) write(fd, line + "\n");
}

void TaskFiles::write(int fd, const std::string& text) {
  if (given_up_.contains(fd)) return;
  auto [at, first] = writing_.try_emplace(fd);
  if (at->second.size() + text.size() > kMostUnwritten) return;
  at->second += text;
  if (first) write_on(fd);
}

void TaskFiles::write_on(int fd) {
  std::string text = std::exchange(writing_.at(fd), {});
  if (text.empty()) {
    writing_.erase(fd);
    return now_quiet();
  }
  os::Errand errand;
  errand.write(fd, std::move(text));
  writings_.send(std::move(errand), kWritePatience, [this, fd](os::Errand& e) {
    // A full file system loses what is said, as it does for a task; a file that takes nothing is not tried again.
    if (auto written = e.take(0); !written && written.error().code == Errc::kTimedOut) {
      given_up_.insert(fd);
      writing_.at(fd).clear();
    }
    write_on(fd);
  });
}

void TaskFiles::when_quiet(std::function<void()> f) {
  waiting_.push_back(std::move(f));
  now_quiet();
}

void TaskFiles::now_quiet() {
  if (!quiet()) return;
  for (auto& f : std::exchange(waiting_, {})) f();
}

void TaskFiles::close_all() {
  fds_.clear();
  error_fds_.clear();
}

}  // namespace muster::slurmstepd
