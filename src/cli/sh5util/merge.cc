#include "cli/sh5util/merge.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/text.h"
#include "cli/sh5util/job_file.h"
#include "os/error.h"
#include "os/fd.h"
#include "wire/profile_file.h"

namespace muster::cli {
namespace {

constexpr std::string_view kSuffix = ".samples";
// What slurmstepd writes at most, and what may have been on its way.
constexpr size_t kMostFile = wire::kMostProfileBytes + (1u << 20);

// A recording: 12_0_n1.samples.
struct Recorded {
  std::string step, node, file;
};

bool fits_a_group(std::string_view name) { return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos; }

void add_recorded(const WantedSteps& wanted, std::string_view file, std::vector<Recorded>& out) {
  const std::string start = std::to_string(wanted.job.value) + "_";
  if (!file.starts_with(start) || !file.ends_with(kSuffix) || file.size() <= start.size() + kSuffix.size()) return;
  const std::string_view rest = file.substr(start.size(), file.size() - start.size() - kSuffix.size());
  const size_t end = rest.find('_');
  if (end == rest.npos) return;
  Recorded one{std::string(rest.substr(0, end)), std::string(rest.substr(end + 1)), std::string(file)};
  if (fits_a_group(one.step) && fits_a_group(one.node) && wanted.wants(one.step)) out.push_back(std::move(one));
}

Result<std::vector<Recorded>> recorded_in(int folder, const std::string& path, const WantedSteps& wanted) {
  std::vector<Recorded> out;
  const int own = ::fcntl(folder, F_DUPFD_CLOEXEC, 0);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(own < 0 ? nullptr : ::fdopendir(own), ::closedir);
  if (!entries) return os::fail_errno("Cannot open " + path + " job profile directory");
  while (const dirent* entry = ::readdir(entries.get())) add_recorded(wanted, entry->d_name, out);
  std::ranges::sort(out,
                    [](const Recorded& a, const Recorded& b) { return a.step != b.step ? name_before(a.step, b.step) : a.node < b.node; });
  return out;
}

Result<std::string> read_recorded(int folder, const std::string& file) {
  const os::Fd fd(::openat(folder, file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat st;
  if (!fd || ::fstat(fd.get(), &st) < 0) return os::fail_errno(file);
  if (!S_ISREG(st.st_mode) || static_cast<size_t>(st.st_size) > kMostFile)
    return fail(Errc::kInvalidArgument, file + ": it is no recording of a step's profile");
  std::string bytes(static_cast<size_t>(st.st_size), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0) return os::fail_errno(file);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

// The file that is being made; removed unless it took its name.
class NewFile {
 public:
  static Result<NewFile> create(const std::string& path) {
    NewFile out;
    out.path_ = path;
    out.now_ = path + ".new-XXXXXX";
    out.fd_.reset(::mkostemp(out.now_.data(), O_CLOEXEC));
    if (!out.fd_) return os::fail_errno(path);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(out.fd_.get(), 0666 & ~mask);
    return out;
  }
  NewFile(NewFile&&) = default;
  ~NewFile() {
    if (fd_) ::unlink(now_.c_str());
  }
  int fd() const { return fd_.get(); }
  Result<> keep() {
    if (::fsync(fd_.get()) < 0 || ::rename(now_.c_str(), path_.c_str()) < 0) return os::fail_errno(path_);
    fd_.reset();
    return {};
  }

 private:
  NewFile() = default;
  std::string path_, now_;
  os::Fd fd_;
};

// What was read whole, to be removed.
Result<std::vector<std::string>> write_all_of(int folder, const std::vector<Recorded>& found, JobFileWriter& out, MergeOutcome& outcome) {
  std::vector<std::string> whole;
  for (const Recorded& one : found) {
    const auto bytes = read_recorded(folder, one.file);
    const auto recording = bytes ? read_recording(*bytes) : Result<Recording>(std::unexpected(bytes.error()));
    if (!recording) {
      outcome.faults.push_back(one.file + ": " + std::string(recording.error().message()));
      continue;
    }
    MUSTER_TRY_VOID(out.add(one.step, one.node, recording->tables));
    ++outcome.merged;
    if (recording->fault.empty()) whole.push_back(one.file);
    else outcome.faults.push_back(one.file + ": " + recording->fault);
  }
  return whole;
}

}  // namespace

bool WantedSteps::wants(const std::string& step) const { return steps.empty() || std::ranges::find(steps, step) != steps.end(); }

Result<WantedSteps> parse_wanted_steps(const std::string& text) {
  WantedSteps out;
  bool all = false;
  for (std::string_view part : split(text, ',')) {
    const size_t dot = part.find('.');
    const auto job = parse_number<uint32_t>(trim(part.substr(0, dot)), 1);
    const std::string_view step = dot == part.npos ? std::string_view() : trim(part.substr(dot + 1));
    const bool known = parse_number<uint32_t>(step) || step == "batch" || step == "interactive" || step == "extern";
    if (!job || (dot != part.npos && !known))
      return fail(Errc::kInvalidReq, "Invalid job id: " + std::string(part), "a job or steps of it are meant: 12, 12.0, 12.batch");
    if (out.job.value && out.job.value != *job)
      return fail(Errc::kInvalidReq, "Steps of several jobs: " + text, "a file has the steps of one job");
    out.job = JobId(*job);
    if (dot == part.npos) all = true;
    else out.steps.emplace_back(step);
  }
  if (all) out.steps.clear();
  return out;
}

Result<MergeOutcome> merge_recordings(const MergePlan& plan) {
  const os::Fd folder(::open(plan.folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    return fail(Errc::kAccessDenied, std::string(os::system_error("Cannot open " + plan.folder + " job profile directory").message()));
  MUSTER_TRY(found, recorded_in(folder.get(), plan.folder, plan.wanted));
  MergeOutcome outcome;
  if (found.empty()) return outcome;
  MUSTER_TRY(file, NewFile::create(plan.output));
  MUSTER_TRY(out, JobFileWriter::create(file.fd(), plan.output));
  MUSTER_TRY(whole, write_all_of(folder.get(), found, out, outcome));
  if (outcome.merged == 0) return outcome;
  MUSTER_TRY_VOID(out.finish());
  MUSTER_TRY_VOID(file.keep());
  if (!plan.save_files)
    for (const std::string& name : whole) ::unlinkat(folder.get(), name.c_str(), 0);
  return outcome;
}

}  // namespace muster::cli
