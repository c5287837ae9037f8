#include "slurmdbd/daemon/directory_waits.h"

#include <utility>

namespace muster::slurmdbd {

void DirectoryWaits::add(const void* connection, uint64_t known, Answer answer) {
  if (auto at = waiting_.find(connection); at != waiting_.end()) {
    Answer older = std::move(at->second);
    waiting_.erase(at);
    older(fail(Errc::kTryAgainLater, {}, "this connection waits anew"));
  }
  if (known != version_) return answer(version_);
  waiting_.emplace(connection, std::move(answer));
}

void DirectoryWaits::changed() {
  if (++version_ == 0) version_ = 1;  // 0 stands for no version
  for (auto& [connection, answer] : std::exchange(waiting_, {})) answer(version_);
}

}  // namespace muster::slurmdbd
