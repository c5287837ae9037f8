#include "cli/srun/step_output.h"

#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace muster::cli {
namespace {

constexpr size_t kLongestLine = 1u << 20;  // of a labelled line that does not end

}  // namespace

Result<> StepOutput::open_sink(Sink& sink, std::string& pattern, const StepRequest& r, const FileNames& names,
                               uint32_t num_tasks) {
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
  how.append = r.open_mode == OpenMode::kAppend;
  how.make_parents = true;
  how.mode = 0666;
  std::string path = below(r.work_dir, expand_file_pattern(pattern, names));
  MUSTER_TRY(fd, os::open_output(path, how));
  sink.own = std::move(fd);
  sink.fd = sink.own.get();
  pattern.clear();
  return {};
}

Result<> StepOutput::prepare(StepRequest& r, const FileNames& names, uint32_t num_tasks) {
  label_ = r.label;
  width_ = std::to_string(num_tasks > 0 ? num_tasks - 1 : 0).size();
  sinks_[1].fd = 2;
  bool own_errors = !r.std_err.empty();
  std::string out = r.std_out;
  MUSTER_TRY_VOID(open_sink(sinks_[0], r.std_out, r, names, num_tasks));
  if (own_errors) {
    if (r.std_err == out && sinks_[0].own) {
      sinks_[1].fd = sinks_[0].fd;
      r.std_err.clear();
      return {};
    }
    return open_sink(sinks_[1], r.std_err, r, names, num_tasks);
  }
  // stderr goes where stdout goes when that is a file.
  if (sinks_[0].own) sinks_[1].fd = sinks_[0].fd;
  return {};
}

std::string StepOutput::label(uint32_t rank) const {
  std::string number = std::to_string(rank);
  return std::string(width_ > number.size() ? width_ - number.size() : 0, ' ') + number + ": ";
}

void StepOutput::put(const Sink& sink, std::string_view data) {
  if (data.empty() || broken_) return;
  if (!os::write_all(sink.fd, data)) broken_ = true;
}

void StepOutput::write(uint32_t rank, uint8_t stream, std::string_view data) {
  const Sink& sink = sinks_[stream == 2 ? 1 : 0];
  if (sink.only >= 0 && sink.only != rank) return;
  if (!label_) return put(sink, data);
  std::string& held = partial_[{rank, stream}];
  std::string out;
  while (!data.empty()) {
    size_t end = data.find('\n');
    if (end == data.npos) {
      held.append(data);
      break;
    }
    out += label(rank) + held;
    out.append(data.substr(0, end + 1));
    held.clear();
    data.remove_prefix(end + 1);
  }
  if (held.size() > kLongestLine) {
    out += label(rank) + held + "\n";
    held.clear();
  }
  put(sink, out);
}

void StepOutput::end(uint32_t rank, uint8_t stream) {
  auto at = partial_.find({rank, stream});
  if (at == partial_.end()) return;
  if (!at->second.empty()) put(sinks_[stream == 2 ? 1 : 0], label(rank) + at->second + "\n");
  partial_.erase(at);
}

}  // namespace muster::cli
