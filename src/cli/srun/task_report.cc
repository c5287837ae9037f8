#include "cli/srun/task_report.h"

#include <string.h>
#include <sys/wait.h>

#include <algorithm>

namespace muster::cli {

std::string tasks_text(const Bitmap& ranks) { return (ranks.count() == 1 ? "task " : "tasks ") + ranks.to_ranges(); }

std::string end_text(int32_t status, bool out_of_memory) {
  if (out_of_memory) return "Out Of Memory";
  if (WIFSIGNALED(status)) return std::string(strsignal(WTERMSIG(status))) + (WCOREDUMP(status) ? " (core dumped)" : "");
  return "Exited with exit code " + std::to_string(WEXITSTATUS(status));
}

void TaskReport::ended(std::string_view node, const step_rpc::TasksEnded& ended) {
  for (const step_rpc::TaskEnd& task : ended.tasks) {
    if (!is_running(task.rank)) continue;
    tasks_[task.rank].ended = true;
    ++ended_;
    out_of_memory_ = out_of_memory_ || ended.out_of_memory;
    status_ = std::max(status_, task.status);
    if (task.status == 0) continue;
    int code = WIFSIGNALED(task.status) ? 128 + WTERMSIG(task.status) : WEXITSTATUS(task.status);
    exit_code_ = std::max(exit_code_, code);
    std::string text = task.text.empty() ? end_text(task.status, ended.out_of_memory) : task.text;
    auto same = std::ranges::find_if(lines_, [&](const Line& l) { return l.node == node && l.text == text; });
    if (same == lines_.end()) same = lines_.insert(lines_.end(), {std::string(node), text, {}});
    same->ranks.set(task.rank);
  }
}

void TaskReport::say_each_ending_once() {
  std::erase_if(lines_, [&](const Line& l) { return told_.contains(l.text); });
  std::set<std::string> now;
  std::erase_if(lines_, [&](const Line& l) { return !now.insert(l.text).second; });
}

std::vector<std::string> TaskReport::take_lines() {
  for (const Line& l : lines_) told_.insert(l.text);
  std::vector<std::string> out;
  for (const Line& l : lines_) out.push_back(l.node + ": " + tasks_text(l.ranks) + ": " + l.text);
  lines_.clear();
  return out;
}

std::vector<std::string> TaskReport::status_lines() const {
  Bitmap running, ended;
  for (uint32_t i = 0; i < tasks_.size(); ++i) (tasks_[i].ended ? ended : running).set(i);
  std::vector<std::string> out;
  if (running.any()) out.push_back("StepId=" + step_ + " " + tasks_text(running) + ": running");
  if (ended.any()) out.push_back("StepId=" + step_ + " " + tasks_text(ended) + ": exited");
  return out;
}

}  // namespace muster::cli
