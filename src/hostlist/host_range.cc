#include "hostlist/host_range.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_control(char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }

size_t decimal_digits(uint64_t v) {
  size_t n = 1;
  while (v >= 10) v /= 10, ++n;
  return n;
}

}  // namespace

// Reads one list from left to right. Every function leaves at_ behind the text it took, or at the character that is wrong.
class HostRangeParser {
 public:
  HostRangeParser(std::string_view text, size_t limit) : text_(text), limit_(limit) {}

  Result<HostRange> parse() {
    while (at_ < text_.size()) {
      if (text_[at_] == ',' || is_blank(text_[at_])) {
        ++at_;
        continue;
      }
      MUSTER_TRY_VOID(term());
    }
    return std::move(out_);
  }

 private:
  std::unexpected<Error> bad(std::string rule) const {
    constexpr size_t kQuoted = 1024;  // A message repeats so much of a hostile text and no more.
    std::string said = "Invalid hostlist: ";
    said.append(text_.substr(0, kQuoted)).append(text_.size() > kQuoted ? "..." : "");
    return fail(Errc::kInvalidNodeName, std::move(said), "character " + std::to_string(at_ + 1) + ": " + std::move(rule));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Result<void> term() {
    HostRange::Term term;
    size_t from = at_;
    uint64_t hosts = 1;
    length_ = 0;
    while (at_ < text_.size() && peek() != ',' && !is_blank(peek())) {
      if (peek() == ']') return bad("] without a [ in front of it");
      if (is_control(peek())) return bad("control characters are not allowed in a name");
      if (peek() != '[') {
        term.tail += text_[at_++];
        ++length_;
        continue;
      }
      HostRange::IndexSet set;
      set.before.swap(term.tail);
      MUSTER_TRY_VOID(index_set(set));
      if (hosts > limit_ / set.count) return too_many();
      hosts *= set.count;
      term.sets.push_back(std::move(set));
    }
    if (length_ > kMaxHostName) {
      at_ = from;
      return bad("the name is longer than " + std::to_string(kMaxHostName) + " characters");
    }
    if (hosts > limit_ - out_.size_) return too_many();
    term.start = out_.size_;
    out_.size_ += hosts;
    out_.terms_.push_back(std::move(term));
    return {};
  }
  std::unexpected<Error> too_many() const { return bad("more than " + std::to_string(limit_) + " hosts"); }

  Result<void> index_set(HostRange::IndexSet& set) {
    size_t open = at_++;
    size_t longest = 0;
    while (true) {
      MUSTER_TRY_VOID(item(set, longest));
      if (peek() == ']') break;
      if (at_ == text_.size()) {
        at_ = open;
        return bad("[ without a ]");
      }
      if (peek() == '[') return bad("brackets cannot stand within brackets");
      if (peek() != ',') return bad("a number, a range such as 1-4, a comma or ] is expected");
      ++at_;
    }
    ++at_;
    length_ += longest;
    return {};
  }

  Result<void> item(HostRange::IndexSet& set, size_t& longest) {
    size_t from = at_;
    std::string_view digits;
    MUSTER_TRY(first, number(digits));
    uint64_t last = first;
    if (peek() == '-') {
      ++at_;
      std::string_view ignored;
      MUSTER_TRY(second, number(ignored));
      last = second;
    }
    if (last < first) {
      std::string range(text_.substr(from, at_ - from));
      at_ = from;
      return bad("range " + range + " runs backwards");
    }
    if (last - first >= limit_ - std::min<uint64_t>(limit_, set.count)) {
      at_ = from;
      return too_many();
    }
    longest = std::max({longest, digits.size(), decimal_digits(last)});
    set.runs.push_back({first, set.count, static_cast<uint32_t>(digits.size())});
    set.count += last - first + 1;
    return {};
  }

  Result<uint64_t> number(std::string_view& digits) {
    size_t n = 0;
    while (at_ + n < text_.size() && is_digit(text_[at_ + n])) ++n;
    if (n == 0) return bad("a number is expected");
    if (n > kMaxHostName) return bad("the number is too long");
    digits = text_.substr(at_, n);
    std::string_view significant = digits;
    while (significant.size() > 1 && significant.front() == '0') significant.remove_prefix(1);
    if (significant.size() > kMaxHostDigits) return bad("the number has more than " + std::to_string(kMaxHostDigits) + " digits");
    at_ += n;
    return *parse_number<uint64_t>(significant);
  }

  std::string_view text_;
  size_t limit_;
  size_t at_ = 0;
  size_t length_ = 0;  // of the longest name of the term being read
  HostRange out_;
};

Result<HostRange> HostRange::parse(std::string_view text, size_t limit) { return HostRangeParser(text, limit).parse(); }

void HostRange::append_index(const IndexSet& set, uint64_t i, std::string& out) {
  auto after = std::ranges::upper_bound(set.runs, i, {}, &Run::start);
  const Run& run = *std::prev(after);
  char digits[20];
  char* end = std::to_chars(digits, digits + sizeof digits, run.first + (i - run.start)).ptr;
  auto n = static_cast<size_t>(end - digits);
  if (n < run.width) out.append(run.width - n, '0');
  out.append(digits, n);
}

std::string HostRange::at(size_t index) const {
  MUSTER_CHECK(index < size_);
  const Term& term = *std::prev(std::ranges::upper_bound(terms_, index, {}, &Term::start));
  if (term.sets.empty()) return term.tail;
  // Which index each set shows: the last set changes with every host, the others follow from the first on.
  uint64_t left = index - term.start;
  uint64_t last = left % term.sets.back().count;
  left /= term.sets.back().count;
  std::string out;
  for (const IndexSet& set : term.sets) {
    out += set.before;
    bool is_last = &set == &term.sets.back();
    append_index(set, is_last ? last : left % set.count, out);
    left /= set.count;
  }
  return out += term.tail;
}

}  // namespace muster
