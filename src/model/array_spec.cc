#include "model/array_spec.h"

#include "base/text.h"

namespace muster {
namespace {

constexpr uint64_t kTimesNamed = 4;  // ranges may overlap, but a short text must not cause long work

std::unexpected<Error> bad(std::string_view piece, std::string why) {
  return fail(Errc::kInvalidArray, {}, "in \"" + std::string(piece.substr(0, 60)) + "\": " + std::move(why));
}

// One element: N, N-M or N-M:S.
Result<> add_element(std::string_view element, uint32_t max_id, uint64_t& named, Bitmap& out) {
  std::string_view range = element, step_text;
  if (size_t colon = element.find(':'); colon != element.npos) {
    range = element.substr(0, colon);
    step_text = element.substr(colon + 1);
    if (step_text.empty()) return bad(element, "a step is expected after ':'");
  }
  const size_t dash = range.find('-');
  if (!step_text.empty() && dash == range.npos) return bad(element, "a step needs a range, as in 0-15:4");
  auto first = parse_number<uint32_t>(range.substr(0, dash));
  auto last = dash == range.npos ? first : parse_number<uint32_t>(range.substr(dash + 1));
  if (!first || !last) return bad(element, "task ids are whole numbers from 0, ranges are first-last");
  if (*last < *first) return bad(element, "the range runs backwards");
  if (*last > max_id) return bad(element, "the largest task id here is " + std::to_string(max_id) + " (MaxArraySize - 1)");
  uint32_t step = 1;
  if (!step_text.empty()) {
    auto s = parse_number<uint32_t>(step_text, 1, kMaxArrayTaskId);
    if (!s) return bad(element, "a step is a whole number from 1");
    step = *s;
  }
  named += (uint64_t{*last} - *first) / step + 1;
  if (named > kTimesNamed * (uint64_t{max_id} + 1)) return bad(element, "the ranges name the same task ids again and again");
  for (uint64_t i = *first; i <= *last; i += step) out.set(i);
  return {};
}

// The step of a set that is one arithmetic progression worth writing as first-last:step, else 0. Slurm writes short progressions as lists.
size_t step_of(const Bitmap& set) {
  const size_t first = set.first(), second = set.next(first + 1);
  if (second == Bitmap::npos || second - first < 2) return 0;
  const size_t step = second - first;
  size_t count = 2, at = second;
  for (size_t next = set.next(at + 1); next != Bitmap::npos; next = set.next(at + 1)) {
    if (next - at != step) return 0;
    at = next;
    ++count;
  }
  return count > 6 || (count == 6 && step > 2) ? step : 0;
}

size_t last_of(const Bitmap& set) {
  for (size_t w = set.words().size(); w-- > 0;)
    if (uint64_t bits = set.words()[w]) return w * 64 + 63 - static_cast<size_t>(std::countl_zero(bits));
  return Bitmap::npos;
}

// First member at or after `from` that is not in the set.
size_t end_of_run(const Bitmap& set, size_t from) {
  while (from < set.size()) {
    const uint64_t clear = ~set.words()[from / 64] & (~0ull << (from % 64));
    if (clear) return std::min(set.size(), from / 64 * 64 + static_cast<size_t>(std::countr_zero(clear)));
    from = (from / 64 + 1) * 64;
  }
  return set.size();
}

// The set as "1-3,5". Stops once the text is longer than `enough` (0 = never).
std::string list_of(const Bitmap& set, size_t enough) {
  std::string out;
  for (size_t first = set.first(); first != Bitmap::npos;) {
    const size_t end = end_of_run(set, first);
    if (!out.empty()) out += ',';
    out += std::to_string(first);
    if (end - first > 1) {
      out += '-';
      out += std::to_string(end - 1);
    }
    if (enough && out.size() > enough) break;
    first = set.next(end);
  }
  return out;
}

}  // namespace

Result<ArrayTasks> parse_array_spec(std::string_view text, uint32_t max_id) {
  max_id = std::min(max_id, kMaxArrayTaskId);
  std::string_view rest = trim(text);
  ArrayTasks out;
  auto unwrap = [&] {
    if (rest.size() >= 2 && rest.front() == '[' && rest.back() == ']') rest = trim(rest.substr(1, rest.size() - 2));
  };
  unwrap();
  if (size_t percent = rest.find('%'); percent != rest.npos) {
    auto limit = parse_number<uint32_t>(trim(rest.substr(percent + 1)));
    if (!limit) return bad(text, "the number of tasks that may run at once is expected after '%'");
    out.max_running = *limit;
    rest = trim(rest.substr(0, percent));
    unwrap();
  }
  uint64_t named = 0;
  for (std::string_view element : split(rest, ','))
    if (element = trim(element); !element.empty()) MUSTER_TRY_VOID(add_element(element, max_id, named, out.pending));
  if (out.pending.none()) return bad(text, "no task id is given");
  return out;
}

Result<ArrayExtent> ArrayExtent::parse(std::string_view text) {
  MUSTER_TRY(tasks, parse_array_spec(text, kMaxArrayTaskId));
  ArrayExtent out;
  out.count = static_cast<uint32_t>(tasks.pending.count());
  const size_t first = tasks.pending.first();
  size_t last = first, step = 0;
  for (size_t task = tasks.pending.next(first + 1); task != Bitmap::npos; task = tasks.pending.next(task + 1)) {
    const size_t gap = task - last;
    step = step == 0 || step == gap ? gap : 1;
    last = task;
  }
  out.min = static_cast<uint32_t>(first);
  out.max = static_cast<uint32_t>(last);
  out.step = static_cast<uint32_t>(std::max<size_t>(1, step));
  return out;
}

std::string format_array_tasks(const ArrayTasks& tasks, size_t length) {
  if (tasks.pending.none()) return {};
  std::string out;
  if (const size_t step = step_of(tasks.pending))
    out = std::to_string(tasks.pending.first()) + '-' + std::to_string(last_of(tasks.pending)) + ':' + std::to_string(step);
  else out = list_of(tasks.pending, length);
  if (length && out.size() + 1 > length) {
    out.resize(length > 4 ? length - 4 : 0);
    out += "...";
  }
  if (tasks.max_running) out += '%' + std::to_string(tasks.max_running);
  return out;
}

}  // namespace muster
