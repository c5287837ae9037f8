#include "slurmstepd/use_watch.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "os/node/cpu_clock.h"

namespace muster::slurmstepd {
namespace {

// The first look comes soon, so that steps shorter than the interval have their memory seen, too.
constexpr Duration kFirstLook = seconds(1);
constexpr Duration kNodeAgain = milliseconds(200);  // where many tasks end at once

UseLook look_of(const os::ProcessUse& u) {
  UseLook l;
  l.user_time = u.user_time;
  l.system_time = u.system_time;
  l.pages = u.major_faults;
  l.read = Bytes(u.read_bytes);
  l.written = Bytes(u.written_bytes);
  l.resident = Bytes(u.resident_bytes);
  l.virtual_size = Bytes(u.virtual_bytes);
  return l;
}

Duration duration_of(const timeval& t) { return seconds(t.tv_sec) + Duration(t.tv_usec); }

os::ResidentKind kind_of(const step_rpc::StepGather& how) {
  return how.pss ? os::ResidentKind::kPortioned : how.no_shared ? os::ResidentKind::kUnshared : os::ResidentKind::kAll;
}

bool holds(const std::vector<pid_t>& pids, pid_t pid) { return std::ranges::find(pids, pid) != pids.end(); }

}  // namespace

std::unique_ptr<UseWatch> UseWatch::make(net::Loop& loop, const step_rpc::StepdLaunch& launch, Ports ports) {
  if (!launch.gather) return nullptr;
  std::vector<uint32_t> ranks;
  for (const step_rpc::TaskLaunch& t : launch.tasks) ranks.push_back(t.rank);
  return std::make_unique<UseWatch>(loop, *launch.gather, launch.node, std::move(ranks), std::move(ports));
}

UseWatch::UseWatch(net::Loop& loop, const step_rpc::StepGather& how, std::string node, std::vector<uint32_t> ranks, Ports ports)
    : loop_(loop),
      how_(how),
      node_(std::move(node)),
      ranks_(std::move(ranks)),
      ports_(std::move(ports)),
      kind_(kind_of(how)),
      pids_(ranks_.size()),
      book_(ranks_.size()) {
  if (!how_.powercap.empty())
    if (auto rapl = os::Rapl::open(how_.powercap)) rapl_ = std::move(*rapl);
  if (how_.gpu_energy) look_at_node();
}

void UseWatch::begins(size_t task, pid_t pid) { pids_.at(task) = pid; }

void UseWatch::begin_looking() {
  if (ports_.profiler) ports_.profiler->begin();
  if (ports_.profiler && ports_.profiler->energy_interval() > Duration{}) look_at_power();
  if (how_.every_seconds) look_later(std::min<Duration>(kFirstLook, seconds(how_.every_seconds)));
}

void UseWatch::look_later(Duration delay) {
  timer_ = loop_.after(delay, [this] {
    look();
    if (ports_.profiler) ports_.profiler->look(book_, pids_);
    if (any_runs()) look_later(seconds(how_.every_seconds));
  });
}

bool UseWatch::any_runs() const {
  return std::ranges::any_of(pids_, [](pid_t pid) { return pid > 0; });
}

void UseWatch::look_at_power() {
  look_at_node();
  if (joules_) ports_.profiler->energy(*joules_);
  power_timer_ = loop_.after(ports_.profiler->energy_interval(), [this] {
    if (any_runs()) look_at_power();
  });
}

// Adds a process and all below it, however deep.
void UseWatch::add_family(pid_t pid, size_t task, std::vector<UseLook>& looks, Seen& seen) {
  std::vector<pid_t> todo{pid};
  while (!todo.empty() && seen.size() < kMostProcesses) {
    const pid_t next = todo.back();
    todo.pop_back();
    if (!seen.emplace(next, task).second) continue;
    auto use = os::read_process_use(next, kind_);
    if (!use) continue;
    looks[task].add(look_of(*use));
    if (const Duration time = use->user_time + use->system_time; time > busiest_[task].time) busiest_[task] = {time, use->core};
    std::ranges::copy(os::children_of(next, use->threads), std::back_inserter(todo));
  }
}

// What slurmstepd has adopted of a task since the last look is known from that look; of a step's only task it is all.
void UseWatch::add_adopted(std::vector<UseLook>& looks, Seen& seen) {
  const std::vector<pid_t> helpers = ports_.helpers();
  for (pid_t child : os::children_of(::getpid(), 1)) {
    auto known = seen_.find(child);
    if (seen.contains(child) || holds(helpers, child) || (known == seen_.end() && pids_.size() != 1)) continue;
    const size_t task = known == seen_.end() ? 0 : known->second;
    if (pids_[task] > 0) add_family(child, task, looks, seen);
  }
}

// What a control group says of CPU time and memory is exact, also of processes that came and went between two looks.
bool UseWatch::ask_group(size_t task, UseLook& sum) const {
  const os::Cgroup* group = how_.by_cgroup ? ports_.group(task) : nullptr;
  auto usage = group ? group->usage() : fail(Errc::kUnsupported);
  if (!usage) return false;
  sum.user_time = usage->user_time;
  sum.system_time = usage->system_time;
  sum.resident = Bytes(how_.no_file_cache ? usage->rss_bytes : usage->memory_bytes);
  if (!how_.no_file_cache) sum.resident_peak = Bytes(usage->peak_bytes);
  return true;
}

void UseWatch::look() {
  std::vector<UseLook> looks(pids_.size());
  busiest_.assign(pids_.size(), {});
  Seen seen;
  for (size_t i = 0; i < pids_.size(); ++i)
    if (pids_[i] > 0) add_family(pids_[i], i, looks, seen);
  add_adopted(looks, seen);
  seen_ = std::move(seen);
  for (size_t i = 0; i < pids_.size(); ++i) {
    if (pids_[i] == 0) continue;
    ask_group(i, looks[i]);
    if (busiest_[i].time >= Duration{}) looks[i].khz = os::cpu_clock(busiest_[i].core);
    book_.look(i, looks[i]);
  }
  look_at_node();
  const Bytes has = book_.resident_now();
  if (how_.kill_above.value && has > how_.kill_above && !std::exchange(told_, true)) ports_.too_much(has);
}

// Looks at energy and GPUs, whose processes are known from the last look.
void UseWatch::look_at_node() {
  node_seen_ = net::Loop::monotonic();
  if (rapl_) joules_ = rapl_->read() / 1'000'000;
  if (how_.gpu_samples.empty()) return;
  const auto samples = os::read_gpu_samples(how_.gpu_samples);
  if (!samples) return;
  if (how_.gpu_energy && !samples->cards.empty()) {
    for (const os::GpuSamples::Card& card : samples->cards) gpu_energy_.see(std::to_string(card.minor), card.millijoules, 0);
    joules_ = gpu_energy_.sum() / 1000;
  }
  if (how_.gpu_util || how_.gpu_memory) add_gpus(samples->processes);
}

void UseWatch::add_gpus(const std::vector<os::GpuSamples::Process>& processes) {
  std::vector<os::GpuSamples::Process> sums(pids_.size());
  for (const os::GpuSamples::Process& p : processes) {
    const auto ours = seen_.find(p.pid);
    if (ours == seen_.end()) continue;
    sums[ours->second].util += p.util;
    sums[ours->second].memory += p.memory;
  }
  for (size_t i = 0; i < pids_.size(); ++i) {
    if (pids_[i] == 0) continue;
    GpuLook now;
    if (how_.gpu_util) now.util = sums[i].util;
    if (how_.gpu_memory) now.memory = Bytes(sums[i].memory);
    book_.gpus(i, now);
  }
}

void UseWatch::about_to_end(pid_t pid) {
  at_end_ = {};
  if (holds(pids_, pid) && net::Loop::monotonic() - node_seen_ > kNodeAgain) look_at_node();
  if (!holds(pids_, pid) && !seen_.contains(pid)) return;
  const auto use = os::read_process_use(pid);
  if (!use) return;
  at_end_ = look_of(*use);
  // A task that ends before the first look has its clock from here.
  const auto task = std::ranges::find(pids_, pid);
  if (task != pids_.end() && book_.so_far(static_cast<size_t>(task - pids_.begin())).khz == 0) at_end_.khz = os::cpu_clock(use->core);
}

void UseWatch::has_ended(const os::Reaped& child) {
  UseLook used = std::exchange(at_end_, {});
  const auto seen = seen_.extract(child.pid);
  used.user_time = duration_of(child.usage.ru_utime);
  used.system_time = duration_of(child.usage.ru_stime);
  used.pages = static_cast<uint64_t>(child.usage.ru_majflt);
  used.resident_peak = Bytes(static_cast<uint64_t>(child.usage.ru_maxrss) * 1024);
  if (auto task = std::ranges::find(pids_, child.pid); task != pids_.end() && child.pid > 0) {
    *task = 0;
    const auto place = static_cast<size_t>(task - pids_.begin());
    book_.ended(place, used);
    if (ask_group(place, used)) book_.ended(place, used);
    if (!ports_.profiler) return;
    ports_.profiler->ended(book_, place);
    if (any_runs() || !joules_ || !power_timer_) return;
    look_at_node();
    ports_.profiler->energy(*joules_);
  } else if (seen) {
    book_.adopted_ended(seen.mapped(), used);
  }
}

void UseWatch::lower_limit(Bytes kill_above) {
  if (kill_above.value && (!how_.kill_above.value || kill_above < how_.kill_above)) how_.kill_above = kill_above;
}

std::vector<int32_t> UseWatch::all_pids() const {
  std::vector<int32_t> out;
  for (pid_t pid : pids_)
    if (pid > 0) out.push_back(pid);
  for (const auto& [pid, task] : seen_)
    if (!holds(pids_, pid)) out.push_back(pid);
  return out;
}

rpc::StepUseNow UseWatch::told_now() {
  look();
  return {all_pids(), std::make_shared<const StepUsage>(usage(UseBook::Memory::kNow))};
}

StepUsage UseWatch::last_word() const { return usage(UseBook::Memory::kPeaks); }

StepUsage UseWatch::usage(UseBook::Memory memory) const {
  StepUsage out = book_.usage(ranks_, node_, memory);
  if (joules_) add_energy(out, *joules_, node_);
  return out;
}

}  // namespace muster::slurmstepd
