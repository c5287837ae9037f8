#include "slurmdbd/daemon/purge_walks.h"

#include <utility>

#include "net/system_clock.h"

namespace muster::slurmdbd {

void PurgeWalks::on_writer(std::function<Result<>()> work, std::function<void(const Result<>&)> then) {
  ports_.writer.post([this, work = std::move(work), then = std::move(then)]() mutable {
    ports_.loop.post([done = work(), then = std::move(then)] { then(done); });
  });
}

void PurgeWalks::start(std::unique_ptr<Purging> purging, Over over) {
  auto walk = std::make_shared<Walk>(Walk{std::move(purging), std::move(over)});
  on_writer([this, walk] { return walk->purging->begin(*ports_.directory(), net::Loop::now()); },
            [this, walk](const Result<>& done) { begun(walk, done); });
}

// Without the script's success nothing is deleted: it is what archives.
void PurgeWalks::begun(const WalkPtr& walk, const Result<>& done) {
  if (!done || walk->purging->over()) return walk->over(*walk->purging, done);
  const std::string& script = walk->purging->settings().archive.script;
  if (script.empty()) return next_piece(walk);
  ports_.run_program(script, walk->purging->script_variables(), [this, walk](const std::string& error) {
    if (!error.empty()) return walk->over(*walk->purging, fail(Errc::kError, "ArchiveScript: " + error));
    next_piece(walk);
  });
}

void PurgeWalks::next_piece(const WalkPtr& walk) {
  on_writer([walk] { return walk->purging->piece(); },
            [this, walk](const Result<>& done) {
              if (!done || walk->purging->over()) return walk->over(*walk->purging, done);
              next_piece(walk);
            });
}

}  // namespace muster::slurmdbd
