#include "slurmd/daemon/file_transfers.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/text.h"
#include "os/job_namespace.h"
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
  os::Fd input, said;                           // its descriptors 0 and 2
  std::pair<os::OpenNamespace, os::Fd> needed;  // until it runs its program
  uint64_t size = 0, offset = 0;
  std::string block;  // what is left of it
  bool last = false;
  Done done;  // of the block that is being written
  std::unique_ptr<net::Loop::Watch> watch;
  std::unique_ptr<net::Loop::Timer> silent;
};

FileTransfers::FileTransfers(net::Loop& loop, std::string program) : loop_(loop), program_(std::move(program)) {}
FileTransfers::~FileTransfers() = default;

Result<FileTransfers::Transfer*> FileTransfers::start(const rpc::SendFile& block, const Owner& owner) {
  const auto& who = owner.who;
  Uid uid = who ? who->uid : Uid(0);
  auto of_user = std::ranges::count_if(transfers_, [&](const auto& t) { return t.second->uid == uid; });
  if (transfers_.size() >= kMostTransfers || static_cast<size_t>(of_user) >= kMostTransfersOfUser)
    return fail(Errc::kNodesBusy, "too many files are being received");
  auto transfer = std::make_unique<Transfer>();
  int in[2], said[2];
  if (::pipe2(in, O_CLOEXEC) < 0) return fail(Errc::kError, "no pipe");
  os::Fd child_in(in[0]);
  transfer->input.reset(in[1]);
  if (::pipe2(said, O_CLOEXEC | O_NONBLOCK) < 0) return fail(Errc::kError, "no pipe");
  transfer->said.reset(said[0]);
  os::Fd child_said(said[1]);
  ::fcntl(transfer->input.get(), F_SETFL, O_NONBLOCK);
  os::SpawnSpec spec;
  spec.path = program_;
  os::OpenNamespace space;
  os::Fd program;
  if (!owner.name_space.empty()) {
    MUSTER_TRY(opened, os::open_job_namespace(owner.name_space));
    space = std::move(opened);
    spec.namespaces = space.fds();
    // In there, the program's own folder may be one that is private to the job.
    program.reset(::open(program_.c_str(), O_PATH | O_CLOEXEC));
    if (!program) return fail(Errc::kError, program_ + ": cannot be opened");
    spec.path = "/proc/self/fd/" + std::to_string(program.get());
  }
  std::string flags = std::string("-") + (block.force ? "f" : "") + (block.make_directory ? "d" : "");
  spec.argv = {program_,
               "receive",
               block.path,
               std::to_string(block.size),
               octal(block.mode),
               block.transfer,
               flags,
               std::to_string(block.access_time),
               std::to_string(block.change_time)};
  spec.cwd = "/";
  spec.env = std::vector<std::string>{};
  spec.credentials = who;
  spec.umask = 077;
  spec.process_group = 0;
  spec.fds = {{child_in.get(), 0}, {child_said.get(), 1}, {child_said.get(), 2}};
  MUSTER_TRY(launch, os::Launch::start(std::move(spec)));
  transfer->key = key_of(block, who);
  transfer->uid = uid;
  transfer->pid = launch.pid();
  transfer->launch.emplace(std::move(launch));
  transfer->needed = {std::move(space), std::move(program)};
  transfer->size = block.size;
  Transfer* raw = transfer.get();
  transfers_[transfer->key] = std::move(transfer);
  return raw;
}

void FileTransfers::take(const rpc::SendFile& block, const Owner& owner, Done done) {
  auto at = transfers_.find(key_of(block, owner.who));
  Transfer* transfer = at == transfers_.end() ? nullptr : at->second.get();
  if (!transfer) {
    if (block.offset != 0) return done("the transfer is not known here (any more)");
    auto started = start(block, owner);
    if (!started) return done(std::string(started.error().message()));
    transfer = *started;
  }
  size_t waiting = block.data.size();
  for (const auto& [key, other] : transfers_)
    if (other->uid == transfer->uid) waiting += other->block.size();
  if (waiting > kMostBytesOfUser) return done("too many files are being received");
  if (transfer->done || block.offset != transfer->offset || block.size != transfer->size || block.data.size() > block.size - block.offset)
    return done("a block came out of order");
  transfer->offset += block.data.size();
  transfer->last = transfer->offset == transfer->size;
  transfer->block = block.data;
  transfer->done = std::move(done);
  transfer->silent = loop_.after(kTransferSilent, [this, transfer] { give_up(*transfer); });
  write(*transfer);
}

// The process will soon be gone: it sees the end of its bytes and leaves nothing behind, or it is stopped or held up and is killed. The
// transfer is settled when the process is reaped.
void FileTransfers::give_up(Transfer& t) {
  t.watch.reset();
  t.input.reset();
  t.silent = loop_.after(kEndsByItself, [pid = t.pid] { ::kill(pid, SIGKILL); });
}

void FileTransfers::write(Transfer& transfer) {
  while (!transfer.block.empty()) {
    ssize_t written = ::write(transfer.input.get(), transfer.block.data(), transfer.block.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      if (!transfer.watch)
        transfer.watch = loop_.watch(
            transfer.input.get(), [] {}, [this, raw = &transfer] { write(*raw); });
      transfer.watch->pause_read(true);
      transfer.watch->want_write(true);
      return;
    }
    if (written < 0) return transfer.watch.reset();  // it has ended: reaped() knows why
    transfer.block.erase(0, static_cast<size_t>(written));
  }
  transfer.watch.reset();
  if (!transfer.last) return answer(transfer, {});
  transfer.input.reset();  // reaped() answers
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
