#include "hostlist/hostlist.h"

#include <algorithm>
#include <compare>
#include <unordered_set>

namespace muster {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A name as text and the number at its end (may be empty).
struct Parts {
  std::string_view prefix, digits;
};

Parts parts_of(std::string_view name) {
  size_t at = name.size();
  while (at > 0 && is_digit(name[at - 1])) --at;
  return {name.substr(0, at), name.substr(at)};
}

std::string_view without_zeros(std::string_view digits) {
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

// Whether parse() would read these digits back from within brackets.
bool can_stand_in_brackets(std::string_view digits) { return !digits.empty() && without_zeros(digits).size() <= kMaxHostDigits; }

// Whether `after` is how the number after `before` is written: 09 → 10, 99 → 100, 099 → 100, but not 9 → 010.
bool follows(std::string_view before, std::string_view after) {
  size_t nines = 0;
  while (nines < before.size() && before[before.size() - 1 - nines] == '9') ++nines;
  if (!std::ranges::all_of(after.substr(after.size() - std::min(nines, after.size())), [](char c) { return c == '0'; })) return false;
  if (nines == before.size()) return after.size() == nines + 1 && after.front() == '1';
  size_t carry = before.size() - 1 - nines;
  return after.size() == before.size() && after[carry] == before[carry] + 1 && after.substr(0, carry) == before.substr(0, carry);
}

// Builds the printed list name by name, holding the run of numbers that is still growing.
class Printer {
 public:
  void add(std::string_view name) {
    Parts parts = parts_of(name);
    bool numbered = can_stand_in_brackets(parts.digits);
    if (!numbered) parts = {name, {}};
    if (numbered && open_ && parts.prefix == prefix_) {
      if (follows(last_, parts.digits)) {
        last_ = parts.digits;
        return;
      }
      end_run();
      several_ = true;
      first_ = last_ = parts.digits;
      return;
    }
    end_group();
    prefix_ = parts.prefix;
    if (numbered) {
      open_ = true;
      several_ = false;
      first_ = last_ = parts.digits;
    } else {
      comma();
      out_ += prefix_;
    }
  }
  std::string finish() {
    end_group();
    return std::move(out_);
  }

 private:
  void comma() {
    if (any_) out_ += ',';
    any_ = true;
  }
  void end_run() {
    if (!runs_.empty()) runs_ += ',';
    runs_ += first_;
    if (first_ != last_) {
      runs_ += '-';
      runs_ += last_;
      several_ = true;
    }
  }
  void end_group() {
    if (!open_) return;
    end_run();
    comma();
    out_ += prefix_;
    if (several_) out_ += '[';
    out_ += runs_;
    if (several_) out_ += ']';
    runs_.clear();
    open_ = false;
  }

  std::string out_, runs_;
  std::string_view prefix_, first_, last_;
  bool open_ = false;     // a run of numbers is being collected
  bool several_ = false;  // the open run needs brackets
  bool any_ = false;
};

std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  std::string_view x = without_zeros(a), y = without_zeros(b);
  if (auto c = x.size() <=> y.size(); c != 0) return c;
  if (auto c = x.compare(y) <=> 0; c != 0) return c;
  return a.size() <=> b.size();
}

size_t digits_at(std::string_view s, size_t at) {
  size_t n = 0;
  while (at + n < s.size() && is_digit(s[at + n])) ++n;
  return n;
}

std::strong_ordering compare_natural(std::string_view left, std::string_view right) {
  size_t at_left = 0, at_right = 0;
  while (at_left < left.size() && at_right < right.size()) {
    size_t n = digits_at(left, at_left), m = digits_at(right, at_right);
    if (n && m) {
      if (auto c = compare_numbers(left.substr(at_left, n), right.substr(at_right, m)); c != 0) return c;
      at_left += n;
      at_right += m;
      continue;
    }
    if (auto c = static_cast<unsigned char>(left[at_left]) <=> static_cast<unsigned char>(right[at_right]); c != 0) return c;
    ++at_left;
    ++at_right;
  }
  return (left.size() - at_left) <=> (right.size() - at_right);
}

using NameSet = std::unordered_set<std::string_view>;  // only looked up in, never iterated: its order is arbitrary

}  // namespace

Result<std::vector<std::string>> expand_hosts(std::string_view text, size_t limit) {
  MUSTER_TRY(range, HostRange::parse(text, limit));
  return std::vector<std::string>(range.begin(), range.end());
}

Result<size_t> count_hosts(std::string_view text, size_t limit) {
  MUSTER_TRY(range, HostRange::parse(text, limit));
  return range.size();
}

std::string compress_hosts(std::span<const std::string> hosts) {
  Printer printer;
  for (const std::string& h : hosts) printer.add(h);
  return printer.finish();
}

std::string compress_hosts_sorted(std::span<const std::string> hosts) {
  std::vector<std::string_view> sorted(hosts.begin(), hosts.end());
  std::ranges::sort(sorted, host_less);
  Printer printer;
  for (std::string_view h : sorted) printer.add(h);
  return printer.finish();
}

bool host_less(std::string_view a, std::string_view b) {
  Parts x = parts_of(a), y = parts_of(b);
  if (auto c = compare_natural(x.prefix, y.prefix); c != 0) return c < 0;
  if (x.digits.size() != y.digits.size()) return x.digits.size() < y.digits.size();
  return x.digits < y.digits;
}

std::vector<std::string> unique_hosts(std::span<const std::string> hosts) { return hosts_union(hosts, {}); }

std::vector<std::string> hosts_union(std::span<const std::string> a, std::span<const std::string> b) {
  NameSet seen;
  std::vector<std::string> out;
  for (auto names : {a, b})
    for (const std::string& h : names)
      if (seen.insert(h).second) out.push_back(h);
  return out;
}

std::vector<std::string> hosts_difference(std::span<const std::string> a, std::span<const std::string> b) {
  NameSet seen(b.begin(), b.end());
  std::vector<std::string> out;
  for (const std::string& h : a)
    if (seen.insert(h).second) out.push_back(h);
  return out;
}

std::vector<std::string> hosts_intersection(std::span<const std::string> a, std::span<const std::string> b) {
  NameSet wanted(b.begin(), b.end());
  std::vector<std::string> out;
  for (const std::string& h : a)
    if (wanted.erase(h)) out.push_back(h);
  return out;
}

}  // namespace muster
