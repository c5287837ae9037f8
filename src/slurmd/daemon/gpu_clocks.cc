#include "slurmd/daemon/gpu_clocks.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "os/files.h"
#include "os/node/gpu_clocks.h"

namespace muster::slurmd {
namespace {

constexpr std::string_view kPrefix = "gpu-clocks.";
constexpr size_t kMaxBytes = 1 << 16;

}  // namespace

// Three lines of its own, then the files.
std::string GpuClocks::text_of(const Change& c) {
  return std::to_string(c.turn) + "\n" + c.wish.gpu + "\n" + c.wish.memory + "\n" + join(c.files, "\n");
}

std::optional<GpuClocks::Change> GpuClocks::parse(std::string_view text) {
  const std::vector<std::string_view> lines = split(text, '\n', true);
  const auto turn = lines.size() > 3 ? parse_number<uint64_t>(lines[0]) : std::nullopt;
  if (!turn) return std::nullopt;
  return Change{*turn, {std::string(lines[1]), std::string(lines[2]), false}, {lines.begin() + 3, lines.end()}};
}

std::vector<std::string> GpuClocks::begin(const std::string& step, const GpuClockOrder& order) {
  std::vector<std::string> told;
  if (!order.note.empty()) told.push_back(order.note);
  if (!order.wish) return told;
  auto complain = [&](const std::string& fault) {
    if (order.by_site) log_.info("step {}: GpuFreqDef: {}", step, fault);
    else told.push_back("slurmstepd: error: " + fault);
  };
  Change change{1, *order.wish, order.files};
  for (const auto& [other, earlier] : changed_) change.turn = std::max(change.turn, earlier.turn + 1);
  // Written down before it is done: a slurmd that is killed in between will put back what was never changed, which does no harm.
  const std::string path = spool_ + "/" + std::string(kPrefix) + step;
  if (auto ok = os::write_file_atomic(path, text_of(change), 0600); !ok) {
    complain("--gpu-freq: " + std::string(ok.error().message()));
    return told;
  }
  auto done = os::set_gpu_clocks(*order.wish, order.files, library_);
  if (!done) {
    ::unlink(path.c_str());
    complain(std::string(done.error().message()));
    return told;
  }
  for (const std::string& fault : done->faults) complain("--gpu-freq: " + fault);
  for (const std::string& line : done->told) {
    log_.info("step {}: {}", step, line);
    if (order.wish->verbose) told.push_back("gpu-freq: " + line);
  }
  change.files = done->changed;
  if (change.files.empty()) ::unlink(path.c_str());
  else changed_[step] = std::move(change);
  return told;
}

void GpuClocks::end(const std::string& step) {
  auto at = changed_.find(step);
  if (at == changed_.end()) return;
  const std::vector<std::string> files = std::move(at->second.files);
  changed_.erase(at);
  ::unlink((spool_ + "/" + std::string(kPrefix) + step).c_str());
  auto faults = os::reset_gpu_clocks(files, library_);
  if (!faults) return log_.error("clocks of GPUs after step {}: {}", step, faults.error().message());
  for (const std::string& fault : *faults) log_.error("clocks of GPUs after step {}: {}", step, fault);
  set_again(files);
}

// Sets them one after the other, in the order in which the steps began: a wish may leave one of the clocks open.
void GpuClocks::set_again(const std::vector<std::string>& files) {
  std::map<uint64_t, std::pair<const std::string*, Change>> holders;
  for (const auto& [step, change] : changed_) {
    Change shared = change;
    std::erase_if(shared.files, [&](const std::string& file) { return std::ranges::find(files, file) == files.end(); });
    if (!shared.files.empty()) holders[change.turn] = {&step, std::move(shared)};
  }
  for (const auto& [turn, holder] : holders) {
    const auto& [step, change] = holder;
    auto done = os::set_gpu_clocks(change.wish, change.files, library_);
    if (!done) return log_.error("clocks of GPUs of step {}: {}", *step, done.error().message());
    for (const std::string& fault : done->faults) log_.error("clocks of GPUs of step {}: {}", *step, fault);
  }
}

void GpuClocks::find_again() {
  DIR* folder = ::opendir(spool_.c_str());
  if (!folder) return;
  while (dirent* e = ::readdir(folder)) {
    const std::string name = e->d_name;
    if (!name.starts_with(kPrefix)) continue;
    auto text = os::read_file(spool_ + "/" + name, kMaxBytes);
    if (!text) {
      log_.error("{}", text.error().message());
      continue;
    }
    if (auto change = parse(*text)) changed_[name.substr(kPrefix.size())] = std::move(*change);
    else log_.error("{}/{}: not as slurmd writes it; the clocks of its GPUs stay as they are", spool_, name);
  }
  ::closedir(folder);
}

std::vector<std::string> GpuClocks::steps() const {
  std::vector<std::string> out;
  for (const auto& [step, change] : changed_) out.push_back(step);
  return out;
}

}  // namespace muster::slurmd
