#include "slurmdbd/daemon/service.h"

#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "net/backoff.h"
#include "slurmdbd/core/defaults.h"
#include "slurmdbd/core/edit.h"
#include "slurmdbd/core/edit_jobs.h"
#include "slurmdbd/core/names.h"
#include "slurmdbd/core/query.h"
#include "slurmdbd/core/record_rights.h"
#include "slurmdbd/core/settings_text.h"
#include "slurmdbd/daemon/entity_rows.h"
#include "slurmdbd/daemon/usage_rolling.h"
#include "wire/accounting_instances.h"

namespace muster::slurmdbd {
namespace {

constexpr Duration kMostPatience = seconds(2);  // with controllers that do not fetch what was changed

constexpr size_t kJobsPerPart = 500;

// The records of an answer, loaded as they are needed.
class RecordSource final : public net::PartSource {
 public:
  RecordSource(sql::Storage& storage, std::vector<int64_t> numbers, bool steps)
      : storage_(storage), numbers_(std::move(numbers)), steps_(steps) {}
  bool next(std::string& part) override {
    while (at_ < numbers_.size()) {
      rpc::JobRecords records;
      size_t taken = 0;
      std::span<const int64_t> rest = std::span(numbers_).subspan(at_, std::min(kJobsPerPart, numbers_.size() - at_));
      if (auto ok = storage_.load_jobs(rest, steps_, records, taken, &next_step_); !ok) {
        failed_ = ok.error();
        return false;
      }
      at_ += taken;
      if (records.jobs.empty()) continue;
      wire::encode(records, part);
      return true;
    }
    return false;
  }
  Result<std::string> last() override {
    if (failed_) return std::unexpected(*failed_);
    return std::string();
  }

 private:
  sql::Storage& storage_;
  std::vector<int64_t> numbers_;
  bool steps_;
  size_t at_ = 0;
  int64_t next_step_ = 0;  // of the job at at_
  std::optional<Error> failed_;
};

// Nouns, which are all found at once and sent in parts: there may be many associations and transactions.
class EntitySource final : public net::PartSource {
 public:
  explicit EntitySource(rpc::Entities all)
      : associations_(std::exchange(all.associations, {})), transactions_(std::exchange(all.transactions, {})), rest_(std::move(all)) {}
  bool next(std::string& part) override {
    rpc::Entities some = std::exchange(rest_, {});
    const bool first = std::exchange(first_, false);
    take(associations_, association_, some.associations);
    take(transactions_, transaction_, some.transactions);
    if (!first && some.associations.empty() && some.transactions.empty()) return false;
    wire::encode(some, part);
    return true;
  }

 private:
  static constexpr size_t kPerPart = 2000;
  template <class T>
  static void take(std::vector<T>& from, size_t& at, std::vector<T>& to) {
    for (size_t n = 0; n < kPerPart && at < from.size(); ++n) to.push_back(std::move(from[at++]));
  }
  std::vector<AssociationRecord> associations_;
  std::vector<TransactionRecord> transactions_;
  rpc::Entities rest_;
  size_t association_ = 0, transaction_ = 0;
  bool first_ = true;
};

}  // namespace

Result<> check_lists(const rpc::JobRecordFilter& filter) {
  constexpr size_t kMostInList = 65'536;  // sacct names each node
  auto most = [](const char* name, const auto& list) -> Result<> {
    if (list.size() <= kMostInList) return {};
    return fail(Errc::kResultTooLarge,
                std::string(name) + ": " + std::to_string(list.size()) + " are named; at most " + std::to_string(kMostInList) + " may be");
  };
  MUSTER_TRY_VOID(most("jobs", filter.jobs));
  MUSTER_TRY_VOID(most("uid", filter.users));
  MUSTER_TRY_VOID(most("gid", filter.groups));
  const std::pair<const char*, const std::vector<std::string>&> lists[] = {
      {"clusters", filter.clusters}, {"accounts", filter.accounts},   {"partition", filter.partitions},     {"name", filter.names},
      {"qos", filter.qos},           {"wckeys", filter.wckeys},       {"reservation", filter.reservations}, {"nodelist", filter.nodes},
      {"reason", filter.reasons},    {"constraints", filter.features}};
  for (const auto& [name, list] : lists) MUSTER_TRY_VOID(most(name, list));
  return {};
}

Service::Service(net::Loop& loop, os::Log& log, Uid slurm_user, std::unique_ptr<sql::Storage> writer, std::unique_ptr<sql::Storage> reader,
                 Directory directory, Ports ports)
    : loop_(loop),
      log_(log),
      slurm_user_(slurm_user),
      ports_(std::move(ports)),
      writer_storage_(std::move(writer)),
      reader_storage_(std::move(reader)),
      directory_(std::make_shared<const Directory>(std::move(directory))),
      waits_(net::Backoff::random_seed()),
      users_(loop),
      channels_(loop, channel_events()),
      started_(net::Loop::now()),
      walks_({loop, writer_, [this] { return this->directory(); }, ports_.run_program}),
      streams_(loop, reader_, [this](const net::Channel* slow) { channels_.drop(slow); }) {
  for (Uid ours : {Uid{0}, slurm_user_}) users_.prepare(ours, [] {});  // so that these users never wait for their names
  roll_up();
  purge();
}

net::ChannelSet::Events Service::channel_events() {
  net::ChannelSet::Events events;
  events.frame = [this](const net::ChannelPtr& channel, const net::Frame& frame) { return dispatch(channel, frame); };
  events.ended = [this](const net::Channel* channel) {
    if (ports_.debug) ports_.debug->went(channel->peer());
    streams_.forget(channel);
    waits_.forget(channel);
    if (const auto cluster = controllers_.ended(channel)) controller_is_away(*cluster);
  };
  events.refused = [this](const net::Peer& peer, const net::Frame& frame, const Error& error) {
    log_.debug("message {} from {}: {}", frame.message, peer.address, error.message());
  };
  events.dropped = [this](const net::Peer& peer) {
    log_.verbose("connection of uid {} from {} is closed here", peer.uid.value, peer.address);
  };
  return events;
}

std::shared_ptr<const Directory> Service::directory() const {
  std::lock_guard lock(directory_mutex_);
  return directory_;
}

void Service::set_directory(Directory d) {
  auto next = std::make_shared<const Directory>(std::move(d));
  {
    std::lock_guard lock(directory_mutex_);
    directory_.swap(next);
  }
  post([this] { waits_.changed(); });
}

// A controller that queries after this answer finds this version of the Directory or a later one; of a later one it is told too.
Result<> Service::await_directory(const Call& call, const net::ChannelPtr& channel, std::string_view payload) {
  rpc::AwaitDirectory m;
  MUSTER_TRY_VOID(wire::decode(payload, m));
  waits_.add(channel.get(), m.version, [this, call](Result<uint64_t> version) {
    if (version) return answer<rpc::AwaitDirectory>(call, {*version});
    if (auto c = call.channel.lock()) c->answer_error(call.id, version.error());
  });
  return {};
}

// A script that adds a user submits that user's job next. So the answer comes when the controllers know of it, or after kMostPatience.
void Service::answer_when_known(const Call& call, const rpc::EntitiesEdited& edited) {
  const uint64_t id = ++edits_;
  const bool held = waits_.hold(id, [this, call, id, edited] {
    patience_.erase(id);
    answer<rpc::EditEntities>(call, edited);
  });
  if (held) patience_[id] = loop_.after(kMostPatience, [this, id] { waits_.give_up(id); });
}

AdminLevel Service::level(const Caller& who) const { return who.slurm ? AdminLevel::kAdministrator : level_of(*directory(), who.name); }

RecordAudience Service::audience(const Caller& who, bool is_private) const {
  if (!is_private || sees_all(who)) return RecordAudience::everybody();
  return record_audience(*directory(), *ports_.settings(), who.uid, who.name);
}

// ---- requests
Result<> Service::dispatch(const net::ChannelPtr& channel, const net::Frame& frame) {
  if (frame.kind != net::FrameKind::kRequest) return fail(Errc::kUnexpectedMessage);
  const net::Peer& peer = channel->peer();
  // No host has a certificate for slurmdbd: daemons have the cluster key.
  const SubjectKind kind = peer.subject(slurm_user_).kind;
  const bool daemon = kind == SubjectKind::kClusterKey || kind == SubjectKind::kAdministrator;
  Call call{channel, frame.id, frame.message, {peer.user(slurm_user_), daemon, false, {}}, net::Loop::monotonic()};
  std::string_view payload = frame.payload;
  std::string inner;
  if (frame.message == wire::number_of<rpc::Relay>) {
    MUSTER_TRY_VOID(unpack(frame, call, inner));
    payload = inner;
  }
  if (ports_.debug) ports_.debug->asked(peer, call.who.uid, call.message);
  if (call.who.slurm || users_.prepared(call.who.uid)) return serve(std::move(call), channel, payload);
  users_.prepare(call.who.uid, [this, call, kept = std::string(payload)] {
    auto asker = call.channel.lock();
    if (!asker) return;
    if (Result<> done = serve(call, asker, kept); !done) asker->answer_error(call.id, done.error());
  });
  return {};
}

// A daemon passes on what a user asked at its socket (rpc::AskDatabase): it is that user's question from here on.
Result<> Service::unpack(const net::Frame& frame, Call& call, std::string& payload) const {
  if (!call.who.slurm) return fail(Errc::kAccessDenied, {}, "only daemons pass on what others ask");
  rpc::Relay relay;
  MUSTER_TRY_VOID(wire::decode(frame.payload, relay));
  if (relay.payload.size() > wire::largest_request(relay.message, 0))
    return fail(Errc::kResultTooLarge, "a request of " + std::to_string(relay.payload.size()) + " bytes is larger than any of its kind");
  call.message = relay.message;
  call.who = {relay.uid, relay.uid.value == 0 || relay.uid == slurm_user_, true, {}};
  payload = std::move(relay.payload);
  return {};
}

// A question by job ids that says no time is not about a span of time.
Result<> Service::check_range(const Caller& who, Time from, Time until) const {
  const std::optional<Duration> longest = ports_.settings()->longest_query;
  if (!longest || sees_all(who)) return {};
  const Time now = net::Loop::now();
  const Time end = until == kTimeUnset ? now : std::min(until, now);
  if (end - from <= *longest) return {};
  return fail(Errc::kDateRangeTooWide, {},
              "MaxQueryTimeRange of slurmdbd.conf: users may ask for " + format_span_full(*longest) + " at a time");
}

// What needs no more than to be somebody is judged where it is answered.
Result<> Service::may_say(const Call& call) const {
  using namespace rpc;
  switch (call.message) {
    case wire::number_of<StoreRecords>:
    case wire::number_of<StoreContent>:
    case wire::number_of<RegisterCluster>:
    case wire::number_of<AwaitDirectory>:
      if (call.who.slurm && !call.who.passed_on) return {};
      return fail(Errc::kAccessDenied, {}, "only daemons may do this");
    case wire::number_of<Reconfigure>:
    case wire::number_of<Shutdown>:
      if (call.who.slurm) return {};
      return fail(Errc::kAccessDenied, {}, "only root and SlurmUser may do this");
    case wire::number_of<QueryDatabaseStatistics>:
      if (sees_all(call.who)) return {};
      return fail(Errc::kAccessDenied, {}, "only operators see what slurmdbd did for whom");
    case wire::number_of<ArchiveDump>:
    case wire::number_of<ArchiveLoad>:
      if (level(call.who) >= AdminLevel::kAdministrator) return {};
      return fail(Errc::kAccessDenied, {}, "only administrators archive records");
    default: return {};
  }
}

Result<> Service::serve(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  using namespace rpc;
  call.who.name = users_.name_of(call.who.uid);
  MUSTER_TRY_VOID(may_say(call));
  switch (call.message) {
    case wire::number_of<StoreRecords>:
      return write<StoreRecords>(call, payload, [this](const Caller&, StoreRecords& m) { return store(m); });
    case wire::number_of<StoreContent>:
      return write<StoreContent>(call, payload, [this](const Caller&, const StoreContent& m) { return store_content(m); });
    case wire::number_of<RegisterCluster>:
      return write<RegisterCluster>(call, payload, [this, connection = call.channel](const Caller&, RegisterCluster& m) {
        Result<Empty> done = register_cluster(m);
        if (done) post([this, connection, name = to_lower(m.cluster.name)] { controller_is_here(connection, name); });
        return done;
      });
    case wire::number_of<AwaitDirectory>: return await_directory(call, channel, payload);
    case wire::number_of<EditEntities>:
      return write<EditEntities>(call, payload, [this](const Caller& who, EditEntities& m) { return edit_entities(who, m); });
    case wire::number_of<EditJobRecords>:
      return write<EditJobRecords>(call, payload, [this](const Caller& who, EditJobRecords& m) {
        lower_names(m.where);
        if (m.wckey) m.wckey = to_lower(*m.wckey);
        return edit_job_records(who, m);
      });
    case wire::number_of<ArchiveDump>: return archive_dump(call, payload);
    case wire::number_of<ArchiveLoad>:
      return write<ArchiveLoad>(call, payload, [this](const Caller& who, ArchiveLoad& m) { return archive_load(who, m); });
    case wire::number_of<QueryEntities>: return query_entities(call, channel, payload);
    case wire::number_of<QueryRecords>: return query_records(call, channel, payload);
    case wire::number_of<QueryContent>: return query_content(call, channel, payload);
    case wire::number_of<QueryUsage>: return query_usage(call, channel, payload);
    case wire::number_of<QueryJobSizes>: return query_sizes(call, channel, payload);
    case wire::number_of<QueryReservationUsage>: return query_reservations(call, channel, payload);
    case wire::number_of<QueryEvents>: return query_events(call, channel, payload);
    case wire::number_of<QueryText>: return text(call, payload);
    case wire::number_of<QueryDatabaseStatistics>: return query_statistics(call, payload);
    case wire::number_of<Ping>: {
      Pong pong;
      char host[256] = {};
      ::gethostname(host, sizeof host - 1);
      pong.host = host;
      pong.pid = ::getpid();
      pong.started = started_;
      answer<Ping>(call, pong);
      return {};
    }
    case wire::number_of<Reconfigure>: {
      MUSTER_TRY_VOID(ports_.reconfigure());
      answer<Reconfigure>(call, {});
      return {};
    }
    case wire::number_of<Shutdown>:
      answer<Shutdown>(call, {});
      ports_.shutdown();
      return {};
    default: return fail(Errc::kUnexpectedMessage);
  }
}

template <class Request>
void Service::answer(const Call& call, const wire::AnswerTo<Request>& value) {
  answered(call);
  if (auto c = call.channel.lock()) c->answer(call.id, call.message, wire::encoded(value));
}

// A controller waits for a change of the Directory as long as it takes: that is no work.
void Service::answered(const Call& call) {
  if (call.message != wire::number_of<rpc::AwaitDirectory>)
    statistics_.answered(call.message, call.who.uid, call.who.name, net::Loop::monotonic() - call.arrived);
}

Result<> Service::query_statistics(const Call& call, std::string_view payload) {
  rpc::QueryDatabaseStatistics m;
  MUSTER_TRY_VOID(wire::decode(payload, m));
  const Time now = net::Loop::now();
  if (m.clear) statistics_ = WorkStatistics(now);
  answer<rpc::QueryDatabaseStatistics>(call, statistics_.told(now));
  return {};
}

Result<> Service::admit_write(const Caller& who, size_t bytes) const {
  if (who.slurm) return {};
  if (bytes > kMostEditBytes)
    return fail(Errc::kResultTooLarge,
                "a request of " + std::to_string(bytes) + " bytes: those who are not SlurmUser may send " + std::to_string(kMostEditBytes),
                "make the change in several requests");
  auto queued = queued_writes_.find(who.uid.value);
  if (queued != queued_writes_.end() && queued->second >= kMostQueuedEdits)
    return fail(Errc::kTryAgainLater, {},
                std::to_string(kMostQueuedEdits) + " edits of user " + who.name + " wait already; try again when they are done");
  return {};
}

template <class Request>
Result<> Service::write(Call call, std::string_view payload, std::function<Result<wire::AnswerTo<Request>>(const Caller&, Request&)> work) {
  MUSTER_TRY_VOID(admit_write(call.who, payload.size()));
  auto request = std::make_shared<Request>();
  // Records come only from daemons (dispatch has checked that). Many records of few columns take more room in memory than on the wire.
  constexpr bool kOfDaemons = std::is_same_v<Request, rpc::StoreRecords> || std::is_same_v<Request, rpc::StoreContent>;
  MUSTER_TRY_VOID(wire::decode(payload, *request, kOfDaemons ? wire::kOfOurOwn : wire::kOfAnyone));
  if (!call.who.slurm) ++queued_writes_[call.who.uid.value];
  writer_.post(
      [this, call, request, work = std::move(work)] {
        auto done = std::make_shared<Result<wire::AnswerTo<Request>>>(work(call.who, *request));
        post([this, call, request, done] {
          if (auto queued = queued_writes_.find(call.who.uid.value); !call.who.slurm && --queued->second == 0) queued_writes_.erase(queued);
          if constexpr (std::is_same_v<Request, rpc::EditEntities>)
            if (*done && request->commit) return answer_when_known(call, **done);
          if (*done) return answer<Request>(call, **done);
          // A wrong request concerns the person who made it, who gets the error; records that cannot be stored concern the site.
          const bool upload = kOfDaemons || std::is_same_v<Request, rpc::RegisterCluster>;
          log_.at(upload ? os::LogLevel::kError : os::LogLevel::kVerbose, "{} of {}: {}", MessageTraits<Request>::kName, call.who.name,
                  done->error().message());
          answered(call);
          if (auto c = call.channel.lock()) c->answer_error(call.id, done->error());
        });
      },
      call.who.slurm ? net::QueryThread::kOurs : call.who.uid.value);
  return {};
}

Result<rpc::RecordsStored> Service::store(rpc::StoreRecords& records) {
  lower_names(records);
  if (records.cluster.empty()) return fail(Errc::kInvalidClusterName);
  const bool wckeys = ports_.settings()->tracks_wckeys;
  MUSTER_TRY_VOID(writer_storage_->keep_charged(records, wckeys));  // so that what was charged once stays so when the defaults change
  fill_defaults(*directory(), wckeys, records);
  MUSTER_TRY_VOID(writer_storage_->store(records));
  MUSTER_TRY(missing, writer_storage_->missing_contents(records));
  log_.debug("cluster {}: {} jobs and {} steps stored, up to {}", records.cluster, records.jobs.size(), records.steps.size(),
             records.position);
  rpc::RecordsStored stored;
  stored.position = records.position;
  stored.missing = std::move(missing);
  return stored;
}

void Service::post(std::function<void()> work) {
  loop_.post([alive = std::weak_ptr<void>(alive_), work = std::move(work)] {
    if (alive.lock()) work();
  });
}

void Service::roll_up() {
  if (!ports_.settings()->rolls_up) {
    roll_timer_ = loop_.after(minutes(1), [this] { roll_up(); });
    return;
  }
  writer_.post([this, began = net::Loop::monotonic()] {
    bool more = false;
    const auto known = directory();
    for (const auto& [name, cluster] : known->clusters) {
      const Result<bool> rolled = roll_some(*writer_storage_, *known, name, net::Loop::now());
      if (!rolled) log_.error("usage of cluster {} is not rolled up: {}", name, rolled.error().message());
      else more = more || *rolled;
    }
    post([this, more, began] {
      statistics_.rolled_up(net::Loop::now(), net::Loop::monotonic() - began);
      roll_timer_ = loop_.after(more ? Duration::zero() : minutes(1), [this] { roll_up(); });
    });
  });
}

// ---- reports
Result<> Service::report(const Call& call, const net::ChannelPtr& channel, MakeReport make) {
  streams_.begin(
      channel, call.id, call.message,
      [this, make = std::move(make), client = call.channel]() -> Result<std::unique_ptr<net::PartSource>> {
        const auto known = directory();
        return make({*reader_storage_, *known, net::Loop::now(), [&] { return !client.expired(); }});
      },
      when_answered(call), call.who.uid);
  return {};
}

Result<> Service::query_usage(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  rpc::QueryUsage q;
  MUSTER_TRY_VOID(wire::decode(payload, q));
  for (auto list : {&q.clusters, &q.accounts, &q.qos, &q.wckeys}) lower(*list);
  MUSTER_TRY_VOID(check_range(call.who, q.from, q.until));
  return report(call, channel, [q = std::move(q), seen_by = audience(call.who, ports_.settings()->private_usage)](const ReportContext& c) {
    return answer_usage(c, q, seen_by);
  });
}

Result<> Service::query_sizes(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  rpc::QueryJobSizes q;
  MUSTER_TRY_VOID(wire::decode(payload, q));
  MUSTER_TRY_VOID(check_lists(q.filter));
  MUSTER_TRY_VOID(check_range(call.who, q.filter.from, q.filter.until));
  const auto settings = ports_.settings();
  lower_names(q.filter);
  return report(call, channel,
                [q = std::move(q), seen_by = audience(call.who, settings->private_jobs || settings->private_usage)](
                    const ReportContext& c) { return answer_sizes(c, q, seen_by); });
}

Result<> Service::query_reservations(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  rpc::QueryReservationUsage q;
  MUSTER_TRY_VOID(wire::decode(payload, q));
  if (ports_.settings()->private_reservations && !sees_all(call.who))
    return fail(Errc::kAccessDenied, {}, "PrivateData=reservations: operators alone see reservations");
  MUSTER_TRY_VOID(check_range(call.who, q.from, q.until));
  lower(q.clusters);
  return report(call, channel, [q = std::move(q)](const ReportContext& c) { return answer_reservations(c, q); });
}

Result<> Service::query_events(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  rpc::QueryEvents q;
  MUSTER_TRY_VOID(wire::decode(payload, q));
  if (ports_.settings()->private_events && !sees_all(call.who))
    return fail(Errc::kAccessDenied, {}, "PrivateData=events: operators alone see events");
  MUSTER_TRY_VOID(check_range(call.who, q.from, q.until));
  lower(q.clusters);
  return report(call, channel, [q = std::move(q)](const ReportContext& c) { return answer_events(c, q); });
}

Result<> Service::query_records(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  auto query = std::make_shared<rpc::QueryRecords>();
  MUSTER_TRY_VOID(wire::decode(payload, *query));
  MUSTER_TRY_VOID(check_lists(query->filter));
  if (query->filter.jobs.empty() || query->filter.from != kTimeUnset)
    MUSTER_TRY_VOID(check_range(call.who, query->filter.from, query->filter.until));
  lower_names(query->filter);
  streams_.begin(
      channel, call.id, call.message,
      [this, query, seen_by = audience(call.who, ports_.settings()->private_jobs),
       client = call.channel]() -> Result<std::unique_ptr<net::PartSource>> {
        MUSTER_TRY(numbers, reader_storage_->find_jobs(query->filter, seen_by, [&] { return !client.expired(); }));
        return std::make_unique<RecordSource>(*reader_storage_, std::move(numbers), query->filter.steps);
      },
      when_answered(call), call.who.uid);
  return {};
}

// ---- sacctmgr
Result<rpc::EntitiesEdited> Service::edit_entities(const Caller& who, const rpc::EditEntities& request) {
  auto settings = ports_.settings();
  EditContext context{*settings,
                      who.name,
                      level(who),
                      net::Loop::now(),
                      [this](const rpc::JobRecordFilter& f) { return stored_jobs(f, sql::kMostJobs); },
                      [this](const rpc::JobRecordFilter& f, const std::string& user, const std::string& partition) {
                        return writer_storage_->any_job(f, user, partition);
                      }};
  MUSTER_TRY(edited, edit(*directory(), request, context));
  if (!request.commit || edited.touched.keys.empty()) return std::move(edited.answer);
  sql::EntityChanges changes = changes_of(edited.directory, edited.touched);
  changes.transactions = std::move(edited.transactions);
  MUSTER_TRY_VOID(writer_storage_->change_entities(changes));
  for (const TransactionRecord& t : changes.transactions) log_.info("{} by {}: {} {}", t.action, t.actor, t.where, t.info);
  set_directory(std::move(edited.directory));
  return std::move(edited.answer);
}

Result<std::vector<JobRecord>> Service::stored_jobs(const rpc::JobRecordFilter& filter, size_t most) {
  MUSTER_TRY(numbers, writer_storage_->find_jobs(filter, RecordAudience::everybody()));
  if (numbers.size() > most)
    return fail(Errc::kResultTooLarge,
                "that means " + std::to_string(numbers.size()) + " jobs, and one request looks at " + std::to_string(most),
                "StartTime and EndTime, or JobID, say fewer");
  std::vector<JobRecord> out;
  size_t bytes = 0;
  std::span<const int64_t> rest = numbers;
  while (!rest.empty()) {
    rpc::JobRecords part;
    size_t taken = 0;
    MUSTER_TRY_VOID(writer_storage_->load_jobs(rest, false, part, taken));
    if (!taken) break;
    rest = rest.subspan(taken);
    for (const JobRecord& job : part.jobs) bytes += text_bytes(job);
    MUSTER_TRY_VOID(check_edited_bytes(bytes));
    std::ranges::move(part.jobs, std::back_inserter(out));
  }
  return out;
}

Result<rpc::JobRecordsEdited> Service::edit_job_records(const Caller& who, const rpc::EditJobRecords& request) {
  const bool is_operator = level(who) >= AdminLevel::kOperator;
  MUSTER_TRY_VOID(check_job_edit(request, is_operator, *ports_.settings(), *directory()));
  MUSTER_TRY(where, jobs_to_edit(request, who.uid, is_operator));
  MUSTER_TRY(records, stored_jobs(where, kMostEditedJobs));
  if (records.empty() && !is_operator) return fail(Errc::kAccessDenied, {}, "none of these jobs is one of user " + who.name);
  MUSTER_TRY_VOID(check_edited_bytes(text_bytes(request) * records.size()));
  rpc::JobRecordsEdited answer;
  MUSTER_TRY(changed, edit_jobs(std::move(records), request, who.uid, is_operator));
  answer.jobs = std::move(changed);
  if (request.commit && !answer.jobs.empty()) MUSTER_TRY_VOID(writer_storage_->replace_jobs(answer.jobs));
  return answer;
}

Result<> Service::query_entities(Call call, const net::ChannelPtr& channel, std::string_view payload) {
  auto question = std::make_shared<rpc::QueryEntities>();
  MUSTER_TRY_VOID(wire::decode(payload, *question));
  lower_names(question->filter);
  auto settings = ports_.settings();
  const bool is_private = settings->private_users || settings->private_accounts;
  streams_.begin(
      channel, call.id, call.message,
      [this, question, seen_by = Audience{audience(call.who, is_private), settings->private_users, settings->private_accounts}]()
          -> Result<std::unique_ptr<net::PartSource>> {
        rpc::Entities found = query(*directory(), *question, seen_by);
        if (question->what == Entity::kTransaction)
          MUSTER_TRY_VOID(
              reader_storage_->transactions(question->filter.from, question->filter.until, [&](TransactionRecord t) -> Result<> {
                if (sees(seen_by, t) && matches(t, question->filter)) found.transactions.push_back(std::move(t));
                return {};
              }));
        return std::make_unique<EntitySource>(std::move(found));
      },
      when_answered(call), call.who.uid);
  return {};
}

Result<> Service::text(const Call& call, std::string_view payload) {
  rpc::QueryText query;
  MUSTER_TRY_VOID(wire::decode(payload, query));
  if (query.subject != "config") return fail(Errc::kNotFound, {}, "slurmdbd answers about: config");
  rpc::Text out;
  out.text = settings_text(*ports_.settings(), slurm_user_);
  answer<rpc::QueryText>(call, out);
  return {};
}

}  // namespace muster::slurmdbd
