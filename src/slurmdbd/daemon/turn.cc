#include "slurmdbd/daemon/turn.h"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "net/daemon_signals.h"
#include "net/loop.h"

namespace muster::slurmdbd {
namespace {

using sql::ServerLock;
constexpr Duration kBetweenLooks = seconds(1);
constexpr int kFreeLooks = 2;  // of the backup: the primary may only just be starting again

}  // namespace

// A session that is made anew has its locks again or is none.
Result<sql::Connection*> Turn::session() {
  if (session_) return session_.get();
  sql::MariaDbOptions options = database_;
  options.answer_seconds = std::min<unsigned>(options.answer_seconds, kSilence);  // the others take it for hung by then
  options.on_connected = [this](sql::Connection& fresh) -> Result<> {
    if (!is_backup_) MUSTER_TRY_VOID(sql::take_lock(fresh, ServerLock::kPrimary));  // another has it: it is free once that one is gone
    if (!serving_) return {};
    MUSTER_TRY(ours, sql::take_lock(fresh, ServerLock::kServing));
    if (!ours) lost_ = true;
    return {};
  };
  MUSTER_TRY(opened, sql::open_mariadb(options));
  session_ = std::move(opened);
  return session_.get();
}

// Ends the session that has the lock if it has not beaten for long.
Result<bool> Turn::is_free(ServerLock lock) {
  MUSTER_TRY(holder, sql::lock_holder(*session_, lock));
  if (!holder.session) return true;
  if (holder.idle_seconds < kSilence || lock == ServerLock::kWriter) {  // who writes beats in another session
    if (std::exchange(waits_for_, holder.session) != holder.session)
      log_.info("another slurmdbd, at {}, has the database {}: waiting", holder.host, session_->name());
    return false;
  }
  log_.error("the slurmdbd at {} has not beaten for {} s: its session is ended", holder.host, holder.idle_seconds);
  MUSTER_TRY(serving, sql::lock_holder(*session_, ServerLock::kServing));
  MUSTER_TRY(writer, sql::lock_holder(*session_, ServerLock::kWriter));
  if (serving.session == holder.session && writer.session) MUSTER_TRY_VOID(sql::end_session(*session_, writer.session));
  MUSTER_TRY_VOID(sql::end_session(*session_, holder.session));
  return false;
}

// One writes and does not beat: what is left of a slurmdbd that is gone, unless it comes back within kSilence looks.
Result<> Turn::end_lone_writer() {
  if (++lone_looks_ < kSilence) return {};
  lone_looks_ = 0;
  MUSTER_TRY(writer, sql::lock_holder(*session_, ServerLock::kWriter));
  if (!writer.session) return {};
  log_.error("the slurmdbd at {} left a session that may write: it is ended", writer.host);
  return sql::end_session(*session_, writer.session);
}

// Whether it is our turn. Then the lock for serving is ours.
Result<bool> Turn::look() {
  MUSTER_TRY(session, session());
  if (is_backup_) {
    MUSTER_TRY(no_primary, is_free(ServerLock::kPrimary));
    if (!no_primary) return free_looks_ = 0, false;
  } else {
    MUSTER_TRY(primary, sql::take_lock(*session, ServerLock::kPrimary));
    if (!primary) {
      MUSTER_TRY_VOID(is_free(ServerLock::kPrimary));
      return false;
    }
  }
  MUSTER_TRY(nobody_serves, is_free(ServerLock::kServing));
  MUSTER_TRY(nobody_writes, is_free(ServerLock::kWriter));
  if (nobody_serves && !nobody_writes) MUSTER_TRY_VOID(end_lone_writer());
  if (!nobody_serves || !nobody_writes) return free_looks_ = 0, false;
  lone_looks_ = 0;
  if (is_backup_ && ++free_looks_ < kFreeLooks) return false;
  free_looks_ = 0;
  MUSTER_TRY(ours, sql::take_lock(*session, ServerLock::kServing));
  serving_ = ours;
  if (ours) lost_ = false, term_ = 0, waits_for_ = 0;
  return ours;
}

Result<Turn::Waited> Turn::wait(const std::function<void()>& waiting, const std::function<void()>& reopen_log) {
  net::Loop loop;
  Result<Waited> outcome = Waited::kStop;
  bool told = false, away = false;
  std::unique_ptr<net::Loop::Timer> timer;
  std::function<void()> next;
  const auto seen = [&](const Result<bool>& ours) {
    const bool first = !std::exchange(looked_, true);
    if (ours && *ours) {
      outcome = Waited::kServe;
      return loop.stop();
    }
    if (!ours && first) {
      outcome = std::unexpected(ours.error());
      return loop.stop();
    }
    if (ours && !std::exchange(told, true)) waiting();
    if (!ours && !std::exchange(away, true)) log_.error("whose turn it is cannot be seen: {}", ours.error().message());
    if (ours) away = false;
    timer = loop.after(kBetweenLooks, next);
  };
  next = [&] {
    thread_.post([this, poster = loop.poster(), &seen] {
      auto ours = std::make_shared<Result<bool>>(look());
      poster([ours, &seen] { seen(*ours); });
    });
  };
  net::wire_daemon_signals(loop, {.stop =
                                      [&](int signo) {
                                        log_.info("signal {}: terminating", signo);
                                        loop.stop();
                                      },
                                  .reload = reopen_log,
                                  .reopen_log = reopen_log,
                                  .report = [this] { log_.info("another slurmdbd serves"); }});
  next();
  loop.run();
  return outcome;
}

sql::MariaDbOptions Turn::writer_options() {
  sql::MariaDbOptions options = database_;
  options.on_connected = [this](sql::Connection& fresh) -> Result<> {
    MUSTER_TRY(ours, sql::take_lock(fresh, ServerLock::kWriter));
    const int64_t term = term_;
    int64_t now = term;
    if (ours && term) {
      MUSTER_TRY(current, sql::current_term(fresh));
      now = current;
    }
    if (ours && now == term) return {};
    lost_ = true;
    return fail(Errc::kAccountingUnavailable, {}, fresh.name() + ": another slurmdbd has served meanwhile");
  };
  return options;
}

Result<> Turn::begin(sql::Connection& writer) {
  MUSTER_TRY(term, sql::begin_term(writer));
  term_ = term;
  return {};
}

Result<Turn::Beat> Turn::beat_now() {
  MUSTER_TRY(session, session());
  MUSTER_TRY(primary, sql::lock_holder(*session, ServerLock::kPrimary));
  MUSTER_TRY(serving, sql::take_lock(*session, ServerLock::kServing));
  if (!serving || lost_) return Beat::kLost;
  return is_backup_ && primary.session && primary.idle_seconds < kSilence ? Beat::kGiveBack : Beat::kOurs;
}

// While the database is away nobody serves, so that is no loss.
void Turn::beat(std::function<void(Beat)> then) {
  thread_.post([this, then = std::move(then)] { then(beat_now().value_or(lost_ ? Beat::kLost : Beat::kOurs)); });
}

std::shared_ptr<void> Turn::busy() {
  const auto beats = [this](const std::stop_token& over) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, over, std::chrono::seconds(1), [&] { return over.stop_requested(); })) beat([](Beat) {});
  };
  return std::make_shared<std::jthread>(beats);
}

void Turn::end() {
  std::promise<void> ended;
  thread_.post([&] {  // behind a beat that is under way
    serving_ = false;
    if (session_ && !sql::release_lock(*session_, ServerLock::kServing)) session_.reset();
    ended.set_value();
  });
  ended.get_future().wait();
}

}  // namespace muster::slurmdbd
