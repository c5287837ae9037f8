#include "sim/replay/sacct.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace muster::sim::replay {
namespace {

constexpr int64_t kLatest = 4102444800;  // 2100-01-01

enum class Column : uint8_t {
  kJobIdRaw,
  kJobId,
  kSubmit,
  kEligible,
  kStart,
  kEnd,
  kElapsedRaw,
  kElapsed,
  kTimelimitRaw,
  kTimelimit,
  kState,
  kExitCode,
  kNNodes,
  kAllocNodes,
  kReqNodes,
  kNCpus,
  kAllocCpus,
  kReqCpus,
  kReqTres,
  kAllocTres,
  kReqMem,
  kUser,
  kGroup,
  kAccount,
  kPartition,
  kQos,
  kCount
};
constexpr size_t kColumns = static_cast<size_t>(Column::kCount);
constexpr std::array<std::string_view, kColumns> kNames = {
    "JobIDRaw",  "JobID",     "Submit",   "Eligible", "Start",      "End",      "ElapsedRaw", "Elapsed",   "TimelimitRaw",
    "Timelimit", "State",     "ExitCode", "NNodes",   "AllocNodes", "ReqNodes", "NCPUS",      "AllocCPUS", "ReqCPUS",
    "ReqTRES",   "AllocTRES", "ReqMem",   "User",     "Group",      "Account",  "Partition",  "QOS"};
constexpr size_t kMostColumns = 400;

class Header {
 public:
  // An error says which column is missing.
  static Result<Header> read(std::string_view line) {
    Header header;
    size_t at = 0;
    for (std::string_view name : split(line, '|', true)) {
      if (++at > kMostColumns) return fail(Errc::kInvalidReq, "the header names more than " + std::to_string(kMostColumns) + " columns");
      for (size_t c = 0; c < kColumns; ++c)
        if (iequals(trim(name), kNames[c])) header.at_[c] = at;
    }
    header.count_ = at;
    auto lacks = [&](std::string_view what) {
      return fail(Errc::kInvalidReq, "the first line names no column " + std::string(what), "see docs/replay.md for the sacct command");
    };
    if (!header.any({Column::kSubmit})) return lacks("Submit");
    if (!header.any({Column::kElapsedRaw, Column::kElapsed, Column::kEnd})) return lacks("ElapsedRaw (or Elapsed, or End)");
    if (!header.any({Column::kStart})) return lacks("Start");
    if (!header.any({Column::kReqTres, Column::kAllocTres, Column::kNCpus, Column::kAllocCpus, Column::kReqCpus, Column::kNNodes,
                     Column::kReqNodes}))
      return lacks("ReqTRES (or AllocTRES, ReqCPUS, NNodes)");
    return header;
  }
  size_t count() const { return count_; }
  std::string_view get(const std::vector<std::string_view>& fields, Column c) const {
    const size_t at = at_[static_cast<size_t>(c)];
    return at ? trim(fields[at - 1]) : std::string_view();
  }
  bool any(std::initializer_list<Column> columns) const {
    return std::ranges::any_of(columns, [&](Column c) { return at_[static_cast<size_t>(c)] != 0; });
  }

 private:
  std::array<size_t, kColumns> at_{};  // from 1; 0: not there
  size_t count_ = 0;
};

// One line of a job, being read.
struct Row {
  const Header& header;
  const std::vector<std::string_view>& fields;
  const TraceLimits& limits;
  Trace& trace;
  TraceJob job;
  std::string wrong;

  std::string_view get(Column c) const { return header.get(fields, c); }
  std::string_view first(std::initializer_list<Column> columns) const {
    for (Column c : columns)
      if (std::string_view v = get(c); !v.empty()) return v;
    return {};
  }
  void refuse(Column c) {
    if (wrong.empty())
      wrong = std::string(kNames[static_cast<size_t>(c)]) + " cannot be read: \"" + std::string(get(c).substr(0, 60)) + "\"";
  }
};

int64_t days_before(int64_t y, int64_t m, int64_t d) {  // since 1970, in the proleptic Gregorian calendar
  y -= m <= 2;
  const int64_t era = y / 400, of_era = y - era * 400;
  const int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// "[days-]hh:mm:ss[.fff]", "mm:ss".
std::optional<int64_t> read_span(std::string_view text) {
  int64_t days = 0;
  if (const size_t dash = text.find('-'); dash != text.npos) {
    auto n = parse_number<int64_t>(text.substr(0, dash), 0, 1'000'000);
    if (!n) return std::nullopt;
    days = *n;
    text.remove_prefix(dash + 1);
  }
  text = text.substr(0, text.find('.'));
  const auto parts = split(text, ':', true);
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  int64_t out = 0;
  for (std::string_view part : parts) {
    auto n = parse_number<int64_t>(part, 0, 1'000'000);
    if (!n) return std::nullopt;
    out = out * 60 + *n;
  }
  return days * 86400 + out;
}

void read_times(Row& row) {
  TraceJob& job = row.job;
  auto submit = read_moment(row.get(Column::kSubmit));
  if (!submit) return row.refuse(Column::kSubmit);
  job.submit = *submit;
  job.eligible = std::max(job.submit, read_moment(row.get(Column::kEligible)).value_or(job.submit));
  job.start = read_moment(row.get(Column::kStart)).value_or(kNever);
  job.end = read_moment(row.get(Column::kEnd)).value_or(kNever);
  if (std::string_view raw = row.get(Column::kElapsedRaw); !raw.empty()) {
    auto n = parse_number<int64_t>(raw, 0, row.limits.seconds);
    if (!n) return row.refuse(Column::kElapsedRaw);
    job.run = *n;
  } else if (std::string_view span = row.get(Column::kElapsed); !span.empty()) {
    auto n = read_span(span);
    if (!n || *n > row.limits.seconds) return row.refuse(Column::kElapsed);
    job.run = *n;
  } else if (job.start != kNever && job.end != kNever) {
    job.run = std::max<int64_t>(0, job.end - job.start);
  }
  if (job.start == kNever) job.run = kNever;
}

void read_limit(Row& row) {
  std::string_view text = row.get(Column::kTimelimitRaw);
  if (!text.empty()) {
    if (auto n = parse_number<uint32_t>(text, 0, static_cast<uint32_t>(row.limits.seconds / 60))) row.job.limit_min = std::max(*n, 1u);
    else if (iequals(text, "UNLIMITED")) row.job.limit_min = kNoLimit;
    else if (!iequals(text, "Partition_Limit")) row.refuse(Column::kTimelimitRaw);
    return;
  }
  text = row.get(Column::kTimelimit);
  if (text.empty() || iequals(text, "Partition_Limit")) return;
  if (iequals(text, "UNLIMITED")) {
    row.job.limit_min = kNoLimit;
    return;
  }
  auto span = read_span(text);
  if (!span || *span > row.limits.seconds) return row.refuse(Column::kTimelimit);
  row.job.limit_min = static_cast<uint32_t>(std::max<int64_t>(1, (*span + 59) / 60));
}

void read_state(Row& row) {
  std::string_view state = row.get(Column::kState);
  state = state.substr(0, state.find_first_of(" +"));  // "CANCELLED by 1000"
  const std::pair<std::string_view, Fate> kStates[] = {
      {"COMPLETED", Fate::kCompleted},       {"FAILED", Fate::kFailed},        {"CANCELLED", Fate::kCancelled},
      {"TIMEOUT", Fate::kTimeout},           {"NODE_FAIL", Fate::kNodeFail},   {"BOOT_FAIL", Fate::kNodeFail},
      {"OUT_OF_MEMORY", Fate::kOutOfMemory}, {"RUNNING", Fate::kUnfinished},   {"SUSPENDED", Fate::kUnfinished},
      {"PENDING", Fate::kUnfinished},        {"COMPLETING", Fate::kUnfinished}};
  for (auto [name, fate] : kStates)
    if (iequals(state, name)) row.job.fate = fate;
  // "exit code:signal"
  const std::string_view code = row.get(Column::kExitCode);
  row.job.exit_code = static_cast<uint8_t>(parse_number<uint32_t>(code.substr(0, code.find(':')), 0, 255).value_or(0));
  if (row.job.fate == Fate::kFailed && row.job.exit_code == 0) row.job.exit_code = 1;
}

// MiB of "4G", "62.50G", "1024K", "500"; at most 2^50.
std::optional<uint64_t> read_memory(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.size() > 1 && (unit.back() == 'B' || unit.back() == 'b')) unit.remove_suffix(1);
  constexpr std::string_view kUnits = "KMGTP";
  const size_t power = unit.empty() ? 1 : kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
  if (power == kUnits.npos || unit.size() > 1) return std::nullopt;
  return static_cast<uint64_t>(std::min(std::ceil(std::ldexp(value, 10 * (static_cast<int>(power) - 1))), 0x1p50));
}

void put_license(Row& row, Column column, std::string_view name, std::string_view value) {
  auto count = parse_number<uint32_t>(value, 1);
  if (!count || name.empty() || name.size() > row.limits.name) return row.refuse(column);
  const std::string before = row.job.licenses ? row.trace.licenses.of(row.job.licenses) + "," : "";
  row.job.licenses = row.trace.licenses.add(before + std::string(name) + ":" + std::to_string(*count));
}

void put_amount(Row& row, Column column, std::string_view name, std::string_view value) {
  TraceJob& job = row.job;
  const uint32_t most = row.limits.nodes * 1000;
  if (iequals(name, "mem")) {
    auto mb = read_memory(value);
    if (!mb) return row.refuse(column);
    if (!job.mem_mb) job.mem_mb = *mb;
    return;
  }
  const bool typed = istarts_with(name, "gres/gpu:");
  if (istarts_with(name, "license/")) return put_license(row, column, name.substr(8), value);
  if (!iequals(name, "cpu") && !iequals(name, "node") && !iequals(name, "gres/gpu") && !typed) return;
  auto number = parse_number<uint32_t>(value, 0, most);
  if (!number) return row.refuse(column);
  if (iequals(name, "cpu")) job.cpus = job.cpus ? job.cpus : *number;
  else if (iequals(name, "node")) job.nodes = job.nodes ? job.nodes : std::min(*number, row.limits.nodes);
  else if (iequals(name, "gres/gpu")) job.gpus = *number;
  else {
    // With several types only the number of all GPUs is kept.
    const uint32_t type = row.trace.gpu_types.add(name.substr(9, row.limits.name));
    const bool another = job.gpu_type && job.gpu_type != type;
    job.gpus = std::max(job.gpus, *number);
    job.gpu_type = another ? 0 : type;
  }
}

void read_tres(Row& r, Column c) {
  for (std::string_view item : split(r.get(c), ',')) {
    const size_t eq = item.find('=');
    if (eq == item.npos) return r.refuse(c);
    put_amount(r, c, trim(item.substr(0, eq)), trim(item.substr(eq + 1)));
  }
}

void read_size(Row& row) {
  TraceJob& job = row.job;
  read_tres(row, row.get(Column::kReqTres).empty() ? Column::kAllocTres : Column::kReqTres);
  auto number = [&](std::initializer_list<Column> columns, uint32_t most, uint32_t& into) {
    if (into) return;
    for (Column c : columns) {
      std::string_view text = row.get(c);
      if (text.empty()) continue;
      auto n = parse_number<uint32_t>(text, 0, most);
      if (!n) return row.refuse(c);
      into = *n;
      if (into) return;
    }
  };
  number({Column::kReqNodes, Column::kNNodes, Column::kAllocNodes}, row.limits.nodes, job.nodes);
  number({Column::kReqCpus, Column::kNCpus, Column::kAllocCpus}, row.limits.nodes * 1000, job.cpus);
  if (job.mem_mb) return;
  // "4G", and of older releases "4Gn" for each node, "4Gc" for each CPU; "?" is not known.
  std::string_view mem = row.get(Column::kReqMem);
  if (mem.empty() || mem.front() == '?') return;
  const char per = mem.back();
  if (per == 'n' || per == 'c') mem.remove_suffix(1);
  auto mb = read_memory(mem);
  if (!mb) return row.refuse(Column::kReqMem);
  const uint64_t times = per == 'n' ? std::max(job.nodes, 1u) : per == 'c' ? std::max(job.cpus, 1u) : 1;
  job.mem_mb = std::min<uint64_t>(*mb, uint64_t{1} << 32) * times;
}

void read_names(Row& r) {
  auto name = [&](Column c, Names& names, uint32_t& into) {
    const std::string_view text = r.get(c);
    if (text.size() > r.limits.name || names.size() >= r.limits.names) return r.refuse(c);
    into = names.add(text);
  };
  name(Column::kUser, r.trace.users, r.job.user);
  name(Column::kGroup, r.trace.groups, r.job.group);
  name(Column::kAccount, r.trace.accounts, r.job.account);
  name(Column::kPartition, r.trace.partitions, r.job.partition);
  name(Column::kQos, r.trace.qos, r.job.qos);
}

// "1234", "1234_7", "1234+0"; a step has a point. Tasks and components of which only the number of the whole is known share it.
std::optional<uint64_t> number_of(std::string_view id) { return parse_number<uint64_t>(id.substr(0, id.find_first_of("_+"))); }

void read_row(Row& row, uint64_t line) {
  const std::string_view id = row.first({Column::kJobIdRaw, Column::kJobId});
  if (id.empty()) {
    row.job.number = line;
  } else if (auto n = number_of(id)) {
    row.job.number = *n;
  } else {
    row.wrong = "the job id cannot be read: \"" + std::string(id.substr(0, 60)) + "\"";
    return;
  }
  read_times(row);
  read_limit(row);
  read_state(row);
  read_size(row);
  read_names(row);
  if (row.wrong.empty() && !row.job.nodes && !row.job.cpus && !row.job.gpus)
    row.wrong = "the job has no size: neither nodes nor CPUs nor GPUs";
}

}  // namespace

std::optional<int64_t> read_moment(std::string_view text) {
  if (auto n = parse_number<int64_t>(text, 1, kLatest)) return n;
  auto number = [&](size_t at, size_t length, int64_t low, int64_t high) {
    return parse_number<int64_t>(text.substr(at, length), low, high);
  };
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':') return std::nullopt;
  auto y = number(0, 4, 1970, 2099), mo = number(5, 2, 1, 12), d = number(8, 2, 1, 31);
  auto h = number(11, 2, 0, 23), mi = number(14, 2, 0, 59), s = number(17, 2, 0, 60);
  // What may follow is a zone ("+0100", "Z"), which is the same for the whole file.
  if (!y || !mo || !d || !h || !mi || !s || (text.size() > 19 && text[19] != '+' && text[19] != '-' && text[19] != 'Z'))
    return std::nullopt;
  return days_before(*y, *mo, *d) * 86400 + *h * 3600 + *mi * 60 + *s;
}

std::string print_moment(int64_t moment) {
  int64_t days = moment / 86400, rest = moment % 86400;
  if (rest < 0) --days, rest += 86400;
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
  const int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * of_year + 2) / 153, d = of_year - (153 * month + 2) / 5 + 1, m = month < 10 ? month + 3 : month - 9;
  auto padded = [](int64_t n, size_t digits) {
    const std::string text = std::to_string(n);
    return std::string(digits > text.size() ? digits - text.size() : 0, '0') + text;
  };
  return padded(year_of_era + era * 400 + (m <= 2), 4) + "-" + padded(m, 2) + "-" + padded(d, 2) + "T" + padded(rest / 3600, 2) + ":" +
         padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2);
}

Result<Trace> read_sacct(std::string_view text, const ReadOptions& options) {
  Trace trace;
  trace.format = "sacct";
  Lines lines(text, options.limits.line);
  while (lines.next() && trim(lines.line()).empty()) {
  }
  MUSTER_TRY(header, Header::read(lines.line()));
  std::vector<std::string_view> fields;
  while (lines.next()) {
    if (trim(lines.line()).empty()) continue;
    ++trace.lines;
    if (trace.jobs.size() >= options.limits.jobs)
      return fail(Errc::kInvalidReq, "the trace has more than " + std::to_string(options.limits.jobs) + " jobs");
    fields = split(lines.line(), '|', true);
    if (lines.too_long() || fields.size() != header.count()) {
      wrong_line(trace, options, lines.number(),
                 lines.too_long() ? "it is too long"
                                  : "it has " + std::to_string(fields.size()) + " fields, the header " + std::to_string(header.count()));
      continue;
    }
    Row row{header, fields, options.limits, trace, {}, {}};
    const std::string_view id = row.first({Column::kJobId, Column::kJobIdRaw});
    if (id.find('.') != id.npos) {  // a step
      ++trace.parts_of_jobs;
      continue;
    }
    read_row(row, lines.number());
    if (row.wrong.empty()) trace.jobs.push_back(row.job);
    else wrong_line(trace, options, lines.number(), std::move(row.wrong));
  }
  MUSTER_TRY_VOID(finish_trace(trace));
  return trace;
}

}  // namespace muster::sim::replay
