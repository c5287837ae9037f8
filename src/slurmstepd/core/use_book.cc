#include "slurmstepd/core/use_book.h"

#include <algorithm>

namespace muster::slurmstepd {
namespace {

void add(Bytes& to, Bytes more) { to.value += more.value; }
template <class T>
void raise(T& to, T at_least) {
  to = std::max(to, at_least);
}

}  // namespace

void UseLook::add(const UseLook& o) {
  user_time += o.user_time;
  system_time += o.system_time;
  pages += o.pages;
  slurmstepd::add(read, o.read);
  slurmstepd::add(written, o.written);
  slurmstepd::add(resident, o.resident);
  slurmstepd::add(virtual_size, o.virtual_size);
  slurmstepd::add(resident_peak, o.resident_peak);
}

void UseBook::count(Task& task, const UseLook& used) {
  UseLook sum = used;
  sum.add(task.gone);
  if (used.khz) {
    const Duration more = sum.user_time + sum.system_time - task.most.user_time - task.most.system_time;
    const double seconds = std::max(0.0, static_cast<double>(more.count()) / 1e6);
    task.clocked += static_cast<double>(used.khz) * seconds;
    task.clocked_time += seconds;
    task.khz = used.khz;
  }
  raise(task.most.user_time, sum.user_time);
  raise(task.most.system_time, sum.system_time);
  raise(task.most.pages, sum.pages);
  raise(task.most.read, sum.read);
  raise(task.most.written, sum.written);
  raise(task.most.resident, std::max(used.resident, used.resident_peak));
  raise(task.most.virtual_size, used.virtual_size);
}

// On average over its CPU time; of a task that has used none, the last.
std::optional<uint64_t> UseBook::Task::clock() const {
  if (clocked_time > 0) return static_cast<uint64_t>(clocked / clocked_time);
  return khz ? std::optional(khz) : std::nullopt;
}

void UseBook::look(size_t task, const UseLook& now) {
  if (task >= tasks_.size()) return;
  Task& t = tasks_[task];
  t.resident = now.resident;
  t.virtual_size = now.virtual_size;
  count(t, now);
}

void UseBook::gpus(size_t task, const GpuLook& now) {
  if (task >= tasks_.size()) return;
  Task& t = tasks_[task];
  t.gpu = now;
  raise(t.gpu_most.util, now.util);
  raise(t.gpu_most.memory, now.memory);
}

void UseBook::adopted_ended(size_t task, const UseLook& used) {
  if (task >= tasks_.size()) return;
  UseLook gone = used;
  gone.resident = gone.virtual_size = gone.resident_peak = {};
  tasks_[task].gone.add(gone);
  raise(tasks_[task].most.resident, used.resident_peak);
}

void UseBook::ended(size_t task, const UseLook& used) {
  if (task >= tasks_.size()) return;
  tasks_[task].resident = tasks_[task].virtual_size = {};
  tasks_[task].gpu = {};
  count(tasks_[task], used);
}

Bytes UseBook::resident_now() const {
  Bytes sum;
  for (const Task& t : tasks_) add(sum, t.resident);
  return sum;
}

UseLook UseBook::so_far(size_t task) const {
  if (task >= tasks_.size()) return {};
  const Task& t = tasks_[task];
  UseLook out = t.most;
  out.resident = t.resident;
  out.virtual_size = t.virtual_size;
  out.resident_peak = t.most.resident;
  out.khz = t.khz;
  return out;
}

StepUsage UseBook::usage(const std::vector<uint32_t>& ranks, const std::string& node, Memory memory) const {
  StepUsage out;
  Bytes virtual_now, gpu_now;
  uint64_t util_now = 0;
  for (size_t i = 0; i < tasks_.size() && i < ranks.size(); ++i) {
    const UseLook& m = tasks_[i].most;
    add_task(out,
             {ranks[i], m.user_time, m.system_time, m.resident, m.virtual_size, m.read, m.written, m.pages, tasks_[i].gpu_most.util,
              tasks_[i].gpu_most.memory, tasks_[i].clock()},
             node);
    util_now += tasks_[i].gpu.util.value_or(0);
    add(gpu_now, tasks_[i].gpu.memory.value_or(Bytes()));
    add(virtual_now, tasks_[i].virtual_size);
  }
  if (memory == Memory::kNow) {
    out.rss.total = resident_now();
    out.vm.total = virtual_now;
    out.gpu_util.total = util_now;
    out.gpu_memory.total = gpu_now;
  }
  return out;
}

}  // namespace muster::slurmstepd
