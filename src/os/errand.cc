#include "os/errand.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "os/child.h"
#include "os/clock.h"
#include "os/error.h"

namespace muster::os {
namespace {

constexpr Duration kEndedIsGone = seconds(1);
constexpr size_t kCopyAtOnce = 64u << 10;

enum class Kind { kOutput, kInput, kFolder, kConnect, kWrite, kCopy };

// One thing to do, as the child needs it: plain memory. `result`, when it is `done`: a descriptor or 0, or a negative error number.
struct Thing {
  Kind kind = Kind::kInput;
  char* path = nullptr;
  size_t path_size = 0, failed_at = 0;  // failed_at: length of the part of the path that could not be made; 0: the path itself
  bool append = false, make_parents = false;
  unsigned int mode = 0;
  const sockaddr_storage* address = nullptr;
  unsigned int address_size = 0;
  int from = -1, to = -1;
  const char* text = nullptr;
  size_t text_size = 0;
  char* buffer = nullptr;
  const char* name = nullptr;  // below `path`
  unsigned int uid = 0, gid = 0, self = 0;
  volatile bool done = false;
  volatile long result = 0;
};

// All that the child works on.
struct Orders {
  Thing* things = nullptr;
  size_t count = 0;
  int name_space = -1;
  bool switch_user = false;
  RawUser user;
  int parent = 0;
  volatile ChildStep failed = ChildStep::kNone;
  volatile long failure = 0;
};

IN_CHILD long write_all_raw(int fd, const char* text, size_t size) {
  while (size > 0) {
    const long n = raw_call(SYS_write, fd, raw_pointer(text), static_cast<long>(size));
    if (n == -EINTR) continue;
    if (n == -EAGAIN) {  // somebody who writes there, too, does not want to wait
      pollfd p{fd, POLLOUT, 0};
      raw_call(SYS_ppoll, raw_pointer(&p), 1, 0, 0, 0);
      continue;
    }
    if (n < 0) return n;
    text += n;
    size -= static_cast<size_t>(n);
  }
  return 0;
}

IN_CHILD long open_raw(const char* path, int flags, unsigned int mode) {
  for (;;) {
    const long fd = raw_call(SYS_openat, AT_FDCWD, raw_pointer(path), flags, mode);
    if (fd != -EINTR) return fd;
  }
}

IN_CHILD bool is_directory(const char* path) {
  const long fd = open_raw(path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd >= 0) raw_call(SYS_close, fd);
  return fd >= 0;
}

// Makes each missing directory above the last part of the path.
IN_CHILD long make_parents(Thing& thing) {
  for (size_t at = 1; at < thing.path_size; ++at) {
    if (thing.path[at] != '/') continue;
    thing.path[at] = 0;
    long made = raw_call(SYS_mkdirat, AT_FDCWD, raw_pointer(thing.path), 0777);
    // A parent we may not write to (EACCES, EROFS …) is fine when it is already there.
    if (made < 0 && made != -EEXIST && is_directory(thing.path)) made = 0;
    thing.path[at] = '/';
    if (made < 0 && made != -EEXIST) {
      thing.failed_at = at;
      return made;
    }
  }
  return 0;
}

IN_CHILD long created(Thing& thing, int flags) {
  // O_EXCL first, to know whether the file is new: only then it gets the job's mode, whatever our umask. Another may win the race.
  for (int attempt = 0; attempt < 3; ++attempt) {
    long fd = open_raw(thing.path, flags | O_CREAT | O_EXCL, thing.mode);
    if (fd >= 0) {
      raw_call(SYS_fchmod, fd, thing.mode);
      return fd;
    }
    if (fd != -EEXIST) return fd;
    fd = open_raw(thing.path, flags, 0);
    // A dangling link: O_EXCL refuses it, so let the kernel create what it points to.
    if (fd == -ENOENT) fd = open_raw(thing.path, flags | O_CREAT, thing.mode);
    if (fd != -ENOENT) return fd;
  }
  return -ENOENT;
}

IN_CHILD long output(Thing& t) {
  if (t.make_parents)
    if (const long made = make_parents(t); made < 0) return made;
  const long fd = created(t, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (t.append ? O_APPEND : O_TRUNC));
  if (fd < 0) return fd;
  // It was opened without blocking, so that a FIFO without a reader is an error and not a wait. What the job writes may block as usual.
  raw_call(SYS_fcntl, fd, F_SETFL, t.append ? O_APPEND : 0);
  return fd;
}

IN_CHILD long input(Thing& t) {
  const long fd = open_raw(t.path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
  if (fd >= 0) raw_call(SYS_fcntl, fd, F_SETFL, 0);
  return fd;
}

// What stands behind a descriptor, if it is a directory of one of these users, which only its owner writes to.
IN_CHILD long owner_of_folder(long fd, unsigned int one, unsigned int other) {
  struct stat st;
  const long asked = raw_call(SYS_fstat, fd, raw_pointer(&st));
  if (asked < 0) return asked;
  if (!S_ISDIR(st.st_mode) || (st.st_mode & 022) || (st.st_uid != one && st.st_uid != other)) return -EPERM;
  return st.st_uid;
}

IN_CHILD long folder_below(Thing& t, long base) {
  if (const long owner = owner_of_folder(base, t.self, 0); owner < 0) return owner;
  const long made = raw_call(SYS_mkdirat, base, raw_pointer(t.name), 0700);
  if (made < 0 && made != -EEXIST) return made;
  const long fd = raw_call(SYS_openat, base, raw_pointer(t.name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) return fd == -ELOOP || fd == -ENOTDIR ? -EPERM : fd;
  long owner = owner_of_folder(fd, t.uid, t.self);
  if (owner >= 0 && static_cast<unsigned int>(owner) != t.uid) owner = raw_call(SYS_fchown, fd, t.uid, t.gid);
  raw_call(SYS_close, fd);
  return owner < 0 ? owner : 0;
}

IN_CHILD long user_folder(Thing& t) {
  long base = open_raw(t.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (base == -ENOENT) {
    const long made = raw_call(SYS_mkdirat, AT_FDCWD, raw_pointer(t.path), 0755);
    if (made < 0 && made != -EEXIST) return made;
    base = open_raw(t.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  }
  if (base < 0) return base;
  const long result = folder_below(t, base);
  raw_call(SYS_close, base);
  return result;
}

IN_CHILD long connection(Thing& thing) {
  const long fd = raw_call(SYS_socket, thing.address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fd;
  long result;
  do {
    result = raw_call(SYS_connect, fd, raw_pointer(thing.address), static_cast<long>(thing.address_size));
  } while (result == -EINTR);
  if (result < 0) {
    raw_call(SYS_close, fd);
    return result;
  }
  raw_call(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
  return fd;
}

IN_CHILD long copy_all(Thing& t) {
  long failed = 0;
  for (;;) {
    const long n = raw_call(SYS_read, t.from, raw_pointer(t.buffer), kCopyAtOnce);
    if (n == -EINTR) continue;
    if (n <= 0) return failed ? failed : n;
    // A full file system loses output, as it does for a task that writes by itself; the task goes on.
    if (const long r = write_all_raw(t.to, t.buffer, static_cast<size_t>(n)); r < 0) failed = r;
  }
}

IN_CHILD long carry_out(Thing& t) {
  switch (t.kind) {
    case Kind::kOutput: return output(t);
    case Kind::kInput: return input(t);
    case Kind::kFolder: return user_folder(t);
    case Kind::kConnect: return connection(t);
    case Kind::kWrite: return write_all_raw(t.to, t.text, t.text_size);
    case Kind::kCopy: return copy_all(t);
  }
  return -EINVAL;
}

IN_CHILD int errand_main(void* arg) {
  Orders& orders = *static_cast<Orders*>(arg);
  if (orders.name_space >= 0) {
    if (const long entered = raw_call(SYS_setns, orders.name_space, CLONE_NEWNS); entered < 0) {
      orders.failure = entered;
      orders.failed = ChildStep::kNamespace;
      raw_call(SYS_exit_group, 1);
    }
  }
  if (orders.switch_user) {
    const BecomeUser became = become_user_for_good(orders.user);
    if (became.result < 0) {
      orders.failure = became.result;
      orders.failed = became.step;
      raw_call(SYS_exit_group, 1);
    }
  }
  raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (raw_call(SYS_getppid) != orders.parent) raw_call(SYS_exit_group, 1);
  for (size_t i = 0; i < orders.count; ++i) {
    orders.things[i].result = carry_out(orders.things[i]);
    orders.things[i].done = true;
  }
  raw_call(SYS_exit_group, 0);
  return 0;
}

}  // namespace

struct Errand::State {
  std::vector<Thing> things;
  std::deque<std::string> texts;  // what the things point to
  std::deque<sockaddr_storage> addresses;
  std::vector<std::string> names;
  std::unique_ptr<char[]> buffer;
  std::unique_ptr<unsigned char[]> stack;
  Orders orders;
  std::optional<Credentials> who;
  pid_t pid = 0;
  Fd pidfd;
  bool over = false, reaped = false;
  std::optional<Error> not_started;

  Thing& add(Kind kind, std::string name) {
    Thing& t = things.emplace_back();
    t.kind = kind;
    names.push_back(std::move(name));
    return t;
  }
  std::string& keep(std::string text) { return texts.emplace_back(std::move(text)); }
  void path(Thing& t, std::string text) {
    std::string& kept = keep(std::move(text));
    t.path = kept.data();
    t.path_size = kept.size();
  }
  Result<> start(const std::optional<Credentials>& as);
  bool look(int wait_ms) {
    pollfd p{pidfd.get(), POLLIN, 0};
    if (poll(&p, 1, wait_ms) <= 0) return false;
    waitpid(pid, nullptr, __WALL);
    over = reaped = true;
    stack.reset();
    return true;
  }
};

Errand::Errand() : state_(std::make_unique<State>()) {}
Errand::Errand(Errand&&) noexcept = default;
Errand& Errand::operator=(Errand&& o) noexcept {
  if (this != &o) {
    end();
    state_ = std::move(o.state_);
  }
  return *this;
}

Errand::~Errand() {
  if (!state_) return;
  end();
  // A child that not even SIGKILL ends (a device that does not answer) keeps the memory it works on.
  if (started() && !state_->reaped) {
    static_cast<void>(state_.release());
    return;
  }
  for (size_t i = 0; i < state_->things.size(); ++i) static_cast<void>(take(i));
}

size_t Errand::open_output(std::string path, const OpenOutput& how) {
  Thing& t = state_->add(Kind::kOutput, path);
  state_->path(t, std::move(path));
  t.append = how.append;
  t.make_parents = how.make_parents;
  t.mode = how.mode;
  return state_->things.size() - 1;
}

size_t Errand::open_input(std::string path) {
  Thing& t = state_->add(Kind::kInput, path);
  state_->path(t, std::move(path));
  return state_->things.size() - 1;
}

size_t Errand::make_user_folder(std::string folder, const std::string& name, Uid uid, Gid gid) {
  Thing& t = state_->add(Kind::kFolder, folder + "/" + name);
  state_->path(t, std::move(folder));
  t.name = state_->keep(name).c_str();
  t.uid = uid.value;
  t.gid = gid.value;
  t.self = ::geteuid();
  return state_->things.size() - 1;
}

size_t Errand::connect(const sockaddr_storage& address, socklen_t size, std::string name) {
  Thing& t = state_->add(Kind::kConnect, std::move(name));
  t.address = &state_->addresses.emplace_back(address);
  t.address_size = size;
  return state_->things.size() - 1;
}

size_t Errand::write(int fd, std::string text, std::string name) {
  Thing& t = state_->add(Kind::kWrite, std::move(name));
  const std::string& kept = state_->keep(std::move(text));
  t.to = fd;
  t.text = kept.data();
  t.text_size = kept.size();
  return state_->things.size() - 1;
}

size_t Errand::copy(int from, int to) {
  if (!state_->buffer) state_->buffer = std::make_unique_for_overwrite<char[]>(kCopyAtOnce);
  Thing& t = state_->add(Kind::kCopy, "copy");
  t.from = from;
  t.to = to;
  t.buffer = state_->buffer.get();
  return state_->things.size() - 1;
}

void Errand::enter(int mount_namespace) { state_->orders.name_space = mount_namespace; }

Result<> Errand::start(const std::optional<Credentials>& who) {
  auto ok = state_->start(who);
  if (!ok) state_->not_started = ok.error();
  return ok;
}

Result<> Errand::State::start(const std::optional<Credentials>& as) {
  State& state = *this;
  state.who = as;
  state.orders.things = state.things.data();
  state.orders.count = state.things.size();
  state.orders.parent = getpid();
  if (state.who) {
    MUSTER_TRY(switches, switches_user(*state.who));
    state.orders.switch_user = switches;
    state.orders.user = raw_user(*state.who);
  }
  state.stack = std::make_unique_for_overwrite<unsigned char[]>(kChildStack);
  int pidfd = -1, clone_errno;
  {
    AllSignalsBlocked blocked;
    state.pid = clone_beside(errand_main, state.stack.get(), CLONE_FILES | CLONE_PIDFD, &state.orders, &pidfd);
    clone_errno = errno;
  }
  if (state.pid < 0) {
    state.pid = 0;
    return fail_errno("clone", clone_errno);
  }
  state.pidfd.reset(pidfd);
  return {};
}

bool Errand::started() const { return state_ && state_->pid > 0; }
pid_t Errand::pid() const { return state_->pid; }
int Errand::fd() const { return state_->pidfd.get(); }
bool Errand::over() { return over_within(Duration{}); }

bool Errand::over_within(Duration timeout) {
  State& s = *state_;
  const Time deadline = monotonic_now() + timeout;
  while (!s.over && started()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - monotonic_now()).count();
    if (s.look(static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30))) || left <= 0) break;
  }
  return s.over;
}

void Errand::end() {
  if (!started() || over()) return;
  ::kill(state_->pid, SIGKILL);
  static_cast<void>(over_within(kEndedIsGone));
  state_->over = true;
}

Result<Fd> Errand::take(size_t thing) {
  State& state = *state_;
  Thing& what = state.things.at(thing);
  const std::string& name = state.names.at(thing);
  if (state.not_started) return std::unexpected(*state.not_started);
  if (state.orders.failed == ChildStep::kNamespace) return fail_errno("the job's namespace", static_cast<int>(-state.orders.failure));
  if (state.orders.failed != ChildStep::kNone)
    return fail_errno("the rights of user " + std::to_string(state.who->uid.value), static_cast<int>(-state.orders.failure));
  if (!what.done) return fail(Errc::kTimedOut, name + ": no answer in time");
  const long result = what.result;
  if (result < 0) return fail_errno(what.failed_at ? "mkdir " + name.substr(0, what.failed_at) : name, static_cast<int>(-result));
  const bool opened = what.kind == Kind::kOutput || what.kind == Kind::kInput || what.kind == Kind::kConnect;
  what.result = -EBADF;
  return opened ? Fd(static_cast<int>(result)) : Fd();
}

}  // namespace muster::os
