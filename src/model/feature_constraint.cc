#include "model/feature_constraint.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr int kMaxDepth = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<FeatureConstraint> run() {
    bool any_or = false, first = true;
    while (true) {
      MUSTER_TRY_VOID(top_term(first, any_or));
      first = false;
      skip();
      if (at_end()) break;
      char op = text_[pos_];
      if (op != '&' && op != '|' && op != ',') return bad("expected & or |");
      pending_or_ = op == '|';
      any_or |= pending_or_;
      ++pos_;
    }
    if (any_or && (bracket_ || !out_.counts.empty())) return bad("a bracket group or a count can be joined to other features with & only");
    std::sort(out_.names.begin(), out_.names.end());
    out_.names.erase(std::unique(out_.names.begin(), out_.names.end()), out_.names.end());
    return std::move(out_);
  }

 private:
  std::unexpected<Error> bad(std::string_view why) const {
    return fail(Errc::kInvalidFeature, {},
                "--constraint=" + std::string(text_) + ": " + std::string(why) + " at character " + std::to_string(pos_ + 1));
  }
  void skip() {
    while (pos_ < text_.size() && text_[pos_] == ' ') ++pos_;
  }
  bool at_end() const { return pos_ >= text_.size(); }
  bool eat(char c) {
    skip();
    if (at_end() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  Result<> top_term(bool first, bool) {
    skip();
    if (eat('[')) return bracket(first);
    MUSTER_TRY(expr, primary(0));
    MUSTER_TRY(count, opt_count());
    if (count > 0) {
      if (!out_.counts.empty()) return bad("several features with counts stand inside brackets, as in [a*1&b*2],");
      out_.counts.push_back({std::move(expr), count});
      return {};
    }
    join_base(std::move(expr));
    return {};
  }

  void join_base(FeatureExpr expr) {
    if (out_.base.empty()) {
      out_.base.push_back(std::move(expr));
      return;
    }
    FeatureExpr both;
    both.op = pending_or_ ? FeatureExpr::Op::kOr : FeatureExpr::Op::kAnd;
    both.args.push_back(std::move(out_.base[0]));
    both.args.push_back(std::move(expr));
    out_.base[0] = std::move(both);
  }

  // Reads the inside of brackets: either alternatives joined with |, or counted features joined with &.
  Result<> bracket(bool first) {
    if (bracket_) return bad("only one bracket group is allowed");
    if (!first && pending_or_) return bad("a bracket group can be joined to other features with & only");
    bracket_ = true;
    std::vector<FeatureCount> terms;
    bool has_or = false, has_and = false;
    while (true) {
      MUSTER_TRY(expr, primary(0));
      MUSTER_TRY(count, opt_count());
      terms.push_back({std::move(expr), count});
      skip();
      if (eat(']')) break;
      if (eat('|')) has_or = true;
      else if (eat('&')) has_and = true;
      else return bad("expected &, | or ]");
    }
    bool counted = std::any_of(terms.begin(), terms.end(), [](const auto& t) { return t.count > 0; });
    if (has_or && has_and) return bad("& and | cannot be mixed inside brackets; use parentheses");
    if (counted) {
      if (has_or) return bad("counts inside brackets are joined with &");
      for (const auto& t : terms)
        if (t.count == 0) return bad("each feature inside the brackets needs a count");
      for (auto& t : terms) out_.counts.push_back(std::move(t));
      return {};
    }
    if (has_and) return bad("each feature inside the brackets needs a count");
    for (auto& t : terms) out_.matching.push_back(std::move(t.expr));
    return {};
  }

  Result<uint32_t> opt_count() {
    if (!eat('*')) return 0u;
    size_t start = pos_;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9') ++pos_;
    auto n = parse_number<uint32_t>(text_.substr(start, pos_ - start), 1, 1u << 24);
    if (!n) return bad("a count of 1 or more must follow *");
    return *n;
  }

  Result<FeatureExpr> primary(int depth) {
    if (depth > kMaxDepth) return bad("parentheses are nested too deep");
    skip();
    if (eat('(')) {
      MUSTER_TRY(left, primary(depth + 1));
      FeatureExpr all = std::move(left);
      while (!eat(')')) {
        FeatureExpr both;
        if (eat('&')) both.op = FeatureExpr::Op::kAnd;
        else if (eat('|')) both.op = FeatureExpr::Op::kOr;
        else return bad("expected &, | or )");
        MUSTER_TRY(right, primary(depth + 1));
        both.args.push_back(std::move(all));
        both.args.push_back(std::move(right));
        all = std::move(both);
      }
      return all;
    }
    size_t start = pos_;
    while (pos_ < text_.size() && std::string_view("&|,*[]() ").find(text_[pos_]) == std::string_view::npos) ++pos_;
    if (pos_ == start) return bad("a feature name is missing");
    FeatureExpr leaf;
    leaf.name = std::string(text_.substr(start, pos_ - start));
    out_.names.push_back(leaf.name);
    return leaf;
  }

  std::string_view text_;
  size_t pos_ = 0;
  bool bracket_ = false, pending_or_ = false;
  FeatureConstraint out_;
};

}  // namespace

Result<FeatureConstraint> FeatureConstraint::parse(std::string_view text) {
  if (text.find_first_not_of(' ') == text.npos) return FeatureConstraint{};
  if (text.size() > 4096) return fail(Errc::kInvalidFeature, {}, "--constraint is longer than 4096 characters");
  return Parser(text).run();
}

Bitmap eval_features(const FeatureExpr& expr, const FeatureIndex& index) {
  if (expr.op == FeatureExpr::Op::kName) {
    const Bitmap* nodes = index(expr.name);
    return nodes ? *nodes : Bitmap();
  }
  Bitmap left = eval_features(expr.args[0], index);
  Bitmap right = eval_features(expr.args[1], index);
  if (expr.op == FeatureExpr::Op::kAnd) left &= right;
  else left |= right;
  return left;
}

bool has_features(const FeatureExpr& expr, const std::vector<std::string>& features) {
  if (expr.op == FeatureExpr::Op::kName) return std::ranges::find(features, expr.name) != features.end();
  bool left = has_features(expr.args[0], features), right = has_features(expr.args[1], features);
  return expr.op == FeatureExpr::Op::kAnd ? left && right : left || right;
}

}  // namespace muster
