// TaskReport: which tasks of a step run, how the others ended, what the user is told about them, and srun's exit code. Pure. srun(1):
// RETURN VALUE, --kill-on-bad-exit, --wait, SIGNALS AND ESCAPE SEQUENCES.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/step_rpc.h"

namespace muster::cli {

class TaskReport {
 public:
  TaskReport(std::string step_name, uint32_t tasks) : step_(std::move(step_name)), tasks_(tasks) {}

  // Takes the tasks of one node that ended; statuses other than 0 are noted for take_lines().
  void ended(std::string_view node, const step_rpc::TasksEnded& ended);
  bool is_running(uint32_t rank) const { return rank < tasks_.size() && !tasks_[rank].ended; }
  size_t running() const { return tasks_.size() - ended_; }
  bool any_failed() const { return exit_code_ != 0; }
  int exit_code() const { return exit_code_; }     // the highest; 128 + signal
  int32_t wait_status() const { return status_; }  // the highest
  bool out_of_memory() const { return out_of_memory_; }
  // Lines such as "n1: tasks 0-3: Exited with exit code 1", in the order of events. Each call empties the list.
  std::vector<std::string> take_lines();
  // SLURM_SRUN_REDUCE_TASK_EXIT_MSG: the same ending is reported only once.
  void say_each_ending_once();
  // Lines such as "StepId=12.0 task 0: running" and "StepId=12.0 tasks 1-3: exited".
  std::vector<std::string> status_lines() const;

 private:
  struct Task {
    bool ended = false;
  };
  struct Line {
    std::string node, text;
    Bitmap ranks;
  };
  std::string step_;
  std::vector<Task> tasks_;
  size_t ended_ = 0;
  int exit_code_ = 0;
  int32_t status_ = 0;
  bool out_of_memory_ = false;
  std::vector<Line> lines_;
  std::set<std::string> told_;
};

// A text such as "task 3" or "tasks 0-2,5".
std::string tasks_text(const Bitmap& ranks);
// A text such as "Exited with exit code 3", "Terminated", "Segmentation fault (core dumped)" or "Out Of Memory".
std::string end_text(int32_t wait_status, bool out_of_memory);

}  // namespace muster::cli
