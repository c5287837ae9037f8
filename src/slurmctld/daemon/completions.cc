#include "slurmctld/daemon/completions.h"

#include <unistd.h>

#include <algorithm>

#include "slurmctld/daemon/completion_text.h"

namespace muster::slurmctld {
namespace {

using config::CompletionKind;

constexpr size_t kBytesAtOnce = size_t{1} << 20;

std::string_view name_of(CompletionKind kind) {
  switch (kind) {
    case CompletionKind::kNone: break;
    case CompletionKind::kFile: return "filetxt";
    case CompletionKind::kScript: return "script";
    case CompletionKind::kElasticsearch: return "elasticsearch";
  }
  return "none";
}

// Which run it is: ids come back after slurmctld -c, and a requeued job has several.
std::string key_of(const JobRecordKey& key) {
  return std::to_string(key.id.value) + "." + std::to_string(key.submitted.time_since_epoch().count()) + "." + std::to_string(key.restarts);
}

bool matters(const Event& event) {
  return std::holds_alternative<event::JobEnding>(event) || std::holds_alternative<event::JobsPurged>(event);
}

}  // namespace

Completions::Completions(net::Loop& loop, os::Log& log, std::string folder, ReadBlob read_blob)
    : loop_(loop), log_(log), folder_(std::move(folder)), read_blob_(std::move(read_blob)), programs_(loop, log) {
  programs_.set_most(1);
  thread_ = std::thread([this] { send_all(); });
}

Completions::~Completions() { close(); }

void Completions::close() {
  *alive_ = false;
  stopping_ = true;
  {
    const std::lock_guard lock(mutex_);
    wake_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Completions::configure(const config::JobCompletion& chosen, bool shared) {
  const std::lock_guard lock(mutex_);
  if (chosen == chosen_ && shared == shared_) return;
  if (chosen.kind != chosen_.kind) outbox_.reset();
  chosen_ = chosen;
  shared_ = shared;
  changed_ = true;
  wanted_ = chosen.kind != CompletionKind::kNone;
  wake_.notify_all();
}

// ---- keeping
void Completions::begin(std::shared_ptr<const Snapshot> state) {
  if (!wanted_) return;
  keeper_.post([this, state] {
    keep(runs_over(*state), {});
    const std::lock_guard lock(mutex_);
    if (!outbox_) return;
    if (Result<> done = outbox_->forget_all_but(jobs_known(*state)); !done) not_kept(done.error());
  });
}

void Completions::turn(std::shared_ptr<const Snapshot> before, std::shared_ptr<const Snapshot> after, const Events& events) {
  if (!wanted_ || std::ranges::none_of(events, matters)) return;
  Events some;
  std::ranges::copy_if(events, std::back_inserter(some), matters);
  if (handed_ + some.size() > kMostHanded) {
    log_.error("JobCompType: {} ends of jobs wait for the disk already, {} more are told after the next start", handed_.load(),
               some.size());
    return;
  }
  handed_ += some.size();
  keeper_.post([this, before = std::move(before), after = std::move(after), some = std::move(some)] {
    keep(runs_ended(*before, *after, some), jobs_forgotten(some));
    handed_ -= some.size();
  });
}

void Completions::open() {
  if (outbox_ || chosen_.kind == CompletionKind::kNone) return;
  auto opened = store::Outbox::open(folder_ + "/jobcomp.db", name_of(chosen_.kind));
  if (!opened) return not_kept(opened.error());
  outbox_ = std::move(*opened);
  if (outbox_->dropped_of_other_kind())
    log_.error("JobCompType: {} records that waited for another kind of receiver are dropped", outbox_->dropped_of_other_kind());
}

void Completions::keep(const std::vector<EndedRun>& runs, const std::vector<uint32_t>& forgotten) {
  std::unique_lock lock(mutex_);
  const config::JobCompletion chosen = chosen_;
  lock.unlock();
  std::vector<store::Outbox::Document> documents;
  for (const EndedRun& run : runs) documents.push_back({run.record.key.id.value, key_of(run.record.key), text_of(run, chosen)});
  lock.lock();
  if (chosen != chosen_) {  // meanwhile they are to be something else
    lock.unlock();
    return keep(runs, forgotten);
  }
  open();
  if (!outbox_) return;
  const Result<size_t> added = outbox_->put(documents);
  if (!added) return not_kept(added.error());
  if (Result<> done = outbox_->forget(forgotten); !done) not_kept(done.error());
  const Result<size_t> dropped = outbox_->drop_excess(kMostWaiting, kMostBytes);
  if (dropped && *dropped) log_.error("JobCompType: nobody takes the records of ended jobs; the {} oldest are lost", *dropped);
  if (*added) wake_.notify_all();
}

std::string Completions::text_of(const EndedRun& run, const config::JobCompletion& chosen) {
  EndedRun named = run;
  if (named.record.user.empty()) named.record.user = users_.user_name(run.record.uid);
  named.record.group = users_.group_name(run.record.gid);
  if (chosen.kind == CompletionKind::kFile) return completion_line(named);
  if (chosen.kind == CompletionKind::kScript) return packed_variables(completion_variables(named));
  std::optional<std::string> script;
  if (chosen.send_script && !run.record.script_hash.empty())
    if (Result<std::string> bytes = read_blob_(run.record.script_hash); bytes && bytes->size() <= kMostScript) script = std::move(*bytes);
  return completion_document(named, chosen.send_comment, script);
}

void Completions::not_kept(const Error& why) {
  if (auto untold = kept_told_.tell("keep", net::Loop::monotonic()))
    log_.error("JobCompType: what is not kept is told after the next start: {}{}", why.message(), net::Pace::more(*untold));
}

// ---- sending
std::unique_ptr<CompletionSender> Completions::make_sender() {
  switch (chosen_.kind) {
    case CompletionKind::kNone: break;
    case CompletionKind::kFile:
      return file_sender(chosen_.place, shared_,
                         {[this]() -> Result<std::string> {
                            const std::lock_guard lock(mutex_);
                            return outbox_ ? outbox_->note() : fail(Errc::kError, "the records are going elsewhere");
                          },
                          [this](const std::string& note) -> Result<> {
                            const std::lock_guard lock(mutex_);
                            return outbox_ ? outbox_->set_note(note) : fail(Errc::kError, "the records are going elsewhere");
                          }});
    case CompletionKind::kScript:
      return script_sender(
          chosen_.place,
          [this](const std::string& path, std::vector<std::string> environment, std::function<void(std::string)> over) {
            loop_.post([this, alive = alive_, path, environment = std::move(environment), over = std::move(over)]() mutable {
              if (*alive) programs_.run({site::ProgramCall(path)}, std::move(environment), kScriptTime, std::move(over));
            });
          },
          log_, stopping_);
    case CompletionKind::kElasticsearch: return http_sender(chosen_.place, log_, stopping_);
  }
  return nullptr;
}

void Completions::send_all() {
  Duration pause{};
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto due = [&] { return stopping_ || changed_ || (pause == Duration::zero() && outbox_ && outbox_->waiting() > 0); };
    if (pause > Duration::zero()) wake_.wait_for(lock, std::chrono::microseconds(pause.count()), due);
    else wake_.wait(lock, due);
    if (stopping_) break;
    if (std::exchange(changed_, false)) {
      sender_ = make_sender();
      open();  // what a controller before us left waits there
    }
    lock.unlock();
    const bool done = !sender_ || send_some();
    pause = done ? Duration::zero() : pauses_.next();
    lock.lock();
  }
}

// False: nothing was taken, and a pause is due.
bool Completions::send_some() {
  Result<Waiting> some = Waiting();
  {
    const std::lock_guard lock(mutex_);
    if (!outbox_) return true;
    some = outbox_->oldest(sender_->at_once(), kBytesAtOnce);
  }
  if (some && some->empty()) return true;
  Result<size_t> taken = some ? sender_->send(*some) : std::unexpected(some.error());
  if (!taken || *taken == 0) {
    if (!stopping_) failed(taken ? "nothing is taken" : std::string(taken.error().message()));
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (!outbox_) return true;
  if (Result<> done = outbox_->done((*some)[*taken - 1].number); !done) {
    failed(std::string(done.error().message()));
    return false;
  }
  if (std::exchange(failures_, 0)) log_.info("JobCompLoc: records of ended jobs are taken again");
  pauses_.reset();
  return true;
}

void Completions::failed(const std::string& why) {
  ++failures_;
  if (auto untold = told_.tell("send", net::Loop::monotonic())) log_.error("JobCompLoc: {}{}", why, net::Pace::more(*untold));
}

}  // namespace muster::slurmctld
