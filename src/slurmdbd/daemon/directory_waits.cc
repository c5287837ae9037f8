#include "slurmdbd/daemon/directory_waits.h"

#include <algorithm>
#include <utility>

namespace muster::slurmdbd {

void DirectoryWaits::add(const void* connection, uint64_t known, Answer answer) {
  if (auto at = waiting_.find(connection); at != waiting_.end()) {
    Answer older = std::move(at->second);
    waiting_.erase(at);
    older(fail(Errc::kTryAgainLater, {}, "this connection waits anew"));
  }
  known_[connection] = known;
  if (known != version_) answer(version_);
  else waiting_.emplace(connection, std::move(answer));
  release();
}

void DirectoryWaits::forget(const void* connection) {
  waiting_.erase(connection);
  known_.erase(connection);
  release();
}

bool DirectoryWaits::all_know(uint64_t version) const {
  return std::ranges::all_of(known_, [&](const auto& at) { return at.second >= version; });
}

bool DirectoryWaits::hold(uint64_t id, std::function<void()> done) {
  if (all_know(version_)) return done(), false;
  held_[id] = {version_, std::move(done)};
  return true;
}

void DirectoryWaits::give_up(uint64_t id) {
  auto held = held_.extract(id);
  if (!held) return;
  std::erase_if(known_, [&](const auto& at) { return at.second < held.mapped().version; });
  held.mapped().done();
  release();
}

void DirectoryWaits::release() {
  for (auto at = held_.begin(); at != held_.end();) {
    if (!all_know(at->second.version)) {
      ++at;
      continue;
    }
    auto done = std::move(at->second.done);
    at = held_.erase(at);
    done();
  }
}

void DirectoryWaits::changed() {
  if (++version_ == 0) version_ = 1;  // 0 stands for no version
  for (auto& [connection, answer] : std::exchange(waiting_, {})) answer(version_);
}

}  // namespace muster::slurmdbd
