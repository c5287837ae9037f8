#include "slurmstepd/task_input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace muster::slurmstepd {

void TaskInput::add(uint32_t rank, os::Fd fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  Task& t = tasks_[rank];
  t.fd = std::move(fd);
  for (const auto& [sender, log] : logs_) t.places[sender] = {log.base + log.entries.size(), 0};  // what came before it is not for it
}

void TaskInput::drop(uint32_t rank) {
  if (tasks_.erase(rank)) settle_all();
}

void TaskInput::add_to(Log& log, const step_rpc::IoData& m) {
  log.total += m.data.size();
  const bool goes_on =
      !log.entries.empty() && log.entries.back().rank == m.rank && log.entries.back().data.size() + m.data.size() <= kLongestEntry;
  if (goes_on) log.entries.back().data += m.data;
  else log.entries.push_back({m.rank, log.total - m.data.size(), m.data});
}

bool TaskInput::take(Sender sender, const step_rpc::IoData& message) {
  const auto [known, fresh] = logs_.try_emplace(sender);
  if (fresh)
    for (auto& [rank, task] : tasks_) task.places[sender] = {};
  if (!message.data.empty()) add_to(known->second, message);
  if (known->second.held() > kInputWindow) return false;
  std::vector<uint32_t> ranks;
  for (auto& [rank, task] : tasks_) {
    if (message.rank != step_rpc::kAllTasks && message.rank != rank) continue;
    task.end = task.end || message.end;
    if (!task.full) ranks.push_back(rank);
  }
  for (uint32_t rank : ranks) write(rank);
  settle(sender);
  return true;
}

void TaskInput::forget(Sender sender) {
  logs_.erase(sender);
  for (auto& [rank, task] : tasks_) task.places.erase(sender);
}

// Moves on to the next byte that is for the task, or to the end.
void TaskInput::move_on(uint32_t rank, const Log& log, Place& place) {
  if (place.entry < log.base) place = {log.base, 0};
  while (place.entry < log.base + log.entries.size()) {
    const Entry& e = log.entries[place.entry - log.base];
    const bool mine = e.rank == rank || e.rank == step_rpc::kAllTasks;
    // The last entry may still grow: a task that has read all of it waits there.
    if (mine && (place.offset < e.data.size() || &e == &log.entries.back())) return;
    place = {place.entry + 1, 0};
  }
}

uint64_t TaskInput::bytes_before(const Log& log, const Place& place) {
  if (place.entry < log.base) return log.taken;
  const size_t i = place.entry - log.base;
  return i < log.entries.size() ? log.entries[i].first + place.offset : log.total;
}

void TaskInput::write(uint32_t rank) {
  auto at = tasks_.find(rank);
  if (at == tasks_.end()) return;
  Task& task = at->second;
  for (auto& [sender, place] : task.places) {
    const Wrote wrote = write_log(rank, task, logs_.at(sender), place);
    if (wrote == Wrote::kClosed) return drop(rank);  // the task closed its input
    if (wrote == Wrote::kFull) return wait(rank, task);
  }
  task.full = false;
  if (task.end) return drop(rank);
  if (task.watch) task.watch->want_write(false);
}

TaskInput::Wrote TaskInput::write_log(uint32_t rank, Task& task, const Log& log, Place& place) {
  while (true) {
    move_on(rank, log, place);
    if (place.entry >= log.base + log.entries.size()) return Wrote::kAll;
    const std::string& data = log.entries[place.entry - log.base].data;
    if (place.offset == data.size()) return Wrote::kAll;
    const ssize_t n = ::write(task.fd.get(), data.data() + place.offset, data.size() - place.offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? Wrote::kFull : Wrote::kClosed;
    place.offset += static_cast<size_t>(n);
  }
}

void TaskInput::wait(uint32_t rank, Task& task) {
  task.full = true;
  if (!task.watch)
    task.watch = loop_.watch(
        task.fd.get(), [] {}, [this, rank] { go_on(rank); });
  task.watch->pause_read(true);
  task.watch->want_write(true);
}

void TaskInput::go_on(uint32_t rank) {
  write(rank);
  settle_all();
}

void TaskInput::settle_all() {
  std::vector<Sender> senders;
  for (const auto& [sender, log] : logs_) senders.push_back(sender);
  for (Sender s : senders) settle(s);
}

// Drops the entries that all tasks are past, and tells their sender.
void TaskInput::settle(Sender sender) {
  auto at = logs_.find(sender);
  if (at == logs_.end()) return;
  Log& log = at->second;
  uint64_t past = log.total;
  for (auto& [rank, task] : tasks_) {
    Place& place = task.places[sender];
    move_on(rank, log, place);
    past = std::min(past, bytes_before(log, place));
  }
  while (!log.entries.empty() && log.entries.front().first + log.entries.front().data.size() <= past) {
    log.entries.pop_front();
    ++log.base;
  }
  const uint64_t more = past - log.taken;
  log.taken = past;
  if (more > 0) taken_(sender, more);
}

}  // namespace muster::slurmstepd
