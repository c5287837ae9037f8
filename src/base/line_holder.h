// LineHolder: cuts a stream that comes in pieces into whole lines, so that the lines of several writers do not run into each other;
// with a label, each line begins with it. Each writer has its own holder. Pure; costs one copy of the text passed on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

class LineHolder {
 public:
  // A longer line is not waited for: its beginning is passed on (cut there, if lines are labelled).
  static constexpr size_t kLongest = 1u << 20;

  explicit LineHolder(std::string label = {}) : label_(std::move(label)) {}
  // Returns the lines that `data` completes, and keeps the unfinished line behind them.
  std::string add(std::string_view data);
  // Returns the unfinished line when the writer is done. With a label it gets a line end too, so that the next label starts a line.
  std::string rest();

 private:
  std::string labelled(std::string_view lines);

  std::string label_, held_;
};

// The label of srun --label, as "3: ": padded to the width of the step's highest rank.
std::string task_label(uint32_t rank, uint32_t num_tasks);

}  // namespace muster
