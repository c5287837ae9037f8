// Parsed<T>: what a person wrote, kept as written to be shown, and as the value that it means. The text is read once, when the
// value is first asked for, and copies share what was found: nothing behind the edges reads it again.
//
//   T has    static Result<T> parse(std::string_view)      T{} is what no text means
//
// On the wire and in the log it is its text; there is one spelling of a field, and old logs read as they did. Equal when the texts
// are. Any thread may ask: two that ask first at the same time both read the text, and one of the answers is kept.
//
// Cost: 16 bytes where there is no text, and one allocation for a text; value() is a load after the first time.
#pragma once

#include <atomic>
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace muster {

template <class T>
class Parsed {
 public:
  using Value = T;
  Parsed() = default;
  template <std::convertible_to<std::string> Text>
  Parsed(Text&& text) {  // a text is what it is made of: from options, updates, the wire
    if (std::string own(std::forward<Text>(text)); !own.empty()) kept_ = std::make_shared<const Kept>(std::move(own));
  }

  bool empty() const { return !kept_; }
  const std::string& text() const {
    static const std::string kNone;
    return kept_ ? kept_->text : kNone;
  }
  // What it means, or what is wrong with it.
  const Result<T>& parsed() const {
    static const Result<T> kNone{T{}};
    return kept_ ? kept_->parsed() : kNone;
  }
  // Of what was accepted; T{} where the text means nothing.
  const T& value() const {
    static const T kNone{};
    const Result<T>& p = parsed();
    return p ? *p : kNone;
  }
  const T* operator->() const { return &value(); }
  void clear() { kept_.reset(); }

  friend bool operator==(const Parsed& a, const Parsed& b) { return a.kept_ == b.kept_ || a.text() == b.text(); }

 private:
  struct Kept {
    explicit Kept(std::string t) : text(std::move(t)) {}
    ~Kept() { delete found.load(std::memory_order_relaxed); }
    const Result<T>& parsed() const {
      if (const Result<T>* there = found.load(std::memory_order_acquire)) return *there;
      auto mine = std::make_unique<const Result<T>>(T::parse(text));
      const Result<T>* other = nullptr;
      return found.compare_exchange_strong(other, mine.get(), std::memory_order_acq_rel) ? *mine.release() : *other;
    }
    std::string text;
    mutable std::atomic<const Result<T>*> found{nullptr};
  };
  std::shared_ptr<const Kept> kept_;
};

// A member that is a text with a meaning: shown, hashed, sent and bounded as its text.
template <class M>
concept TextMember = requires(const M& m) {
  typename M::Value;
  { m.text() } -> std::same_as<const std::string&>;
  { m.parsed() } -> std::same_as<const Result<typename M::Value>&>;
};

}  // namespace muster
