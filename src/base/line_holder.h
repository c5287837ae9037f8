// LineHolder: cuts what comes in pieces into whole lines, so that lines of several writers do not run into each
// other; with a label, each begins with it. One holder for each writer. Pure; costs one copy of what it passes on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

class LineHolder {
 public:
  // A line longer than this is not waited for: what there is of it goes on (labelled ones are cut there).
  static constexpr size_t kLongest = 1u << 20;

  explicit LineHolder(std::string label = {}) : label_(std::move(label)) {}
  // The lines that `data` completes; their unfinished successor is kept.
  std::string add(std::string_view data);
  // The unfinished line, at the writer's end. With a label it is ended, too: the next label starts a line.
  std::string rest();

 private:
  std::string labelled(std::string_view lines);

  std::string label_, held_;
};

// srun --label: "3: ", as wide for all tasks of the step as for its last one.
std::string task_label(uint32_t rank, uint32_t num_tasks);

}  // namespace muster
