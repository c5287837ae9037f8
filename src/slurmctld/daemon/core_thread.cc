#include "slurmctld/daemon/core_thread.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "slurmctld/daemon/node_links.h"

namespace muster::slurmctld {
namespace {

constexpr uint64_t kEventsPerSnapshot = 500'000;
constexpr size_t kBlobCacheEntries = 256;

// The jobs that an event is about, for waiters.
void jobs_of(const Event& event, std::set<JobId>& out) {
  std::visit(
      [&](const auto& e) {
        if constexpr (requires { e.task_job; }) {
          if (e.task_job) out.insert(e.task_job);
        }
        if constexpr (requires { e.job; }) out.insert(e.job);
        if constexpr (requires { e.jobs; }) out.insert(e.jobs.begin(), e.jobs.end());
      },
      event);
}

}  // namespace

CoreThread::CoreThread(TurnDriver driver, const Clock& clock, os::Log& logger, Statistics& stats, Ports ports)
    : driver_(std::move(driver)), clock_(clock), logger_(logger), stats_(stats), ports_(std::move(ports)) {
  snapshot_ = core().snapshot();
}

CoreThread::~CoreThread() { stop(); }

void CoreThread::start() {
  thread_ = std::thread([this] { run(); });
}

void CoreThread::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void CoreThread::post(Task task) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    first = inbox_.empty();
    inbox_.push_back(std::move(task));
  }
  if (first) wake_.notify_one();
}

std::shared_ptr<const Snapshot> CoreThread::snapshot() const {
  std::lock_guard lock(mutex_);
  return snapshot_;
}

size_t CoreThread::queue_length() const {
  std::lock_guard lock(mutex_);
  return inbox_.size();
}

void CoreThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    // At most a second of sleep: obligations that nobody answered are repeated by the clock, too.
    Duration sleep = std::clamp<Duration>(core().next_timer() == kTimeInfinite ? seconds(1) : core().next_timer() - clock_.now(),
                                          milliseconds(1), seconds(1));
    // What cannot be recorded stays due. It is tried again after a pause, and whoever asks for something is still told at once.
    if (refused_turns_) sleep = std::max(sleep, failures_.next());
    wake_.wait_for(lock, sleep, [&] { return stopping_ || !inbox_.empty(); });
    if (stopping_ && inbox_.empty()) break;
    std::vector<Task> batch = std::move(inbox_);
    inbox_.clear();
    lock.unlock();
    turn(std::move(batch));
    lock.lock();
  }
  lock.unlock();
  save_snapshot();
}

void CoreThread::turn(std::vector<Task> batch) {
  const Duration began = clock_.steady();
  const bool asked = !batch.empty();
  waiters_.begin_turn();
  record_waits_.begin_turn();
  TurnDriver::Turn turn = driver_.turn(std::move(batch));
  if (turn.refused) return refuse(std::move(turn));
  if (turn.records > 0) {
    if (refused_turns_) logger_.info("the event log is written again, after {} attempts that failed", std::exchange(refused_turns_, 0));
    failures_.reset();
  }
  const size_t changes = turn.records;
  let_out(std::move(turn), asked);
  if (driver_.events_since_snapshot() >= kEventsPerSnapshot) save_snapshot();
  measure(began, changes);
}

void CoreThread::refuse(TurnDriver::Turn turn) {
  ++refused_turns_;
  waiters_.forget_turn();
  record_waits_.forget_turn();
  if (auto untold = told_.tell("append", clock_.steady()))
    logger_.error("the event log could not be written; {} changes are refused: {}{}", turn.records, turn.refused->message(),
                  net::Pace::more(*untold));
  ports_.to_io(std::move(turn.replies));
}

void CoreThread::let_out(TurnDriver::Turn turn, bool asked) {
  count(core().events());
  const auto before = ports_.turned ? snapshot() : nullptr;
  publish();
  if (ports_.turned && turn.records > 0) ports_.turned(before, snapshot(), core().events());
  wake_waiters(turn.replies, core().events());
  drop_unused_blobs();
  std::vector<Effect> effects = core().take_effects(clock_.now());  // empties events()
  fill_orders(effects);
  stats_.records_waiting = static_cast<uint32_t>(core().indexes().unrecorded().size());
  if (!turn.replies.empty()) ports_.to_io(std::move(turn.replies));
  if (!effects.empty()) ports_.carry_out(std::move(effects));
  if (turn.records > 0) ports_.state_changed();
  if ((turn.records > 0 || asked) && ports_.published) ports_.published();
}

void CoreThread::measure(Duration began, size_t changes) {
  const auto took = static_cast<uint64_t>((clock_.steady() - began).count());
  ++stats_.turns;
  stats_.events += changes;
  stats_.last_turn_us = took;
  if (took > stats_.max_turn_us) stats_.max_turn_us = took;
}

void CoreThread::publish() {
  auto snapshot = core().snapshot();
  std::lock_guard lock(mutex_);
  snapshot_.swap(snapshot);
}

void CoreThread::wake_waiters(std::vector<Reply>& replies, const Events& events) {
  if (waiters_.empty()) return;
  std::set<JobId> touched;
  for (const Event& e : events) jobs_of(e, touched);
  std::set<JobId> arrays;
  for (JobId id : touched)
    if (const Job* j = core().cluster().jobs.find(id.value); j && j->array_job_id) arrays.insert(j->array_job_id);
  touched.merge(arrays);
  waiters_.wake(touched, core().cluster(), replies);
}

// Short contents go with the launch. For long ones only the hash does, and the node asks for what it does not have.
void CoreThread::fill_orders(std::vector<Effect>& effects) {
  for (Effect& effect : effects) {
    auto* order = std::get_if<Order>(&effect);
    auto* launch = order ? std::get_if<node_rpc::LaunchBatch>(&order->order) : nullptr;
    if (!launch) continue;
    const JobRequest& r = *launch->job.request;
    for (auto [hash, content, by_hash] : {std::tuple(&r.script_hash, &launch->script, &launch->script_hash),
                                          std::tuple(&r.environment_hash, &launch->environment, &launch->environment_hash)}) {
      const std::string* bytes = short_blob(*hash);
      if (bytes) *content = *bytes;
      else *by_hash = *hash;
    }
  }
}

// Null: the content is longer than kInline, or cannot be read; the node is told the latter when it asks.
const std::string* CoreThread::short_blob(const std::string& hash) {
  static const std::string kNone;
  if (hash.empty()) return &kNone;
  if (long_blobs_.contains(hash)) return nullptr;
  if (auto at = blobs_.find(hash); at != blobs_.end()) return &at->second;
  auto bytes = driver_.log().get_blob(hash);
  if (!bytes) logger_.error("blob {} cannot be read: {}", hash, bytes.error().message());
  if (!bytes || bytes->size() > NodeLinks::kInline) {
    if (long_blobs_.size() >= kBlobCacheEntries) long_blobs_.clear();
    if (bytes) long_blobs_.insert(hash);
    return nullptr;
  }
  if (blobs_.size() >= kBlobCacheEntries) blobs_.clear();
  return &blobs_.emplace(hash, std::move(*bytes)).first->second;
}

// Scripts and environments of purged jobs go with the last job that refers to them. What a crash leaves goes at the next start.
void CoreThread::drop_unused_blobs() {
  for (const std::string& hash : core().take_unused_blobs()) {
    if (auto ok = driver_.log().drop_blob(hash); !ok) logger_.error("blob {} could not be dropped: {}", hash, ok.error().message());
    blobs_.erase(hash);
    long_blobs_.erase(hash);
  }
}

void CoreThread::count(const Events& events) {
  for (const Event& event : events) {
    if (std::holds_alternative<event::JobSubmitted>(event)) ++stats_.submitted;
    else if (std::holds_alternative<event::JobStarted>(event)) ++stats_.started;
    else if (auto* r = std::get_if<event::RecordsStored>(&event); r && !r->dropped.empty())
      logger_.error(
          "slurmdbd is away and more than MaxDBDMsgs accounting records wait: the {} oldest of ended steps and forgotten jobs are lost",
          r->dropped.size());
    else if (auto* end = std::get_if<event::JobEnding>(&event)) {
      if (end->flags & (kJobRequeued | kJobRequeueHold)) continue;
      // As sdiag(1) has it: "failed" is what went wrong with nodes or the system, not with the job.
      bool system_failed = end->state == JobState::kNodeFail || end->state == JobState::kBootFail || (end->flags & kJobLaunchFailed);
      if (end->state == JobState::kCancelled) ++stats_.canceled;
      else if (!system_failed) ++stats_.completed;
      else ++stats_.failed;
    }
  }
}

void CoreThread::save_snapshot() {
  if (driver_.events_since_snapshot() == 0) return;
  auto saved = driver_.save_snapshot();
  if (saved) saved = driver_.log().trim();
  if (!saved) logger_.error("the state snapshot could not be saved (the log is kept): {}", saved.error().message());
}

}  // namespace muster::slurmctld
