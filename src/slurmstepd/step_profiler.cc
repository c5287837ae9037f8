#include "slurmstepd/step_profiler.h"

#include <fcntl.h>
#include <unistd.h>

#include "net/loop.h"
#include "os/node/cpu_clock.h"
#include "wire/profile_file.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kOpenPatience = seconds(3);
constexpr size_t kMostWaiting = 64u << 10;

Time wall_clock() { return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now()); }

// A name that is a folder's; a user without one has a number.
std::string folder_of(const step_rpc::StepdLaunch& launch) {
  const std::string& name = launch.user_name;
  const bool good = !name.empty() && name[0] != '.' && name.find('/') == name.npos;
  return good ? name : std::to_string(launch.uid.value);
}

ProfileHeader header_of(const step_rpc::StepdLaunch& launch) {
  ProfileHeader h;
  h.job = launch.job;
  h.step = launch.step;
  h.node = launch.node;
  h.node_id = launch.node_id;
  h.tasks = static_cast<uint32_t>(launch.tasks.size());
  h.cpus_per_task = launch.profile->cpus_per_task;
  return h;
}

}  // namespace

std::unique_ptr<StepProfiler> StepProfiler::make(const step_rpc::StepdLaunch& launch, Ports ports) {
  if (!launch.profile || !launch.gather) return nullptr;
  std::vector<uint32_t> ranks;
  for (const step_rpc::TaskLaunch& t : launch.tasks) ranks.push_back(t.rank);
  return std::make_unique<StepProfiler>(launch, std::move(ranks), std::move(ports));
}

StepProfiler::StepProfiler(const step_rpc::StepdLaunch& launch, std::vector<uint32_t> ranks, Ports ports)
    : how_(*launch.profile),
      uid_(launch.uid),
      gid_(launch.gid),
      folder_(folder_of(launch)),
      file_(profile_file_name(launch.job, launch.step, launch.node)),
      ports_(std::move(ports)),
      header_(header_of(launch)),
      book_(std::move(ranks)) {}

void StepProfiler::open() {
  opening_ = true;
  os::Errand errand;
  errand.make_user_folder(how_.directory, folder_, uid_, gid_);
  ports_.openings.send_as_ourselves(std::move(errand), kOpenPatience, [this](os::Errand& e) {
    if (auto made = e.take(0); !made)
      return give_up(std::string(made.error().message()) +
                     " (ProfileHDF5Dir is root's, writable for nobody else, and the folder is the user's)");
    open_file();
  });
}

void StepProfiler::open_file() {
  os::Errand errand;
  os::OpenOutput how;
  how.mode = 0600;
  errand.open_output(how_.directory + "/" + folder_ + "/" + file_, how);
  ports_.openings.send(std::move(errand), kOpenPatience, [this](os::Errand& e) {
    auto fd = e.take(0);
    if (!fd) return give_up(std::string(fd.error().message()));
    ::fcntl(fd->get(), F_SETFL, ::fcntl(fd->get(), F_GETFL) | O_APPEND);
    fd_ = std::move(*fd);
    ports_.files.write(fd_.get(), std::string(wire::kProfileMagic) + std::exchange(waiting_, {}));
    opened();
  });
}

void StepProfiler::opened() {
  opening_ = false;
  for (auto& waiter : std::exchange(waiters_, {})) waiter();
}

void StepProfiler::when_open(std::function<void()> f) {
  if (!opening_) return f();
  waiters_.push_back(std::move(f));
}

void StepProfiler::give_up(const std::string& why) {
  over_ = true;
  waiting_.clear();
  const std::string line = "slurmstepd: error: --profile: no more is recorded: " + why;
  began_ == Duration{} ? void(untold_ = line) : ports_.note(line);
  opened();
}

LookTime StepProfiler::now() const { return {net::Loop::monotonic() - began_, wall_clock()}; }

void StepProfiler::begin() {
  began_ = net::Loop::monotonic();
  if (!untold_.empty()) ports_.note(untold_);
  header_.started = wall_clock();
  ProfileChunk chunk;
  chunk.header = header_;
  record(chunk);
}

void StepProfiler::look(const UseBook& book, const std::vector<pid_t>& pids) {
  if (!how_.task) return;
  ProfileChunk chunk;
  const LookTime at = now();
  for (size_t i = 0; i < pids.size(); ++i)
    if (pids[i] > 0) chunk.tasks.push_back(book_.look(i, book, at));
  record(chunk);
}

// A task that ends before all have started is in no series.
void StepProfiler::ended(const UseBook& book, size_t task) {
  if (!how_.task || began_ == Duration{}) return;
  ProfileChunk chunk;
  chunk.tasks.push_back(book_.ended(task, book, now()));
  record(chunk);
}

void StepProfiler::energy(uint64_t joules) {
  const auto sample = book_.energy(joules, now(), os::mean_cpu_clock(static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_CONF))));
  if (!sample) return;
  ProfileChunk chunk;
  chunk.energy.push_back(*sample);
  record(chunk);
}

void StepProfiler::record(const ProfileChunk& chunk) {
  if (over_ || chunk.empty()) return;
  const std::string bytes = wire::profile_bytes(chunk);
  if ((bytes_ += bytes.size()) > wire::kMostProfileBytes)
    return give_up("its file has come to " + std::to_string(wire::kMostProfileBytes >> 20) + " MiB");
  if (fd_) ports_.files.write(fd_.get(), bytes);
  else if (waiting_.size() + bytes.size() <= kMostWaiting) waiting_ += bytes;
}

}  // namespace muster::slurmstepd
