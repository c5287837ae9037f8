#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "net/credential.h"
#include "os/fd.h"
#include "os/process_tree.h"
#include "slurmd/daemon/fake_cluster.h"
#include "wire/instances.h"
#include "wire/messages.h"

namespace muster::slurmd::test {
namespace {

// A port that the kernel gives to no outgoing connection, so that nobody else holds it while slurmd is started again.
// Each test process begins elsewhere.
uint16_t free_port() {
  static uint32_t next = static_cast<uint32_t>(getpid()) * 7;
  for (int attempt = 0; attempt < 5000; ++attempt) {
    const uint16_t port = static_cast<uint16_t>(5000 + next++ % 5000);
    os::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(port);
    a.sin_addr.s_addr = htonl(INADDR_ANY);
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&a), sizeof a) == 0) return port;
  }
  ADD_FAILURE() << "no free port from 5000 to 10000";
  return 0;
}

}  // namespace

FakeCluster::FakeCluster(const std::string& more) : dir_(*os::TempDir::create("mn", "/tmp")) {
  port_ = free_port();
  controller_port_ = free_port();
  std::string d = dir();
  std::string conf = "ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nAuthType=auth/slurm\nCredType=cred/slurm\n"
                     "SlurmctldPort=" +
                     std::to_string(controller_port_) + "\nSlurmctldPidFile=" + d +
                     "/slurmctld.pid\n"
                     "SlurmdPidFile=" +
                     d + "/slurmd.pid\nSlurmdSpoolDir=" + d + "/spool\nSlurmdLogFile=" + d +
                     "/slurmd.log\n"
                     "StateSaveLocation=" +
                     d +
                     "/state\nSlurmdParameters=config_overrides\nSlurmdDebug=debug\n"
                     "KillWait=2\n" +
                     (more.find("ProctrackType") == std::string::npos ? "ProctrackType=proctrack/linuxproc\n" : "") + more +
                     "\nNodeName=n1 CPUs=4 RealMemory=1000 NodeAddr=127.0.0.1 Port=" + std::to_string(port_) +
                     "\nPartitionName=main Nodes=n1 Default=YES\n";
  EXPECT_TRUE(os::write_file_atomic(d + "/slurm.conf", conf));
  EXPECT_TRUE(os::write_file_atomic(d + "/slurm.key", key, 0600));
  listen();
}

FakeCluster::~FakeCluster() {
  if (slurmd_) {
    // Nothing stays behind: every job ends and is forgotten, so that each slurmstepd goes.
    for (uint32_t job : jobs_) {
      node_rpc::TerminateJob t;
      t.job = JobId(job);
      t.kill_wait_seconds = 0;
      t.forget = true;
      if (channel_) send(t);
    }
    EXPECT_TRUE(run_until([&] { return steps_left() == 0; })) << "slurmstepd processes stayed";
    kill_slurmd(SIGTERM);
  }
  if (testing::Test::HasFailure()) fprintf(stderr, "---- slurmd.log\n%s----\n", read("slurmd.log").c_str());
}

size_t FakeCluster::steps_left() const {
  size_t n = 0;
  for (const auto& e : std::filesystem::directory_iterator(dir() + "/spool")) n += e.path().extension() == ".sock";
  return n;
}

std::string FakeCluster::read(const std::string& name) const {
  auto text = os::read_file(file(name));
  return text ? *text : "(" + std::string(text.error().message()) + ")";
}

bool FakeCluster::has_line(const std::string& name) const {
  auto text = os::read_file(file(name));
  return text && text->ends_with('\n');
}

bool FakeCluster::ended(const std::string& pid_file) const {
  pid_t pid = std::atoi(read(pid_file).c_str());
  EXPECT_GT(pid, 0) << pid_file << " has no process";
  auto left = os::read_process(pid);
  return pid > 0 && (!left || left->state == 'Z');
}

void FakeCluster::listen() {
  auto l = net::listen_unix(loop, dir() + "/slurmctld." + std::to_string(controller_port_) + ".sock", [this](net::ChannelPtr c) {
    net::Channel* raw = c.get();
    clients_[raw] = c;
    c->on_closed = [this, raw](const Error&) { clients_.erase(raw); };
    c->on_request = [this, raw](net::Frame f) {
      if (f.kind == net::FrameKind::kRequest) return on_call(*raw, f);
      if (f.message == wire::number_of<rpc::AskerGone>) {
        rpc::AskerGone gone;
        ASSERT_TRUE(wire::decode(f.payload, gone));
        return askers_gone.push_back(gone.asker);
      }
      Numbered<NodeReport> m;
      ASSERT_EQ(f.message, wire::kNodeReport);
      ASSERT_TRUE(wire::decode(f.payload, m));
      if (auto* r = std::get_if<node_rpc::Register>(&m.message)) {
        channel_ = clients_.at(raw);
        sent_ = 0;
        session_ = m.session;
        registrations.push_back(*r);
        channel_->notify(rpc::ClusterTrust::kNumber, wire::encoded(rpc::ClusterTrust{*net::public_key(authority), {}}));
        send(node_rpc::Registered{session_, {}});
      } else {
        reports.push_back(m.message);
        if (auto* gone = std::get_if<node_rpc::StepGone>(&m.message); gone && takes_step_ends)
          send(node_rpc::StepEndTaken{gone->job, gone->generation, gone->step});
      }
    };
  });
  ASSERT_TRUE(l) << l.error().message();
  listener_ = std::move(*l);
}

// What srun asks a controller: one node, as many tasks as wanted.
void FakeCluster::on_call(net::Channel& c, const net::Frame& f) {
  auto answer = [&](const auto& m) {
    std::string bytes;
    wire::encode(m, bytes);
    c.answer(f.id, f.message, std::move(bytes));
  };
  rpc::Allocated a;
  a.job.id = JobId(kStepJob);
  a.job.node_list = "n1";
  a.job.partition = "main";
  a.addresses = {{"n1", "127.0.0.1", port_}};
  a.cpus_per_node = {4};
  a.tasks_per_node = {4};
  switch (f.message) {
    case wire::number_of<rpc::AttachAllocation>:
    case wire::number_of<rpc::Allocate>: return answer(a);
    case wire::number_of<rpc::CreateStep>: {
      rpc::CreateStep m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      if (busy_answers > 0) {
        --busy_answers;
        return c.answer_error(f.id, Error(Errc::kNodesBusy));
      }
      return answer(created(m));
    }
    case wire::number_of<rpc::FinishStep>: {
      rpc::FinishStep m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      finished_steps.push_back(m);
      return answer(rpc::Empty{});
    }
    case wire::number_of<rpc::FinishAllocation>: {
      rpc::FinishAllocation m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      finished_allocations.push_back(m);
      return answer(rpc::Empty{});
    }
    case wire::number_of<rpc::Relay>: {
      rpc::Relay m;
      ASSERT_TRUE(wire::decode(f.payload, m));
      return relayed.push_back(std::move(m));
    }
    default: return c.answer_error(f.id, Error(Errc::kUnexpectedMessage));
  }
}

rpc::StepCreated FakeCluster::created(const rpc::CreateStep& m) {
  remember(kStepJob);
  rpc::StepCreated s;
  s.job = JobId(kStepJob);
  s.step = StepId(next_step_++);
  s.num_tasks = m.request.num_tasks ? m.request.num_tasks : 1;
  rpc::StepNode n;
  n.address = {"n1", "127.0.0.1", port_};
  for (uint32_t i = 0; i < s.num_tasks; ++i) n.ranks.push_back(i);
  n.cpu_list = "0-3";
  n.gres = step_gres;
  s.nodes.push_back(n);
  s.uid = Uid(::geteuid());
  s.gid = Gid(::getegid());
  s.job_node_list = "n1";
  rpc::StepCredential credential;
  credential.job = s.job;
  credential.step = s.step;
  credential.uid = s.uid;
  credential.gid = s.gid;
  credential.num_tasks = s.num_tasks;
  credential.nodes = s.nodes;
  credential.job_node_list = "n1";
  credential.partition = "main";
  credential.cluster = credential_cluster;
  credential.expires = net::Loop::now() + credential_life;
  std::string bytes;
  wire::encode(credential, bytes);
  net::Security security;
  security.authority_secret = credential_key;
  s.credential = *net::sign_credential(security, bytes);
  return s;
}

Ran FakeCluster::srun(std::vector<std::string> args, const std::string& input, const std::function<void(pid_t)>& meanwhile) {
  {
    os::Fd to = *os::open_output(file("srun.in"), {});
    EXPECT_TRUE(os::write_all(to.get(), input));
  }
  os::Fd in = *os::open_input(file("srun.in"));
  os::Fd out = *os::open_output(file("srun.out"), {}), err = *os::open_output(file("srun.err"), {});
  os::SpawnSpec s;
  s.path = MUSTER_SRUN;
  s.argv = {"srun"};
  s.argv.insert(s.argv.end(), args.begin(), args.end());
  s.env = std::vector<std::string>{"PATH=/usr/bin:/bin", "HOME=/tmp",
                                   "SLURM_CONF=" + (conf_for_srun.empty() ? dir() + "/slurm.conf" : conf_for_srun)};
  s.cwd = dir();
  s.fds = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}};
  Duration begin = net::Loop::monotonic();
  auto pid = os::spawn(s);
  EXPECT_TRUE(pid) << pid.error().message();
  if (!pid) return {};
  if (!std::exchange(hears_children_, true)) loop.on_signal(SIGCHLD, [this] { loop.stop(); });
  if (meanwhile) meanwhile(*pid);
  Ran r;
  bool over = run_until([&] {
    int raw = 0;
    if (::waitpid(*pid, &raw, WNOHANG) != *pid) return false;
    r.status = raw;
    return true;
  });
  if (!over) {
    ADD_FAILURE() << "srun did not end";
    ::kill(*pid, SIGKILL);
    ::waitpid(*pid, nullptr, 0);
  }
  r.took = net::Loop::monotonic() - begin;
  r.out = read("srun.out");
  r.err = read("srun.err");
  return r;
}

void FakeCluster::send(NodeOrder order) {
  Numbered<NodeOrder> m;
  m.session = session_;
  m.sequence = ++sent_;
  m.message = std::move(order);
  std::string bytes;
  wire::encode(m, bytes);
  ASSERT_TRUE(channel_);
  channel_->notify(wire::kNodeOrder, std::move(bytes));
}

void FakeCluster::start_slurmd() {
  size_t before = registrations.size();
  os::SpawnSpec s;
  s.path = MUSTER_SLURMD;
  s.argv = {"slurmd", "-D", "-N", "n1", "-f", dir() + "/slurm.conf", "-d", MUSTER_SLURMSTEPD};
  os::Fd out = *os::open_output(dir() + "/slurmd.out", {});
  s.fds = {{out.get(), 1}, {out.get(), 2}};
  auto pid = os::spawn(s);
  ASSERT_TRUE(pid) << pid.error().message();
  slurmd_ = *pid;
  ASSERT_TRUE(run_until([&] { return registrations.size() > before; })) << read("slurmd.out");
}

void FakeCluster::kill_slurmd(int signal) {
  ::kill(slurmd_, signal);
  auto ended = os::wait_child(slurmd_, seconds(10));
  EXPECT_TRUE(ended) << "slurmd did not end";
  slurmd_ = 0;
}

bool FakeCluster::run_until(const std::function<bool()>& done, Duration limit) {
  Duration end = net::Loop::monotonic() + limit;
  while (!done()) {
    if (net::Loop::monotonic() > end) return false;
    auto wake = loop.after(milliseconds(1), [this] { loop.stop(); });
    loop.run();
  }
  return true;
}

node_rpc::LaunchBatch FakeCluster::batch(uint32_t job, const std::string& body) {
  node_rpc::LaunchBatch l;
  jobs_.insert(job);
  l.job.job = JobId(job);
  auto r = std::make_shared<JobRequest>();
  r->uid = Uid(::geteuid());
  r->gid = Gid(::getegid());
  r->user_name = "tester";
  r->name = "job";
  r->work_dir = dir();
  r->argv = {"job.sh"};
  l.job.request = r;
  l.job.node_list = "n1";
  l.job.cpus_per_node = {2};
  l.job.tasks_per_node = {1};
  l.job.share.cpus.set(0);
  l.job.share.cpus.set(1);
  l.job.partition = "main";
  l.job.cluster = "test";
  l.script = "#!/bin/bash\n" + body + "\n";
  l.environment = std::string("PATH=/usr/bin:/bin\0HOME=/tmp\0", 29);
  return l;
}

}  // namespace muster::slurmd::test
