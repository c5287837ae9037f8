#include "slurmstepd/core/profile_book.h"

#include <algorithm>
#include <utility>

namespace muster::slurmstepd {
namespace {

template <class T>
T since(T now, T before) {
  if constexpr (requires { now.value; }) return T(now.value - std::min(now.value, before.value));
  else return now - std::min(now, before);
}

}  // namespace

TaskSample ProfileBook::sample(size_t task, const UseBook& book, LookTime now, bool last) {
  Last& before = tasks_.at(task);
  const UseLook use = book.so_far(task);
  const GpuLook gpus = book.gpus_now(task);
  TaskSample out;
  out.task = ranks_[task];
  out.elapsed = now.elapsed;
  out.at = now.at;
  out.khz = use.khz;
  out.cpu = since(use.user_time + use.system_time, before.use.user_time + before.use.system_time);
  out.interval = since(now.elapsed, before.elapsed);
  out.pages = since(use.pages, before.use.pages);
  out.read = since(use.read, before.use.read);
  out.written = since(use.written, before.use.written);
  out.rss = !last ? use.resident : before.any ? before.rss : use.resident_peak;
  out.vm = last ? before.vm : use.virtual_size;
  out.gpu_util = gpus.util;
  out.gpu_memory = gpus.memory;
  before = {use, out.rss, out.vm, now.elapsed, true};
  return out;
}

std::optional<EnergySample> ProfileBook::energy(uint64_t joules, LookTime now, uint64_t khz) {
  if (power_ && now.elapsed <= power_->elapsed) return {};
  const std::optional<Power> before = std::exchange(power_, Power{joules, now.elapsed});
  if (!before) return {};
  const auto us = static_cast<uint64_t>((now.elapsed - before->elapsed).count());
  return EnergySample{now.elapsed, now.at, since(joules, before->joules) * 1'000'000 / us, khz};
}

}  // namespace muster::slurmstepd
