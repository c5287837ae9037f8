#include "plugin/mpi_pmi2/module.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>

namespace muster::mpi_pmi2 {
namespace {

constexpr size_t kMostUnwritten = 8u << 20;
constexpr int kFirstTaskSocket = 4, kMostLastReads = 64;

// One value. A fence's data are many of them, one behind the other (repeated fields of Protocol Buffers may be joined so).
struct Put {
  std::string key, value;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "key", self.key);
    field(2, "value", self.value);
  }
};
struct Puts {
  std::vector<Put> puts;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "puts", self.puts);
  }
};

}  // namespace

Result<std::vector<mpi_rpc::TaskVariables>> Module::prepare() {
  uint32_t size = 0;
  for (const mpi_rpc::NodeRanks& n : setup().nodes) size += static_cast<uint32_t>(n.ranks.size());
  const std::string mapping = process_mapping(setup().nodes);
  std::vector<mpi_rpc::TaskVariables> out;
  int fd = kFirstTaskSocket;
  for (uint32_t rank : setup().nodes[start().node_id].ranks) {
    tasks_.push_back(make_task(rank, fd++, size, mapping));
    out.push_back({rank,
                   {"PMI_FD=" + std::to_string(setup().task_descriptor), "PMI_RANK=" + std::to_string(rank),
                    "PMI_SIZE=" + std::to_string(size), "PMI_JOBID=" + std::to_string(start().job.value)}});
  }
  return out;
}

std::unique_ptr<Module::Task> Module::make_task(uint32_t rank, int fd, uint32_t size, const std::string& mapping) {
  auto task = std::make_unique<Task>();
  Task* made = task.get();
  made->rank = rank;
  made->fd = net::UniqueFd(fd);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  Session::Ports ports;
  ports.write = [this, made](const std::string& bytes) { write_to(*made, bytes); };
  ports.put = [this](std::string key, std::string value) {
    wire::encode(Puts{{{key, value}}}, puts_);
    keys_[std::move(key)] = std::move(value);
  };
  ports.get = [this](const std::string& key) -> std::optional<std::string> {
    auto at = keys_.find(key);
    return at == keys_.end() ? std::nullopt : std::optional(at->second);
  };
  ports.put_node = [this](std::string key, std::string value) { put_node(std::move(key), std::move(value)); };
  ports.get_node = [this](const std::string& key) -> std::optional<std::string> {
    auto at = node_keys_.find(key);
    return at == node_keys_.end() ? std::nullopt : std::optional(at->second);
  };
  ports.fence = [this, made] {
    made->in_fence = true;
    fence_if_all();
  };
  ports.abort = [this](const std::string& text) {
    aborted_ = true;
    tell(mpi_rpc::ModuleAbort{text});
  };
  std::string job = "slurm.pmi." + std::to_string(start().job.value) + "." + std::to_string(start().step.value);
  made->session = std::make_unique<Session>(std::move(job), rank, size, mapping, std::move(ports));
  made->watch = loop().watch(
      fd, [this, made] { read_from(*made); }, [this, made] { write_to(*made, {}); });
  return task;
}

// ---- tasks
void Module::read_from(Task& t) { take(t); }

// Takes what the task has written, at most a buffer of it. False: there is no more now, or the task is dropped.
bool Module::take(Task& t) {
  std::span<char> buffer = loop().scratch();
  ssize_t n = ::recv(t.fd.get(), buffer.data(), buffer.size(), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) return drop(t), false;
  if (auto ok = t.session->read({buffer.data(), static_cast<size_t>(n)}); !ok) {
    tell(mpi_rpc::ModuleNote{"error: mpi/pmi2: task " + std::to_string(t.rank) + ": " + std::string(ok.error().message())});
    return drop(t), false;
  }
  return true;
}

void Module::write_to(Task& task, const std::string& bytes) {
  if (task.gone) return;
  task.unwritten += bytes;
  ssize_t n = task.unwritten.empty() ? 0 : ::send(task.fd.get(), task.unwritten.data(), task.unwritten.size(), MSG_NOSIGNAL);
  if (n > 0) task.unwritten.erase(0, static_cast<size_t>(n));
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    // Nobody reads it any more. Dropped later: what is being answered may be going through the tasks, as a fence's end does.
    task.unwritten.clear();
    loop().defer([this, &task] { drop(task); });
  }
  task.watch->want_write(!task.unwritten.empty());
  task.watch->pause_read(task.unwritten.size() > kMostUnwritten);
}

// What the task said last may not have been read yet, and may be that it aborts. A child that it left may go on writing: that is not waited for.
void Module::on_task_gone(const mpi_rpc::TaskGone& gone) {
  for (auto& t : tasks_) {
    if (t->rank != gone.rank || t->gone) continue;
    for (int i = 0; i < kMostLastReads && take(*t); ++i) {
    }
    drop(*t);
  }
}

// The task ended, or its socket did: the others do not wait for it.
void Module::drop(Task& t) {
  if (std::exchange(t.gone, true)) return;
  t.watch.reset();
  t.fd.reset();
  fence_if_all();
}

void Module::put_node(std::string key, std::string value) {
  node_keys_[std::move(key)] = std::move(value);
  for (auto& t : tasks_)
    if (!t->gone) t->session->node_attribute_came();
}

// ---- other nodes
// After an abort no fence ends: whoever waits in one is about to be killed, and must not go on as if the task that gave up had been there.
void Module::fence_if_all() {
  if (aborted_) return;
  bool any = std::ranges::any_of(tasks_, [](const auto& t) { return t->in_fence && !t->gone; });
  bool all = std::ranges::all_of(tasks_, [](const auto& t) { return t->in_fence || t->gone; });
  if (!any || !all || fencing_) return;
  fencing_ = true;
  std::vector<uint32_t> nodes;
  for (uint32_t n = 0; n < setup().nodes.size(); ++n)
    if (!setup().nodes[n].ranks.empty()) nodes.push_back(n);
  enter_fence("*", std::move(nodes), std::exchange(puts_, {}), deadline(), [this](Result<std::string> r) { fence_over(std::move(r)); });
}

void Module::fence_over(Result<std::string> data) {
  fencing_ = false;
  Puts all;
  if (!data) {
    tell(mpi_rpc::ModuleNote{"error: mpi/pmi2: " + std::string(data.error().message())});
  } else if (auto ok = wire::decode(*data, all); !ok) {
    data = std::unexpected(ok.error());
  }
  for (Put& p : all.puts) keys_[std::move(p.key)] = std::move(p.value);
  for (auto& t : tasks_) {
    if (t->gone || !std::exchange(t->in_fence, false)) continue;
    t->session->fence_over(data.has_value());
  }
}

}  // namespace muster::mpi_pmi2
