// TaskInput: the input that srun, and whoever is attached, send to the tasks, on its way into their pipes. Each sender has a log of what is
// not in all pipes yet, and each task a place in each log: so input for all tasks is kept once however many there are, and many small
// writes cost as little as a large one. A sender is told what has been taken; one that goes beyond its window (kInputWindow) breaks the
// protocol. Nobody waits for another sender's input.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/step_rpc.h"
#include "net/loop.h"
#include "os/fd.h"

namespace muster::net {
class Channel;
}

namespace muster::slurmstepd {

// No sender that keeps to the protocol has more input on its way at a time: srun stops at half a MiB and what it has just read.
inline constexpr size_t kInputWindow = 2u << 20;

class TaskInput {
 public:
  using Sender = const net::Channel*;
  // `taken`: this many more bytes of the sender are in the pipes of the tasks they were for, or will never be.
  TaskInput(net::Loop& loop, std::function<void(Sender, size_t bytes)> taken) : loop_(loop), taken_(std::move(taken)) {}

  // The writing end of a task's stdin.
  void add(uint32_t rank, os::Fd fd);
  void drop(uint32_t rank);
  // False: the sender has gone beyond its window.
  [[nodiscard]] bool take(Sender sender, const step_rpc::IoData& message);
  void forget(Sender sender);  // it is gone, and what it sent goes too
  size_t tasks() const { return tasks_.size(); }

 private:
  static constexpr size_t kLongestEntry = 64u << 10;
  struct Entry {
    uint32_t rank = 0;   // or kAllTasks
    uint64_t first = 0;  // how many bytes were before it
    std::string data;
  };
  struct Log {
    std::deque<Entry> entries;
    uint64_t base = 0;   // the number of the front entry
    uint64_t total = 0;  // bytes ever sent
    uint64_t taken = 0;  // of them, in the pipes
    size_t held() const { return total - taken + entries.size() * sizeof(Entry); }
  };
  struct Place {
    uint64_t entry = 0;
    size_t offset = 0;
  };
  struct Task {
    os::Fd fd;
    std::unique_ptr<net::Loop::Watch> watch;
    std::map<Sender, Place> places;
    bool end = false, full = false;  // full: its pipe
  };
  enum class Wrote : uint8_t { kAll, kFull, kClosed };

  void add_to(Log& log, const step_rpc::IoData& m);
  static void move_on(uint32_t rank, const Log& log, Place& place);
  static uint64_t bytes_before(const Log& log, const Place& place);
  void write(uint32_t rank);
  Wrote write_log(uint32_t rank, Task& task, const Log& log, Place& place);
  void wait(uint32_t rank, Task& task);
  void go_on(uint32_t rank);
  void settle(Sender sender);
  void settle_all();

  net::Loop& loop_;
  std::function<void(Sender, size_t)> taken_;
  std::map<uint32_t, Task> tasks_;
  std::map<Sender, Log> logs_;
};

}  // namespace muster::slurmstepd
