#include "slurmd/daemon/content_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "net/credential.h"
#include "os/error.h"
#include "os/fd.h"
#include "os/files.h"

namespace muster::slurmd {
namespace {

constexpr Duration kRetry = seconds(5);

// The controller names the hash and it becomes a file's name, so it must look like one.
bool is_hash(std::string_view s) { return s.size() == 64 && s.find_first_not_of("0123456789abcdef") == s.npos; }

// Not synced: damage by a power loss shows in the hash. Somebody may have tidied the folder away.
Result<> write(const std::string& folder, const std::string& path, std::string_view content) {
  const std::string part = path + ".part";
  if (::unlink(part.c_str()) < 0 && ::access(folder.c_str(), F_OK) < 0) MUSTER_TRY_VOID(os::make_dirs(folder, 0700));
  os::Fd fd(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return os::fail_errno(part);
  Result<> done = os::write_all(fd.get(), content, part);
  if (done && ::rename(part.c_str(), path.c_str()) != 0) done = os::fail_errno(path);
  if (!done) ::unlink(part.c_str());
  return done;
}

bool is_connection_error(const Error& e) {
  return e.code == Errc::kConnectFailed || e.code == Errc::kSendFailed || e.code == Errc::kReceiveFailed || e.code == Errc::kTimedOut;
}

}  // namespace

Result<> ContentCache::open() {
  MUSTER_TRY_VOID(os::make_dirs(directory_, 0700));
  ::chmod(directory_.c_str(), 0700);
  DIR* folder = ::opendir(directory_.c_str());
  if (!folder) return {};
  while (const dirent* e = ::readdir(folder)) {
    const std::string name = e->d_name;
    if (name == "." || name == "..") continue;
    struct stat st {};
    if (::lstat(path_of(name).c_str(), &st) == 0 && S_ISREG(st.st_mode) && is_hash(name)) {
      kept_[name] = {static_cast<uint64_t>(st.st_size), ++clock_};
      bytes_ += static_cast<uint64_t>(st.st_size);
    } else {
      ::unlink(path_of(name).c_str());  // a part that a crash left
    }
  }
  ::closedir(folder);
  make_room();
  return {};
}

void ContentCache::find(JobId job, uint32_t generation, std::vector<std::string> hashes) {
  if (wanted_.contains(job)) forget(job);
  wanted_[job] = {generation, std::move(hashes)};
  // Later, and not from inside this call: the core has not finished with the order yet.
  loop_.defer([this, job] {
    look(job);
    fetch_next();
  });
}

void ContentCache::let_go(JobId job) {
  if (!wanted_.contains(job)) return;
  forget(job);
  make_room();
  loop_.defer([this] { look_at_all(); });
}

void ContentCache::let_go(JobId job, uint32_t generation) {
  if (auto at = wanted_.find(job); at != wanted_.end() && at->second.generation == generation) let_go(job);
}

bool ContentCache::is_wanted(const std::string& hash) const {
  return std::ranges::any_of(wanted_, [&](const auto& w) { return std::ranges::find(w.second.hashes, hash) != w.second.hashes.end(); });
}

void ContentCache::look(JobId job) {
  auto at = wanted_.find(job);
  if (at == wanted_.end() || at->second.told) return;
  uint64_t size = 0;
  for (const std::string& hash : at->second.hashes) {
    auto kept = kept_.find(hash);
    if (kept == kept_.end()) return;
    size += kept->second.size;
  }
  if (under_way_ > 0 && under_way_ + size > at_once_) return;
  at->second.told = true;
  at->second.size = size;
  under_way_ += size;
  ports_.done(job, at->second.generation, {}, false);
}

void ContentCache::fetch_next() {
  if (!fetching_.empty()) return;
  for (const auto& [job, w] : wanted_)
    for (const std::string& hash : w.hashes) {
      if (kept_.contains(hash)) continue;
      fetching_ = hash;
      arrived_.clear();
      if (!is_hash(hash)) return give_up(hash, Error(Errc::kInvalidArgument, "'" + hash + "' is not the hash of a script"), false);
      return ask(job, hash);
    }
}

void ContentCache::ask(JobId job, const std::string& hash) {
  ports_.fetch({job, hash, arrived_.size()}, [this, hash](Result<rpc::ContentPiece> piece) { take(hash, std::move(piece)); });
}

void ContentCache::take(const std::string& hash, Result<rpc::ContentPiece> piece) {
  if (hash != fetching_) return;
  if (!piece && is_connection_error(piece.error())) {
    fetching_.clear();
    retry_ = loop_.after(kRetry, [this] { fetch_next(); });  // the next session does it sooner
    return;
  }
  if (!piece) return give_up(hash, piece.error(), false);
  if (piece->size > kLongest || arrived_.size() + piece->bytes.size() > piece->size ||
      (piece->bytes.empty() && arrived_.size() < piece->size))
    return give_up(hash, Error(Errc::kFrameMalformed, "the controller sent a script in pieces that do not fit"), false);
  arrived_ += piece->bytes;
  if (arrived_.size() == piece->size) return finish(hash);
  // Asks for the next piece in the name of any job that still wants it.
  for (const auto& [job, w] : wanted_)
    if (std::ranges::find(w.hashes, hash) != w.hashes.end()) return ask(job, hash);
  fetching_.clear();
  fetch_next();
}

void ContentCache::finish(const std::string& hash) {
  auto name = net::content_hash(arrived_);
  if (!name) return give_up(hash, name.error(), true);
  if (*name != hash)
    return give_up(hash, Error(Errc::kFrameMalformed, "the script that the controller sent is not the one it named"), false);
  if (auto ok = write(directory_, path_of(hash), arrived_); !ok) return give_up(hash, ok.error(), true);
  kept_[hash] = {arrived_.size(), ++clock_};
  bytes_ += arrived_.size();
  fetching_.clear();
  arrived_ = {};
  make_room();
  look_at_all();
  fetch_next();
}

void ContentCache::look_at_all() {
  std::vector<JobId> jobs;
  for (const auto& [job, w] : wanted_) jobs.push_back(job);
  for (JobId job : jobs) {
    if (under_way_ >= at_once_) return;
    look(job);
  }
}

void ContentCache::forget(JobId job) {
  auto at = wanted_.find(job);
  under_way_ -= at->second.size;
  wanted_.erase(at);
}

void ContentCache::give_up(const std::string& hash, const Error& why, bool node_fault) {
  log_.error("script {}: {}", hash, why.message());
  std::vector<std::pair<JobId, uint32_t>> jobs;
  for (const auto& [job, w] : wanted_)
    if (std::ranges::find(w.hashes, hash) != w.hashes.end()) jobs.emplace_back(job, w.generation);
  for (const auto& [job, generation] : jobs) forget(job);
  fetching_.clear();
  arrived_ = {};
  const std::string text = "the batch script could not be had: " + std::string(why.message());
  for (const auto& [job, generation] : jobs) ports_.done(job, generation, fail(why.code, text), node_fault);
  fetch_next();
}

Result<std::string> ContentCache::read(const std::string& hash) {
  auto at = kept_.find(hash);
  if (at == kept_.end()) return fail(Errc::kNotFound, "script " + hash + " is not on this node");
  at->second.used = ++clock_;
  auto bytes = os::read_file(path_of(hash), kLongest);
  if (bytes) {
    MUSTER_TRY(name, net::content_hash(*bytes));
    if (name == hash) return bytes;
  }
  // When it is asked for again it will be fetched.
  bytes_ -= at->second.size;
  kept_.erase(at);
  ::unlink(path_of(hash).c_str());
  if (!bytes) return bytes;
  return fail(Errc::kIo, path_of(hash) + " is damaged and was removed");
}

void ContentCache::make_room() {
  while (bytes_ > most_bytes_) {
    auto oldest = kept_.end();
    for (auto i = kept_.begin(); i != kept_.end(); ++i)
      if ((oldest == kept_.end() || i->second.used < oldest->second.used) && !is_wanted(i->first)) oldest = i;
    if (oldest == kept_.end()) return;  // all of it waits to be started
    ::unlink(path_of(oldest->first).c_str());
    bytes_ -= oldest->second.size;
    kept_.erase(oldest);
  }
}

}  // namespace muster::slurmd
