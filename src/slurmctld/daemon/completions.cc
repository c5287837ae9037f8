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
    case CompletionKind::kKafka: return "kafka";
  }
  return "none";
}

// Which run it is: ids come back after slurmctld -c, and a requeued job has several.
std::string key_of(const JobRecordKey& key) {
  return std::to_string(key.id.value) + "." + std::to_string(key.submitted.time_since_epoch().count()) + "." + std::to_string(key.restarts);
}

bool matters(const Event& event, bool starts) {
  return std::holds_alternative<event::JobEnding>(event) || std::holds_alternative<event::JobsPurged>(event) ||
         (starts && std::holds_alternative<event::JobStarted>(event));
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
  starts_wanted_ = !chosen.start_topic.empty();
  wake_.notify_all();
}

// ---- keeping
void Completions::begin(std::shared_ptr<const Snapshot> state) {
  if (!wanted_) return;
  keeper_.post([this, state] {
    keep({runs_over(*state), starts_wanted_ ? runs_under_way(*state) : std::vector<EndedRun>(), {}});
    const std::lock_guard lock(mutex_);
    if (!outbox_) return;
    if (Result<> done = outbox_->forget_all_but(jobs_known(*state)); !done) not_kept(done.error());
  });
}

void Completions::turn(std::shared_ptr<const Snapshot> before, std::shared_ptr<const Snapshot> after, const Events& events) {
  if (!wanted_) return;
  Events some;
  std::ranges::copy_if(events, std::back_inserter(some), [starts = starts_wanted_.load()](const Event& e) { return matters(e, starts); });
  if (some.empty()) return;
  if (handed_ + some.size() > kMostHanded) {
    log_.error("JobCompType: {} ends of jobs wait for the disk already, {} more are told after the next start", handed_.load(),
               some.size());
    return;
  }
  handed_ += some.size();
  keeper_.post([this, before = std::move(before), after = std::move(after), some = std::move(some)] {
    keep({runs_ended(*before, *after, some), runs_begun(*after, some), jobs_forgotten(some)});
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

void Completions::keep(const Turned& turned) {
  std::unique_lock lock(mutex_);
  const config::JobCompletion chosen = chosen_;
  lock.unlock();
  std::vector<store::Outbox::Document> documents;
  for (const EndedRun& run : turned.begun)
    documents.push_back({run.record.key.id.value, key_of(run.record.key) + ".start", start_text_of(run, chosen)});
  for (const EndedRun& run : turned.ended) documents.push_back({run.record.key.id.value, key_of(run.record.key), text_of(run, chosen)});
  lock.lock();
  if (chosen != chosen_) {  // meanwhile they are to be something else
    lock.unlock();
    return keep(turned);
  }
  open();
  if (!outbox_) return;
  const Result<size_t> added = outbox_->put(documents);
  if (!added) return not_kept(added.error());
  if (Result<> done = outbox_->forget(turned.forgotten); !done) not_kept(done.error());
  const Result<size_t> dropped = outbox_->drop_excess(kMostWaiting, kMostBytes);
  if (dropped && *dropped) log_.error("JobCompType: nobody takes the records of ended jobs; the {} oldest are lost", *dropped);
  if (*added) wake_.notify_all();
}

EndedRun Completions::named(EndedRun run) {
  if (run.record.user.empty()) run.record.user = users_.user_name(run.record.uid);
  run.record.group = users_.group_name(run.record.gid);
  return run;
}

std::optional<std::string> Completions::script_of(const EndedRun& run, const config::JobCompletion& chosen) const {
  if (!chosen.send_script || run.record.script_hash.empty()) return std::nullopt;
  Result<std::string> bytes = read_blob_(run.record.script_hash);
  return bytes && bytes->size() <= kMostScript ? std::optional(std::move(*bytes)) : std::nullopt;
}

std::string Completions::start_text_of(const EndedRun& run, const config::JobCompletion& chosen) {
  return for_kafka(true, start_document(named(run), chosen.send_comment, script_of(run, chosen)));
}

std::string Completions::text_of(const EndedRun& bare, const config::JobCompletion& chosen) {
  const EndedRun run = named(bare);
  if (chosen.kind == CompletionKind::kFile) return completion_line(run);
  if (chosen.kind == CompletionKind::kScript) return packed_variables(completion_variables(run));
  std::string document = completion_document(run, chosen.send_comment, script_of(run, chosen));
  return chosen.kind == CompletionKind::kKafka ? for_kafka(false, std::move(document)) : document;
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
    case CompletionKind::kKafka:
      return kafka_sender({chosen_.place, chosen_.topic, chosen_.start_topic, chosen_.flush_timeout}, log_, stopping_);
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
