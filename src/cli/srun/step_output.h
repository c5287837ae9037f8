// StepOutput: where the output of tasks goes: srun's own stdout and stderr, or files that srun opens (files whose names differ per task are
// opened on the nodes). With --label each line begins with the task's number. The output of several tasks is written in whole lines; that
// of one task, or of all with --unbuffered or --pty, at once, so that prompts and progress bars are seen. Writes block.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/line_holder.h"
#include "model/file_pattern.h"
#include "model/step_request.h"
#include "os/fd.h"

namespace muster::cli {

class StepOutput {
 public:
  // Opens the files named by --output and --error that are srun's to open and takes their names out of `request`. Also takes "none" and
  // task numbers. Errors: a file that cannot be opened.
  Result<> prepare(StepRequest& request, const FileNames& names, uint32_t num_tasks);
  void write(uint32_t rank, uint8_t stream, std::string_view data);
  void end(uint32_t rank, uint8_t stream);  // the rest of an unfinished line
  // To be called before a message of srun's own: ends the line on standard error that a task has begun.
  void fresh_line();
  bool broken() const { return broken_; }  // nobody reads any more

 private:
  struct Sink {
    int fd = 1;
    os::Fd own;
    int64_t only = -1;  // just this task
  };
  Result<> open_sink(Sink& sink, std::string& pattern, const StepRequest& request, const FileNames& names, uint32_t num_tasks);
  void put(const Sink& sink, std::string_view data);

  Sink sinks_[2];  // stdout, stderr
  bool label_ = false, at_once_ = false, broken_ = false;
  bool terminal_ = false;  // --pty: what is on it is the task's affair
  bool one_file_ = false;  // stdout and stderr are the same file
  bool in_line_ = false;   // standard error does not end with a line's end
  uint32_t num_tasks_ = 0;
  std::map<std::pair<uint32_t, uint8_t>, LineHolder> lines_;
};

}  // namespace muster::cli
