// Journal: the happenings of a run, their hash, and the first violation that a checker found. It keeps the last 30 texts. Cost: one hash of
// each text.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::sim {

class Journal {
 public:
  explicit Journal(bool verbose) : verbose_(verbose) {}
  void set_time(Time now) { now_ = now; }
  void note(const std::string& text);
  void hash(std::string_view bytes);
  // The first violation counts; the run ends at the next event.
  void fail(const char* checker, const std::string& text);

  bool failed() const { return !checker_.empty(); }
  const std::string& checker() const { return checker_; }
  const std::string& text() const { return text_; }
  uint64_t digest() const { return hash_; }
  std::vector<std::string> tail() const { return {tail_.begin(), tail_.end()}; }

 private:
  static constexpr size_t kTail = 30;
  bool verbose_;
  Time now_{};
  uint64_t hash_ = 0;
  std::string checker_, text_;
  std::deque<std::string> tail_;
};

}  // namespace muster::sim
