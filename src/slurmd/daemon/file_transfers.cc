#include "slurmd/daemon/file_transfers.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/text.h"
#include "os/launch.h"

namespace muster::slurmd {
namespace {

constexpr size_t kSaidKept = 1024;
constexpr size_t kMostBytesOfUser = 128u << 20;  // of blocks that its processes have not taken
constexpr Duration kEndsByItself = seconds(5);

std::string key_of(const rpc::SendFile& block, const std::optional<os::Credentials>& who) {
  return std::to_string(who ? who->uid.value : 0) + " " + block.transfer;
}

std::string octal(uint32_t mode) {
  char text[16];
  snprintf(text, sizeof text, "%o", mode);
  return text;
}

}  // namespace

struct FileTransfers::Transfer {
  std::string key;
  Uid uid{};
  pid_t pid = 0;
  std::optional<os::Launch> launch;
  os::Fd input, said;  // its descriptors 0 and 2
  uint64_t size = 0, offset = 0;
  std::string block;  // what is left of it
  bool last = false;
  Done done;  // of the block that is being written
  std::unique_ptr<net::Loop::Watch> watch;
  std::unique_ptr<net::Loop::Timer> silent;
};

FileTransfers::FileTransfers(net::Loop& loop, std::string program) : loop_(loop), program_(std::move(program)) {}
FileTransfers::~FileTransfers() = default;

Result<FileTransfers::Transfer*> FileTransfers::start(const rpc::SendFile& b, const std::optional<os::Credentials>& who) {
  Uid uid = who ? who->uid : Uid(0);
  auto of_user = std::ranges::count_if(transfers_, [&](const auto& t) { return t.second->uid == uid; });
  if (transfers_.size() >= kMostTransfers || static_cast<size_t>(of_user) >= kMostTransfersOfUser)
    return fail(Errc::kNodesBusy, "too many files are being received");
  auto t = std::make_unique<Transfer>();
  int in[2], said[2];
  if (::pipe2(in, O_CLOEXEC) < 0) return fail(Errc::kError, "no pipe");
  os::Fd child_in(in[0]);
  t->input.reset(in[1]);
  if (::pipe2(said, O_CLOEXEC | O_NONBLOCK) < 0) return fail(Errc::kError, "no pipe");
  t->said.reset(said[0]);
  os::Fd child_said(said[1]);
  ::fcntl(t->input.get(), F_SETFL, O_NONBLOCK);
  os::SpawnSpec s;
  s.path = program_;
  std::string flags = std::string("-") + (b.force ? "f" : "") + (b.make_directory ? "d" : "");
  s.argv = {program_,
            "receive",
            b.path,
            std::to_string(b.size),
            octal(b.mode),
            b.transfer,
            flags,
            std::to_string(b.access_time),
            std::to_string(b.change_time)};
  s.cwd = "/";
  s.env = std::vector<std::string>{};
  s.credentials = who;
  s.umask = 077;
  s.process_group = 0;
  s.fds = {{child_in.get(), 0}, {child_said.get(), 1}, {child_said.get(), 2}};
  MUSTER_TRY(launch, os::Launch::start(std::move(s)));
  t->key = key_of(b, who);
  t->uid = uid;
  t->pid = launch.pid();
  t->launch.emplace(std::move(launch));
  t->size = b.size;
  Transfer* raw = t.get();
  transfers_[t->key] = std::move(t);
  return raw;
}

void FileTransfers::take(const rpc::SendFile& b, const std::optional<os::Credentials>& who, Done done) {
  auto at = transfers_.find(key_of(b, who));
  Transfer* t = at == transfers_.end() ? nullptr : at->second.get();
  if (!t) {
    if (b.offset != 0) return done("the transfer is not known here (any more)");
    auto started = start(b, who);
    if (!started) return done(std::string(started.error().message()));
    t = *started;
  }
  size_t waiting = b.data.size();
  for (const auto& [key, other] : transfers_)
    if (other->uid == t->uid) waiting += other->block.size();
  if (waiting > kMostBytesOfUser) return done("too many files are being received");
  if (t->done || b.offset != t->offset || b.size != t->size || b.data.size() > b.size - b.offset) return done("a block came out of order");
  t->offset += b.data.size();
  t->last = t->offset == t->size;
  t->block = b.data;
  t->done = std::move(done);
  t->silent = loop_.after(kTransferSilent, [this, t] { give_up(*t); });
  write(*t);
}

// The process will soon be gone: it sees the end of its bytes and leaves nothing behind, or it is stopped or held up and is killed. The
// transfer is settled when the process is reaped.
void FileTransfers::give_up(Transfer& t) {
  t.watch.reset();
  t.input.reset();
  t.silent = loop_.after(kEndsByItself, [pid = t.pid] { ::kill(pid, SIGKILL); });
}

void FileTransfers::write(Transfer& t) {
  while (!t.block.empty()) {
    ssize_t n = ::write(t.input.get(), t.block.data(), t.block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!t.watch)
        t.watch = loop_.watch(
            t.input.get(), [] {}, [this, raw = &t] { write(*raw); });
      t.watch->pause_read(true);
      t.watch->want_write(true);
      return;
    }
    if (n < 0) return t.watch.reset();  // it has ended: reaped() knows why
    t.block.erase(0, static_cast<size_t>(n));
  }
  t.watch.reset();
  if (!t.last) return answer(t, {});
  t.input.reset();  // reaped() answers
}

void FileTransfers::answer(Transfer& t, std::string fault) {
  if (Done done = std::exchange(t.done, nullptr)) done(std::move(fault));
}

bool FileTransfers::reaped(pid_t pid, int raw_status) {
  auto at = std::ranges::find_if(transfers_, [&](const auto& t) { return t.second->pid == pid; });
  if (at == transfers_.end()) return false;
  std::unique_ptr<Transfer> t = std::move(at->second);
  transfers_.erase(at);
  char said[kSaidKept];
  ssize_t n = ::read(t->said.get(), said, sizeof said);
  std::string text(trim(std::string_view(said, n > 0 ? static_cast<size_t>(n) : 0)));
  os::ExitStatus status = os::ExitStatus::of(raw_status);
  if (auto settled = t->launch->settled(); settled && !*settled) text = settled->error().message();
  if (status.ok() && t->last) text.clear();
  else if (text.empty()) text = "the file could not be received";
  answer(*t, std::move(text));
  return true;
}

}  // namespace muster::slurmd
