#include "cli/srun/step_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace muster::cli {
namespace {

bool same_file(int a, int b) {
  struct stat x, y;
  return ::fstat(a, &x) == 0 && ::fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

}  // namespace

Result<> StepOutput::open_sink(Sink& sink, std::string& pattern, const StepRequest& request, const FileNames& names, uint32_t num_tasks) {
  if (pattern.empty() || pattern == "all") {
    pattern.clear();
    return {};
  }
  if (pattern == "none") {
    pattern = "/dev/null";
    return {};
  }
  if (auto task = parse_number<uint32_t>(pattern); task && *task < num_tasks) {
    sink.only = *task;
    pattern.clear();
    return {};
  }
  if (pattern_is_per_task(pattern)) return {};
  os::OpenOutput how;
  how.append = request.open_mode == OpenMode::kAppend;
  how.make_parents = true;
  how.mode = 0666;
  std::string path = below(request.work_dir, expand_file_pattern(pattern, names));
  MUSTER_TRY(fd, os::open_output(path, how));
  sink.own = std::move(fd);
  sink.fd = sink.own.get();
  pattern.clear();
  return {};
}

Result<> StepOutput::prepare(StepRequest& request, const FileNames& names, uint32_t num_tasks) {
  label_ = request.label;
  at_once_ = !label_ && (request.unbuffered || request.pty || num_tasks <= 1);
  terminal_ = request.pty;
  num_tasks_ = num_tasks;
  one_file_ = same_file(1, 2);
  sinks_[1].fd = 2;
  bool own_errors = !request.std_err.empty();
  std::string out = request.std_out;
  MUSTER_TRY_VOID(open_sink(sinks_[0], request.std_out, request, names, num_tasks));
  if (own_errors) {
    if (request.std_err == out && sinks_[0].own) {
      sinks_[1].fd = sinks_[0].fd;
      request.std_err.clear();
      return {};
    }
    return open_sink(sinks_[1], request.std_err, request, names, num_tasks);
  }
  // stderr goes where stdout goes when that is a file.
  if (sinks_[0].own) sinks_[1].fd = sinks_[0].fd;
  return {};
}

void StepOutput::put(const Sink& sink, std::string_view data) {
  if (data.empty() || broken_) return;
  if (!os::write_all(sink.fd, data)) broken_ = true;
  if (sink.fd == 2 || (sink.fd == 1 && one_file_)) in_line_ = data.back() != '\n';
}

void StepOutput::fresh_line() {
  if (!in_line_ || terminal_) return;
  in_line_ = false;
  [[maybe_unused]] auto written = os::write_all(2, "\n");
}

void StepOutput::write(uint32_t rank, uint8_t stream, std::string_view data) {
  const Sink& sink = sinks_[stream == 2 ? 1 : 0];
  if (sink.only >= 0 && sink.only != rank) return;
  if (at_once_) return put(sink, data);
  auto at = lines_.try_emplace({rank, stream}, label_ ? task_label(rank, num_tasks_) : "").first;
  put(sink, at->second.add(data));
}

void StepOutput::end(uint32_t rank, uint8_t stream) {
  auto at = lines_.find({rank, stream});
  if (at == lines_.end()) return;
  put(sinks_[stream == 2 ? 1 : 0], at->second.rest());
  lines_.erase(at);
}

}  // namespace muster::cli
