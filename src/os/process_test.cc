#include "os/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

#include "base/text.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/launch.h"
#include "os/process_tree.h"

namespace muster::os {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

SpawnSpec shell(std::string script) { return {.path = "/bin/sh", .argv = {"sh", "-c", std::move(script)}}; }
std::string output_of(SpawnSpec spec) {
  auto r = run_captured(std::move(spec), seconds(10));
  return r ? r->output : "error: " + std::string(r.error().message());
}
bool root() { return geteuid() == 0; }

TEST(Spawn, ExitCodesAndSignals) {
  auto pid = spawn(shell("exit 3"));
  ASSERT_TRUE(pid);
  auto r = wait_child(*pid);
  EXPECT_EQ(r->status.code, 3);
  EXPECT_EQ(r->status.signal, 0);
  r = wait_child(*spawn(shell("kill -TERM $$")));
  EXPECT_EQ(r->status.signal, SIGTERM);
  EXPECT_FALSE(r->status.ok());
}

TEST(Spawn, FailuresNameTheStep) {
  auto s = shell("true");
  s.cwd = "/no/such/dir";
  EXPECT_EQ(spawn(s).error().message(), "chdir /no/such/dir: No such file or directory");
  EXPECT_EQ(spawn({.path = "/no/such/program"}).error().message(), "execve /no/such/program: No such file or directory");
  EXPECT_EQ(spawn({.path = "/etc/passwd"}).error().message(), "execve /etc/passwd: Permission denied");
  EXPECT_EQ(spawn({.path = "no-such-program", .env = {{"PATH=/usr/bin:/bin"}}}).error().code, Errc::kNotFound);
  EXPECT_FALSE(spawn(SpawnSpec{}));
  s = shell("true");
  s.fds = {{977, 5}};
  EXPECT_EQ(spawn(s).error().message(), "descriptor 977: Bad file descriptor");
  s = shell("true");
  s.controlling_tty = 0;
  EXPECT_EQ(spawn(s).error().code, Errc::kInvalidArgument);
  // and no zombie is left behind
  EXPECT_TRUE(reap_children().empty());
}

TEST(Spawn, AtMostSoManyAreReapedAtOnce) {
  std::vector<pid_t> all;
  for (size_t i = 0; i < kReapedAtOnce + 10; ++i) all.push_back(*spawn({.path = "/bin/true"}));
  siginfo_t info{};
  for (pid_t pid : all) ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(reap_children().size(), kReapedAtOnce);
  EXPECT_EQ(reap_children().size(), 10u);
}

TEST(Spawn, LooksUpTheProgramInTheChildsPath) {
  auto dir = *TempDir::create("muster-path-");
  ASSERT_TRUE(write_file_atomic(dir.path() + "/greet", "#!/bin/sh\necho hi $1\n", 0755));
  EXPECT_EQ(output_of({.path = "greet", .argv = {"greet", "you"}, .env = {{"PATH=/nowhere:" + dir.path()}}}), "hi you\n");
}

TEST(Spawn, EnvironmentDirectoryUmaskNiceLimits) {
  auto s = shell("echo $A; pwd; umask; nice; ulimit -n");
  s.env = {{"A=b c"}};
  s.cwd = "/usr";
  s.umask = 0027;
  s.nice = 7;
  s.limits = {{RLIMIT_NOFILE, 77, 88}};
  EXPECT_EQ(output_of(s), "b c\n/usr\n0027\n7\n77\n");
}

TEST(Spawn, SignalsAreDefaultAndUnblocked) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGUSR1, SIG_IGN);
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  const std::string out = output_of({.path = "cat", .argv = {"cat", "/proc/self/status"}});
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  signal(SIGPIPE, SIG_DFL);
  signal(SIGUSR1, SIG_DFL);
  EXPECT_THAT(out, HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\n"));
}

TEST(Spawn, OurHandlersSurvive) {
  signal(SIGUSR1, SIG_IGN);
  EXPECT_EQ(output_of(shell("echo x")), "x\n");
  struct sigaction now {};
  sigaction(SIGUSR1, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_IGN);
  signal(SIGUSR1, SIG_DFL);
}

TEST(Spawn, DescriptorsMayCrossAndOthersAreClosed) {
  int a[2], b[2];
  ASSERT_EQ(pipe(a), 0);  // not close-on-exec on purpose
  ASSERT_EQ(pipe(b), 0);
  auto s = shell("echo one >&" + std::to_string(a[1]) + "; echo two >&" + std::to_string(b[1]));
  s.fds = {{a[1], b[1]}, {b[1], a[1]}};  // swapped
  ASSERT_TRUE(wait_child(*spawn(s))->status.ok());
  char text[8] = {};
  ASSERT_EQ(read(a[0], text, 4), 4);
  EXPECT_STREQ(text, "two\n");
  ASSERT_EQ(read(b[0], text, 4), 4);
  EXPECT_STREQ(text, "one\n");
  const std::string open_fds = output_of({.path = "ls", .argv = {"ls", "/proc/self/fd"}});
  EXPECT_EQ(open_fds, "0\n1\n2\n3\n");  // 3 is ls's own directory handle
  for (int fd : {a[0], a[1], b[0], b[1]}) close(fd);
}

TEST(Spawn, AnotherUser) {
  if (!root()) {
    SpawnSpec s = shell("true");
    s.credentials = Credentials{Uid{geteuid() + 1}, Gid{getegid()}, {}};
    EXPECT_EQ(spawn(s).error().code, Errc::kAccessDenied);
    return;
  }
  auto s = shell("id -u; id -g; id -G");
  s.credentials = Credentials{Uid{65534}, Gid{65533}, {65533, 4321, 5}};
  EXPECT_EQ(output_of(s), "65534\n65533\n65533 5 4321\n");
  EXPECT_EQ(geteuid(), 0u);
  s = shell("true");
  s.credentials = Credentials{Uid{65534}, Gid{65533}, {}};
  auto dir = *TempDir::create("muster-closed-");
  s.cwd = dir.path();
  EXPECT_THAT(std::string(spawn(s).error().message()), StartsWith("chdir " + dir.path() + ": Permission denied"));
}

TEST(Spawn, SessionAndGroup) {
  auto s = shell("ps -o pid=,pgid=,sid= -p $$ | awk '{print ($1==$2), ($1==$3)}'");
  s.new_session = true;
  EXPECT_EQ(output_of(s), "1 1\n");
}

TEST(Spawn, CpuMask) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  size_t cpu = 0;
  while (!CPU_ISSET(cpu, &mine)) ++cpu;
  auto s = SpawnSpec{.path = "grep", .argv = {"grep", "Cpus_allowed_list", "/proc/self/status"}};
  s.cpus.set(cpu);
  EXPECT_EQ(output_of(s), "Cpus_allowed_list:\t" + std::to_string(cpu) + "\n");
  s.cpus = Bitmap();
  s.cpus.set(4000);
  EXPECT_EQ(spawn(s).error().message(), "CPU affinity 4000: Invalid argument");
}

TEST(Spawn, ControllingTerminal) {
  int master, slave;
  ASSERT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  auto s = shell("tty </dev/tty");
  s.new_session = true;
  s.controlling_tty = slave;
  s.fds = {{slave, 0}, {slave, 1}, {slave, 2}};
  auto pid = spawn(s);
  ASSERT_TRUE(pid) << pid.error().message();
  EXPECT_TRUE(wait_child(*pid)->status.ok());
  char text[64] = {};
  EXPECT_GT(read(master, text, sizeof text - 1), 0);
  EXPECT_THAT(text, HasSubstr("/dev/"));
  close(master);
  close(slave);
}

// A fork marks every page of its parent as shared, and the parent pays with a fault for each one it writes
// afterwards: in a daemon of gigabytes a launch would take tens of milliseconds. So the faults are counted.
TEST(Spawn, CopiesNothingOfALargeProcess) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), pages = 4096;
  char* heap = static_cast<char*>(mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(heap, MAP_FAILED);
  madvise(heap, pages * page, MADV_NOHUGEPAGE);
  const auto touch = [&] {
    for (size_t i = 0; i < pages; ++i) heap[i * page] = static_cast<char>(heap[i * page] + 1);
  };
  const auto faults = [] {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  touch();
  auto pid = spawn({.path = "/bin/true"});
  ASSERT_TRUE(pid);
  const long before = faults();
  touch();
  EXPECT_LT(faults() - before, static_cast<long>(pages) / 8);
  ASSERT_TRUE(wait_child(*pid)->status.ok());
  munmap(heap, pages * page);
}

// A child that gets no further: what it writes to before its program takes nothing more.
struct StuckChild {
  StuckChild() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
    const std::string page(4096, 'x');
    while (write(writing.get(), page.data(), page.size()) > 0) {
    }
    fcntl(writing.get(), F_SETFL, 0);
    spec = shell("exit 5");
    spec.cgroup_procs_fds = {writing.get()};
  }
  void let_go() {
    char buffer[65536];
    EXPECT_GT(read(reading.get(), buffer, sizeof buffer), 0);
  }
  Fd reading, writing;
  SpawnSpec spec;
};

TEST(Launch, NobodyWaitsForAChildThatIsHeldUpOnItsWay) {
  StuckChild stuck;
  auto launch = Launch::start(stuck.spec);
  ASSERT_TRUE(launch);
  EXPECT_FALSE(launch->settled());
  EXPECT_FALSE(launch->settled_within(milliseconds(20)));
  const pid_t pid = launch->pid();
  ::kill(pid, SIGSTOP);  // as the user whose process it becomes may
  stuck.let_go();
  EXPECT_FALSE(launch->settled_within(milliseconds(20)));
  ::kill(pid, SIGCONT);
  auto outcome = launch->settled_within(seconds(20));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(*outcome) << outcome->error().message();
  EXPECT_EQ(wait_child(pid)->status.code, 5);
}

TEST(Launch, IsEndedWithWhoeverHoldsIt) {
  StuckChild stuck;
  pid_t pid = 0;
  {
    auto launch = Launch::start(stuck.spec);
    ASSERT_TRUE(launch);
    pid = launch->pid();
    ::kill(pid, SIGSTOP);
  }
  EXPECT_EQ(wait_child(pid)->status.signal, SIGKILL);
}

TEST(Launch, TellsOfADirectoryThatCannotBeEntered) {
  auto s = shell("true");
  s.cwd = "/no/such/dir";
  auto launch = Launch::start(s);
  ASSERT_TRUE(launch);
  auto outcome = launch->settled_within(seconds(20));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->error().message(), "chdir /no/such/dir: No such file or directory");
  EXPECT_TRUE(launch->failed_at_directory());
  EXPECT_TRUE(wait_child(launch->pid()));
}

// Many at once: each child has copies of what our loop holds, and none may keep another's end from being seen.
TEST(Launch, ManyAtOnce) {
  std::vector<Launch> all;
  for (int i = 0; i < 64; ++i) all.push_back(*Launch::start({.path = i % 2 ? "/bin/true" : "/no/such/program"}));
  for (int i = 0; i < 64; ++i) {
    auto outcome = all[static_cast<size_t>(i)].settled_within(seconds(20));
    ASSERT_TRUE(outcome);
    EXPECT_EQ(outcome->has_value(), i % 2 == 1);
    EXPECT_TRUE(wait_child(all[static_cast<size_t>(i)].pid()));
  }
}

TEST(Wait, TimesOutAndThenKills) {
  auto pid = spawn(shell("exec sleep 100"));
  EXPECT_EQ(wait_child(*pid, milliseconds(20)).error().code, Errc::kTimedOut);
  auto handle = open_pidfd(*pid);
  ASSERT_TRUE(handle);
  ASSERT_TRUE(signal_pidfd(handle->get(), SIGKILL));
  EXPECT_EQ(wait_child(*pid)->status.signal, SIGKILL);
  EXPECT_FALSE(signal_pidfd(handle->get(), SIGKILL));
}

TEST(RunCaptured, BoundsOutputAndTime) {
  auto r = run_captured(shell("head -c 100000 /dev/zero | tr '\\0' x; exit 4"), seconds(10), 1000);
  EXPECT_EQ(r->output.size(), 1000u);
  EXPECT_TRUE(r->truncated);
  EXPECT_EQ(r->status.code, 4);
  const Time before = monotonic_now();
  r = run_captured(shell("echo early; sleep 100 & sleep 100"), milliseconds(200));
  EXPECT_TRUE(r->timed_out);
  EXPECT_EQ(r->output, "early\n");
  EXPECT_LT(monotonic_now() - before, seconds(5));
}

TEST(RunCaptured, TakesStreamsApart) {
  auto r = run_captured_apart(shell("echo out; echo err >&2; exec >&-; sleep 0.1; head -c 5000 /dev/zero >&2; exit 4"), seconds(10), 1000);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->output, "out\n");
  EXPECT_TRUE(r->errors.starts_with("err\n"));
  EXPECT_EQ(r->errors.size(), 1000u);  // also of what comes after stdout was closed
  EXPECT_TRUE(r->truncated);
  EXPECT_EQ(r->status.code, 4);
}

TEST(ProcessTree, FindsByTreeSessionAndMarkerAndKillsAll) {
  ASSERT_TRUE(become_subreaper());
  auto s = shell("setsid sleep 871 & (sleep 872 &) ; exec sleep 873");
  s.env = {{"PATH=/usr/bin:/bin", "MUSTER_TEST_MARK=" + std::to_string(getpid())}};
  s.new_session = true;
  const pid_t root = *spawn(s);
  ProcessSet tree{.root = root}, marked{.env_marker = (*s.env)[1]}, session{.session = root};
  auto all_asleep = [&] {
    const auto found = find_processes(marked);
    return found.size() == 3 && std::ranges::all_of(found, [](const auto& p) { return p.name == "sleep"; });
  };
  for (int i = 0; i < 500 && !all_asleep(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(find_processes(marked).size(), 3u);   // the orphaned one too
  EXPECT_EQ(find_processes(session).size(), 2u);  // without the one that made its own session
  EXPECT_EQ(find_processes(tree).size(), 2u);     // the orphan is ours now, as we are the subreaper
  ProcessSet ours{.root = getpid(), .include_root = false};
  EXPECT_EQ(find_processes(ours).size(), 3u);
  EXPECT_EQ(signal_processes(tree, 0), 2u);
  auto killed = kill_processes(marked, seconds(5));
  EXPECT_TRUE(killed) << killed.error().message();
  EXPECT_TRUE(find_processes(marked).empty());
  for (int i = 0, reaped = 0; i < 500 && reaped < 3; ++i) {
    reaped += static_cast<int>(reap_children().size());
    if (reaped < 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(reap_children().empty());
}

// A process shows no environment while it execs; one that does so all the time is found at every look.
TEST(ProcessTree, FindsWhatIsInTheMiddleOfAnExec) {
  auto s = shell("n=0; export n; export again='n=$((n + 1)); exec sh -c \"$again\"'; exec sh -c \"$again\"");
  s.env = {{"PATH=/usr/bin:/bin", "MUSTER_TEST_EXECS=" + std::to_string(getpid())}};
  const pid_t root = *spawn(s);
  int found = 0;
  for (int i = 0; i < 200; ++i) found += static_cast<int>(find_processes({.env_marker = (*s.env)[1]}).size());
  EXPECT_EQ(found, 200);
  EXPECT_TRUE(kill_processes({.root = root}, seconds(5)));
  EXPECT_TRUE(wait_child(root));
}

TEST(ProcessTree, ReadsWhatAccountingNeeds) {
  auto p = read_process(getpid());
  ASSERT_TRUE(p);
  EXPECT_EQ(p->parent, getppid());
  EXPECT_GT(p->rss_bytes, 1u << 20);
  EXPECT_GT(p->virtual_bytes, p->rss_bytes);
  EXPECT_EQ(p->name, process_name());
  EXPECT_GT(p->start_ticks, 0u);
  EXPECT_FALSE(read_process(1 << 30));
  auto io = read_process_io(getpid());
  ASSERT_TRUE(io);
  EXPECT_GT(io->read_bytes, 0u);
}

TEST(ProcessName, IsCut) {
  const std::string before = process_name();
  ASSERT_TRUE(set_process_name("a name far too long"));
  EXPECT_EQ(process_name(), "a name far too ");
  ASSERT_TRUE(set_process_name(before));
}

TEST(Clock, TellsStepsOnly) {
  ClockStepDetector d;
  EXPECT_FALSE(d.check(from_unix(1000), from_unix(10)));
  EXPECT_FALSE(d.check(from_unix(1060), from_unix(70)));
  EXPECT_EQ(d.check(from_unix(4665), from_unix(75)), seconds(3600));
  EXPECT_FALSE(d.check(from_unix(4666), from_unix(76)));
  EXPECT_EQ(d.check(from_unix(4600), from_unix(77)), seconds(-67));
  EXPECT_FALSE(ClockStepDetector().check());
  EXPECT_GT(wall_now(), from_unix(1'700'000'000));
  EXPECT_LT(boot_time(), wall_now());
}

}  // namespace
}  // namespace muster::os
