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

void UseBook::count(Task& t, const UseLook& used) {
  UseLook sum = used;
  sum.add(t.gone);
  raise(t.most.user_time, sum.user_time);
  raise(t.most.system_time, sum.system_time);
  raise(t.most.pages, sum.pages);
  raise(t.most.read, sum.read);
  raise(t.most.written, sum.written);
  raise(t.most.resident, std::max(used.resident, used.resident_peak));
  raise(t.most.virtual_size, used.virtual_size);
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

StepUsage UseBook::usage(const std::vector<uint32_t>& ranks, const std::string& node, Memory memory) const {
  StepUsage out;
  Bytes virtual_now, gpu_now;
  uint64_t util_now = 0;
  for (size_t i = 0; i < tasks_.size() && i < ranks.size(); ++i) {
    const UseLook& m = tasks_[i].most;
    add_task(out,
             {ranks[i], m.user_time, m.system_time, m.resident, m.virtual_size, m.read, m.written, m.pages, tasks_[i].gpu_most.util,
              tasks_[i].gpu_most.memory},
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
