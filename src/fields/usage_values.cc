#include "fields/usage_values.h"

#include <fmt/format.h>

#include <cmath>

#include "fields/values.h"

namespace muster::fields {
namespace {

constexpr std::string_view kUnits = "KMGTP";

// One thing of a list: what it is called there, and how its amounts print.
enum class Form : uint8_t { kTime, kCount, kBytes };
struct Used {
  std::string_view type, name;
  Form form;
  uint64_t average, total, max, min;
  TaskPlace max_at, min_at;
  bool of_tasks = true;  // false: of nodes, so that no task is named
};

uint64_t number(Duration d) { return static_cast<uint64_t>(std::max<int64_t>(0, d.count() / 1000)); }
uint64_t number(Bytes b) { return b.value; }
uint64_t number(uint64_t n) { return n; }

template <class Amount>
Used used(std::string_view type, std::string_view name, Form form, const Spread<Amount>& s, uint32_t tasks) {
  return {type, name, form, number(average(s, tasks)), number(s.total), number(s.max), number(s.min), s.max_at, s.min_at};
}
// Energy is measured of whole nodes.
Used energy(const StepUsage& u) {
  if (u.energy.parts == 0) return {"energy", "", Form::kCount, 0, 0, 0, 0, u.cpu.max_at, u.cpu.min_at, false};
  Used out = used("energy", "", Form::kCount, u.energy, u.energy.parts);
  out.of_tasks = false;
  return out;
}

std::vector<Used> list_of(const StepUsage& u, UsageDirection direction) {
  if (direction == UsageDirection::kOut) return {energy(u), used("fs", "disk", Form::kCount, u.disk_write, u.tasks)};
  std::vector<Used> out{used("cpu", "", Form::kTime, u.cpu, u.tasks), energy(u), used("fs", "disk", Form::kCount, u.disk_read, u.tasks)};
  if (u.gpu_memory.parts) out.push_back(used("gres", "gpumem", Form::kBytes, u.gpu_memory, u.gpu_memory.parts));
  if (u.gpu_util.parts) out.push_back(used("gres", "gpuutil", Form::kCount, u.gpu_util, u.gpu_util.parts));
  out.push_back(used("mem", "", Form::kBytes, u.rss, u.tasks));
  out.push_back(used("pages", "", Form::kCount, u.pages, u.tasks));
  out.push_back(used("vmem", "", Form::kBytes, u.vm, u.tasks));
  return out;
}

uint64_t amount_of(const Used& u, UsageKind kind) {
  switch (kind) {
    case UsageKind::kAverage: return u.average;
    case UsageKind::kTotal: return u.total;
    case UsageKind::kMax: return u.max;
    case UsageKind::kMaxTask: return u.max_at.task;
    case UsageKind::kMinTask: return u.min_at.task;
    default: return u.min;
  }
}

bool is_node(UsageKind k) { return k == UsageKind::kMaxNode || k == UsageKind::kMinNode; }
bool is_task(UsageKind k) { return k == UsageKind::kMaxTask || k == UsageKind::kMinTask; }

// Numbers of tasks print as amounts do: that of the task with the most CPU time as a time.
void put_amount(const Used& u, UsageKind kind, UsageStyle style, std::string& out) {
  const uint64_t amount = amount_of(u, kind);
  if (u.form == Form::kTime)
    put_cpu_time(is_task(kind) ? seconds(static_cast<int64_t>(amount)) : milliseconds(static_cast<int64_t>(amount)), out);
  else if (is_task(kind) || u.form == Form::kCount) put_number(out, amount);
  else put_bytes_used(Bytes(amount), style, out);
}

}  // namespace

void put_bytes_used(Bytes amount, UsageStyle style, std::string& out) {
  uint64_t whole = amount.value;
  if (style.units && whole) {
    double scaled = static_cast<double>(whole);
    for (char unit : kUnits) {
      scaled /= 1024;
      if (unit == style.units) break;
    }
    const bool is_whole = scaled == std::floor(scaled);
    out += is_whole ? fmt::format("{:.0f}", scaled) : fmt::format("{:.2f}", scaled);
    out += style.units;
    return;
  }
  size_t unit = 0;
  if (!style.noconvert)
    for (; unit < kUnits.size() && whole && whole % 1024 == 0; ++unit) whole /= 1024;
  put_number(out, whole);
  if (unit) out += kUnits[unit - 1];
}

void put_cpu_time(Duration time, std::string& out) { put_span_full(out, std::chrono::floor<std::chrono::seconds>(time)); }

void put_cpu_time_exact(Duration time, std::string& out) {
  if (time <= Duration::zero() || time >= minutes(60)) return put_cpu_time(time, out);
  const int64_t ms = time.count() / 1000;
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}.{:03}", ms / 60'000, ms / 1000 % 60, ms % 1000);
}

void put_energy(uint64_t joules, UsageStyle style, std::string& out) {
  size_t unit = 0;
  auto scaled = static_cast<double>(joules);
  if (!style.noconvert)
    for (; unit < kUnits.size() && (style.units ? unit == 0 || kUnits[unit - 1] != style.units : scaled >= 1000); ++unit) scaled /= 1000;
  if (unit == 0 || joules == 0) return put_number(out, joules);
  out += fmt::format("{:.2f}{}", scaled, kUnits[unit - 1]);
}

uint64_t average_clock(const StepUsage* usage) { return usage ? average(usage->clock, usage->clock.parts) : 0; }

void put_clock(uint64_t khz, UsageStyle style, std::string& out) {
  if (!style.noconvert || khz < 1000) return put_energy(khz, style, out);
  put_number(out, khz / 1000);
  out += 'K';
}

std::string_view node_name(const StepUsage& usage, TaskPlace place) {
  return place.node < usage.nodes.size() ? std::string_view(usage.nodes[place.node]) : std::string_view();
}

void put_tres_used(const StepUsage& usage, UsageDirection direction, UsageKind kind, UsageStyle style, std::string& out) {
  bool first = true;
  for (const Used& u : list_of(usage, direction)) {
    if (is_task(kind) && !u.of_tasks) continue;
    if (!std::exchange(first, false)) out += ',';
    out += u.type;
    if (!u.name.empty()) (out += '/') += u.name;
    out += '=';
    if (is_node(kind)) out += node_name(usage, kind == UsageKind::kMaxNode ? u.max_at : u.min_at);
    else put_amount(u, kind, style, out);
  }
}

void each_tres_used(const StepUsage& usage, UsageDirection direction, UsageKind kind,
                    const std::function<void(std::string_view type, std::string_view name, uint64_t count)>& each) {
  for (const Used& u : list_of(usage, direction)) each(u.type, u.name, amount_of(u, kind));
}

}  // namespace muster::fields
