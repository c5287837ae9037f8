// Parsed<T>: a text that a person wrote, kept as written for display, together with the value that it means. The text is read once,
// when the value is first asked for, and copies share the result: no code behind the edges parses it again.
//
//   T has    static Result<T> parse(std::string_view)      T{} is the value of an empty text
//
// The wire and the log carry the text alone, so a field has one spelling and old logs still read. Two are equal when their texts are.
// Any thread may ask for the value: if two ask first at the same time, both read the text and one of the results is kept.
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
  Parsed(Text&& text) {  // implicit: options, updates and the wire all give a text
    if (std::string own(std::forward<Text>(text)); !own.empty()) kept_ = std::make_shared<const Kept>(std::move(own));
  }

  bool empty() const { return !kept_; }
  const std::string& text() const {
    static const std::string kNone;
    return kept_ ? kept_->text : kNone;
  }
  // The value, or the error that says what is wrong with the text.
  const Result<T>& parsed() const {
    static const Result<T> kNone{T{}};
    return kept_ ? kept_->parsed() : kNone;
  }
  // The value of a text that was already accepted; T{} where the text does not parse.
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

// A member whose text has a meaning of its own. It is shown, hashed, sent and bounded as its text.
template <class M>
concept TextMember = requires(const M& m) {
  typename M::Value;
  { m.text() } -> std::same_as<const std::string&>;
  { m.parsed() } -> std::same_as<const Result<typename M::Value>&>;
};

}  // namespace muster
