#include "slurmd/daemon/ended_runs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "os/files.h"

namespace muster::slurmd {
namespace {

struct Line {
  EndedRuns::Run run;
  int64_t ended = 0;  // Unix seconds
};

std::string text_of(const Line& l) {
  return std::to_string(l.run.first.value) + " " + std::to_string(l.run.second) + " " + std::to_string(l.ended) + "\n";
}

// A line that a crash has left half written, or that we did not write, is skipped.
std::vector<Line> lines_of(std::string_view content, Time now) {
  std::vector<Line> out;
  const int64_t oldest = unix_seconds(now - EndedRuns::kKept);
  for (std::string_view text : split(content, '\n')) {
    const auto words = split(text, ' ');
    if (words.size() != 3) continue;
    const auto job = parse_number<uint32_t>(words[0]);
    const auto generation = parse_number<uint32_t>(words[1]);
    const auto ended = parse_number<int64_t>(words[2]);
    if (job && generation && ended && *ended >= oldest) out.push_back({{JobId(*job), *generation}, *ended});
  }
  return out;
}

}  // namespace

std::vector<EndedRuns::Run> EndedRuns::read(Time now) {
  std::vector<Run> out;
  for (const Line& l : lines_of(os::read_file(path_, 2 * kLargest).value_or(""), now)) out.push_back(l.run);
  write_anew(now);
  return out;
}

void EndedRuns::write_anew(Time now) {
  std::string content;
  for (const Line& l : lines_of(os::read_file(path_, 2 * kLargest).value_or(""), now)) content += text_of(l);
  fd_.reset();
  size_ = content.size();
  if (Result<> done = os::write_file_atomic(path_, content, 0600); !done) log_.error("{}", done.error().message());
}

void EndedRuns::add(JobId job, uint32_t generation, Time now) {
  if (size_ > kLargest) write_anew(now);
  struct stat st {};
  if (!fd_ || ::fstat(fd_.get(), &st) < 0 || st.st_nlink == 0)  // the spool may have been tidied
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  const std::string line = text_of({{job, generation}, unix_seconds(now)});
  if (Result<> done = os::write_all(fd_.get(), line, path_); !done) return log_.error("{}", done.error().message());
  size_ += line.size();
}

}  // namespace muster::slurmd
