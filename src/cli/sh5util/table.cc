#include "cli/sh5util/table.h"

#include <algorithm>

#include "base/text.h"
#include "wire/profile_file.h"

namespace muster::cli {
namespace {

constexpr double kMegabyte = 1 << 20;

double seconds_of(Duration d) { return static_cast<double>(d.count()) / 1e6; }
uint64_t whole_seconds(Duration d) { return static_cast<uint64_t>(std::max<int64_t>(0, d.count() / 1'000'000)); }

void put(Table& table, std::string_view name, bool real, double fraction, uint64_t whole) {
  auto at = std::ranges::find(table.columns, name, &Column::name);
  if (at == table.columns.end()) at = table.columns.insert(at, Column{std::string(name), real, {}, {}});
  if (real) at->fractions.push_back(fraction);
  else at->whole.push_back(whole);
}
void put_whole(Table& table, std::string_view name, uint64_t value) { put(table, name, false, 0, value); }
void put_real(Table& table, std::string_view name, double value) { put(table, name, true, value, 0); }

void put_times(Table& table, Duration elapsed, Time at) {
  put_whole(table, "ElapsedTime", whole_seconds(elapsed));
  put_whole(table, "EpochTime", whole_seconds(at.time_since_epoch()));
}

void add(Table& to, const TaskSample& sample, bool gpus) {
  put_times(to, sample.elapsed, sample.at);
  put_whole(to, "CPUFrequency", sample.khz);
  const double cpu = seconds_of(sample.cpu), interval = seconds_of(sample.interval);
  put_real(to, "CPUTime", cpu);
  put_real(to, "CPUUtilization", interval > 0 ? 100 * cpu / interval : 0);
  put_whole(to, "RSS", sample.rss.value / 1024);
  put_whole(to, "VMSize", sample.vm.value / 1024);
  put_whole(to, "Pages", sample.pages);
  put_real(to, "ReadMB", static_cast<double>(sample.read.value) / kMegabyte);
  put_real(to, "WriteMB", static_cast<double>(sample.written.value) / kMegabyte);
  if (!gpus) return;
  put_real(to, "GPUMemMB", static_cast<double>(sample.gpu_memory.value_or(Bytes()).value) / kMegabyte);
  put_real(to, "GPUUtilization", static_cast<double>(sample.gpu_util.value_or(0)));
}

void add(Table& to, const EnergySample& sample) {
  put_times(to, sample.elapsed, sample.at);
  put_whole(to, "Power", sample.watts);
  put_whole(to, "CPUFrequency", sample.khz);
}

// "Read_Megabytes" is ReadMB, and "Megabytes_In" InMB.
std::string short_name(std::string_view name) {
  std::string out = to_lower(name);
  std::erase(out, '_');
  constexpr std::string_view kLong = "megabytes";
  if (const size_t at = out.find(kLong); at != out.npos) out = out.erase(at, kLong.size()) + "mb";
  return out;
}

}  // namespace

const Column* Table::find(std::string_view name) const {
  auto at = std::ranges::find(columns, name, &Column::name);
  return at == columns.end() ? nullptr : &*at;
}

std::string column_named(const Table& table, std::string_view name) {
  for (const Column& column : table.columns)
    if (iequals(column.name, short_name(name))) return column.name;
  return {};
}

// Of one recording: a day of a thousand tasks at a sample each minute.
constexpr size_t kMostSamples = 2u << 20, kMostTasks = 1u << 14;

Result<Recording> read_recording(std::string_view bytes) {
  MUSTER_TRY(reader, wire::ProfileReader::open(bytes));
  Recording out;
  std::map<uint32_t, std::vector<TaskSample>> samples;
  ProfileChunk chunk;
  size_t kept = 0;
  for (;;) {
    const auto more = reader.next(chunk);
    if (!more) out.fault = more.error().message();
    if (!more || !*more) break;
    if (chunk.header) out.tables.header = *chunk.header;
    kept += chunk.tasks.size() + chunk.energy.size();
    for (const TaskSample& sample : chunk.tasks) samples[sample.task].push_back(sample);
    if (kept > kMostSamples || samples.size() > kMostTasks) {
      out.fault =
          "has more than " + std::to_string(kMostSamples) + " samples or " + std::to_string(kMostTasks) + " tasks: the rest is left out";
      break;
    }
    for (const EnergySample& sample : chunk.energy) add(out.tables.energy ? *out.tables.energy : out.tables.energy.emplace(), sample);
  }
  for (const auto& [task, its] : samples) {
    const bool gpus = std::ranges::any_of(its, [](const TaskSample& s) { return s.gpu_util || s.gpu_memory; });
    for (const TaskSample& sample : its) add(out.tables.tasks[task], sample, gpus);
  }
  return out;
}

}  // namespace muster::cli
