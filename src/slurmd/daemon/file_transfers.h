// FileTransfers: files of sbcast on their way to this node. Each is written by a process of its own that runs as its owner (`slurmstepd
// receive`). A block goes into that process's pipe and is answered when all of it is in, the last one when the process has put the file
// into its place. Bounded: kMostTransfers at a time, one block each; a sender that is silent for kTransferSilent is given up, and nothing
// is left of its file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/step_rpc.h"
#include "net/loop.h"
#include "os/fd.h"
#include "os/process.h"

namespace muster::slurmd {

inline constexpr size_t kMostTransfers = 64, kMostTransfersOfUser = 16;
inline constexpr Duration kTransferSilent = seconds(120);

class FileTransfers {
 public:
  using Done = std::function<void(std::string fault)>;  // "" = the block is taken
  FileTransfers(net::Loop& loop, std::string program);
  ~FileTransfers();

  // As whom a file is written (none: as slurmd itself), and in which namespace of a job; "": the node's.
  struct Owner {
    std::optional<os::Credentials> who;
    std::string name_space;
  };
  // Blocks come in order, the next one after the answer to the last.
  void take(const rpc::SendFile& block, const Owner& owner, Done done);
  // Called for each child that SIGCHLD reports; true: it was one of ours.
  bool reaped(pid_t pid, int raw_status);
  size_t count() const { return transfers_.size(); }

 private:
  struct Transfer;
  Result<Transfer*> start(const rpc::SendFile& block, const Owner& owner);
  void write(Transfer& transfer);
  void answer(Transfer& transfer, std::string fault);
  void give_up(Transfer& transfer);

  net::Loop& loop_;
  std::string program_;
  std::map<std::string, std::unique_ptr<Transfer>> transfers_;  // by the sender's id and its uid
};

}  // namespace muster::slurmd
