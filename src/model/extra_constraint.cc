#include "model/extra_constraint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>

#include "model/request_texts.h"

namespace muster {
namespace {

using Op = ExtraComparison::Op;

constexpr int kMostDepth = 32;
constexpr size_t kMostComparisons = 32;
constexpr std::string_view kSpecial = ",&|<>=!()";  // never part of a key or value
constexpr double kSame = 0.00001;                   // numbers that are nearer to each other are equal

// Digits with a sign and a point; with any letter, also that of an exponent, it is a string.
std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  if (text.find_first_not_of("0123456789.-") != text.npos) return std::nullopt;
  double n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<ExtraConstraint> run() {
    MUSTER_TRY(all, level(0));
    if (!at_end()) return bad(text_[pos_] == ')' ? "this parenthesis was not opened" : joined_by());
    ExtraConstraint out;
    out.wanted.push_back(std::move(all));
    return out;
  }

 private:
  std::unexpected<Error> bad(std::string_view why) const {
    return fail(Errc::kInvalidExtra, {},
                "--extra=" + std::string(text_) + ": " + std::string(why) + " (character " + std::to_string(pos_ + 1) + ")");
  }
  static std::string_view joined_by() { return "an operator & , or | has to stand between two comparisons"; }
  bool at_end() const { return pos_ >= text_.size(); }
  bool next_is(char c) const { return !at_end() && text_[pos_] == c; }
  bool eat(char c) {
    if (!next_is(c)) return false;
    ++pos_;
    return true;
  }

  // Items joined by one kind of operator, up to the end or the parenthesis that closes the level.
  Result<ExtraExpr> level(int depth) {
    if (depth > kMostDepth) return bad("parentheses are nested deeper than " + std::to_string(kMostDepth) + " levels");
    ExtraExpr all;
    MUSTER_TRY(first, item(depth));
    all.args.push_back(std::move(first));
    while (next_is('&') || next_is(',') || next_is('|')) {
      const ExtraExpr::Op op = next_is('|') ? ExtraExpr::Op::kOr : ExtraExpr::Op::kAnd;
      if (all.args.size() > 1 && op != all.op) return bad("& and | cannot be mixed in one level: put parentheses around a part");
      all.op = op;
      ++pos_;
      MUSTER_TRY(next, item(depth));
      all.args.push_back(std::move(next));
    }
    if (all.args.size() > 1) return all;
    ExtraExpr only = std::move(all.args.front());
    return only;
  }

  Result<ExtraExpr> item(int depth) {
    if (!eat('(')) return comparison();
    if (next_is(')')) return bad("there is nothing inside the parentheses");
    MUSTER_TRY(inner, level(depth + 1));
    if (at_end()) return bad("a closing parenthesis is missing");
    if (!eat(')')) return bad(joined_by());
    return inner;
  }

  Result<ExtraExpr> comparison() {
    if (++comparisons_ > kMostComparisons) return bad("more than " + std::to_string(kMostComparisons) + " comparisons");
    ExtraExpr out;
    out.compare.key = word();
    if (out.compare.key.empty()) return bad("a key is missing");
    const auto op = comparison_operator();
    if (!op) return bad("one of = != < <= > >= has to follow the key '" + out.compare.key + "'");
    out.compare.op = *op;
    out.compare.value = word();
    if (out.compare.value.empty()) return bad("a value is missing");
    if (!at_end() && std::string_view("<>=!").find(text_[pos_]) != std::string_view::npos) return bad("a comparison has one operator");
    out.compare.number = number_of(out.compare.value);
    return out;
  }

  std::string word() {
    const size_t from = pos_;
    pos_ = std::min(text_.find_first_of(kSpecial, from), text_.size());
    return std::string(text_.substr(from, pos_ - from));
  }

  std::optional<Op> comparison_operator() {
    if (eat('=')) return Op::kEqual;
    if (eat('<')) return eat('=') ? Op::kAtMost : Op::kLess;
    if (eat('>')) return eat('=') ? Op::kAtLeast : Op::kMore;
    if (text_.substr(pos_).starts_with("!=")) {
      pos_ += 2;
      return Op::kUnequal;
    }
    return std::nullopt;
  }

  std::string_view text_;
  size_t pos_ = 0, comparisons_ = 0;
};

// What the node says against what the job wants; unordered where the two cannot be compared.
std::partial_ordering against(double node, const ExtraComparison& wanted) {
  if (!wanted.number) return std::partial_ordering::unordered;
  return std::abs(node - *wanted.number) < kSame ? std::partial_ordering::equivalent : node <=> *wanted.number;
}
std::partial_ordering against(bool node, const ExtraComparison& wanted) {
  if (wanted.number) return node <=> (*wanted.number != 0);
  if (wanted.value == "true" || wanted.value == "false") return node <=> (wanted.value == "true");
  return std::partial_ordering::unordered;
}
std::partial_ordering against(const std::string& node, const ExtraComparison& wanted) { return node <=> wanted.value; }

bool holds(const ExtraComparison& wanted, const NodeExtra& node) {
  const ExtraValue* said = node.value_of(wanted.key);
  if (!said) return false;
  const std::partial_ordering is = std::visit([&](const auto& value) { return against(value, wanted); }, *said);
  switch (wanted.op) {
    case Op::kEqual: return is == 0;
    case Op::kUnequal: return is != 0;
    case Op::kLess: return is < 0;
    case Op::kAtMost: return is <= 0;
    case Op::kMore: return is > 0;
    case Op::kAtLeast: return is >= 0;
  }
  return false;
}

bool holds(const ExtraExpr& e, const NodeExtra& node) {
  const auto each = [&](const ExtraExpr& arg) { return holds(arg, node); };
  switch (e.op) {
    case ExtraExpr::Op::kCompare: return holds(e.compare, node);
    case ExtraExpr::Op::kAnd: return std::ranges::all_of(e.args, each);
    case ExtraExpr::Op::kOr: return std::ranges::any_of(e.args, each);
  }
  return false;
}

}  // namespace

bool ExtraConstraint::met_by(const NodeExtra& node) const {
  return std::ranges::all_of(wanted, [&](const ExtraExpr& e) { return holds(e, node); });
}

Result<ExtraConstraint> ExtraConstraint::parse(std::string_view text) {
  if (text.empty()) return ExtraConstraint{};
  if (text.size() > kMostText) return fail(Errc::kInvalidExtra, {}, "--extra: " + bytes_of(text.size(), kMostText));
  return Parser(text).run();
}

}  // namespace muster
