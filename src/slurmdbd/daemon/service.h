// Service: what slurmdbd does with a frame. Lives on the I/O thread. Writes go to the writer thread, one after the other, and are
// answered when they are on disk; questions go to the reader thread and are answered at their readers' pace. The caller of a request is
// always the one that the connection proved, never one that the message names.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "net/answer_streams.h"
#include "net/channel_set.h"
#include "os/log.h"
#include "site/known_users.h"
#include "slurmdbd/core/directory.h"
#include "slurmdbd/core/settings.h"
#include "slurmdbd/daemon/controller_watch.h"
#include "slurmdbd/daemon/debug_log.h"
#include "slurmdbd/daemon/directory_waits.h"
#include "slurmdbd/daemon/purge_walks.h"
#include "slurmdbd/daemon/report_answers.h"
#include "slurmdbd/daemon/work_statistics.h"
#include "sql/storage.h"
#include "wire/messages.h"

namespace muster::slurmdbd {

inline constexpr size_t kMostEditBytes = 1u << 20, kMostQueuedEdits = 16;  // of one user who is not SlurmUser
inline constexpr size_t kMostEditedJobs = 10'000;                          // of one EditJobRecords

// Checks the lists of sacct's options, each under the option's name.
Result<> check_lists(const rpc::JobRecordFilter& filter);

class Service {
 public:
  struct Ports {
    std::function<std::shared_ptr<const Settings>()> settings;  // the newest; from any thread
    std::function<Result<>()> reconfigure;
    std::function<void()> shutdown;
    RunProgram run_program;     // ArchiveScript
    DebugLog* debug = nullptr;  // none: nothing of DebugFlags is logged here
  };
  // Takes two connections to one database; one of them writes.
  Service(net::Loop& loop, os::Log& log, Uid slurm_user, std::unique_ptr<sql::Storage> writer, std::unique_ptr<sql::Storage> reader,
          Directory directory, Ports ports);

  void accept(net::ChannelPtr channel) { channels_.accept(std::move(channel)); }
  void close_all() {
    closing_ = true;
    channels_.close_all();
  }
  size_t connections() const { return channels_.size(); }

 private:
  struct Caller {
    Uid uid{};
    bool slurm = false;      // root, SlurmUser or a daemon
    bool passed_on = false;  // a daemon says that this user asks; it is none itself
    std::string name;
  };
  struct Call {  // one request on its way
    std::weak_ptr<net::Channel> channel;
    uint64_t id = 0;
    uint16_t message = 0;
    Caller who;
    Duration arrived{};  // on the monotonic clock
  };

  net::ChannelSet::Events channel_events();
  Result<> dispatch(const net::ChannelPtr& channel, const net::Frame& frame);
  Result<> unpack(const net::Frame& frame, Call& call, std::string& payload) const;
  Result<> serve(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> may_say(const Call& call) const;
  // MaxQueryTimeRange, for a question about [from, until).
  Result<> check_range(const Caller& who, Time from, Time until) const;
  AdminLevel level(const Caller& who) const;
  bool sees_all(const Caller& who) const { return level(who) >= AdminLevel::kOperator; }  // PrivateData hides nothing from them
  // Whose records of a kind the caller sees; `is_private`: PrivateData names that kind.
  RecordAudience audience(const Caller& who, bool is_private) const;

  // Bounds what one user may have waiting here: accepted requests stay in memory until the writer has done them.
  Result<> admit_write(const Caller& who, size_t bytes) const;
  // Runs `work` on the writer thread; its answer leaves when it is done.
  template <class Request>
  Result<> write(Call call, std::string_view payload, std::function<Result<wire::AnswerTo<Request>>(const Caller&, Request&)> work);
  template <class Request>
  void answer(const Call& call, const wire::AnswerTo<Request>& value);

  Result<rpc::RecordsStored> store(rpc::StoreRecords& m);
  Result<rpc::Empty> store_content(const rpc::StoreContent& content);
  Result<rpc::Empty> register_cluster(const rpc::RegisterCluster& request);
  // TrackSlurmctldDown.
  void controller_is_here(const std::weak_ptr<net::Channel>& connection, const std::string& cluster);
  void controller_is_away(const std::string& cluster);
  Result<> end_controller_down(const std::string& cluster, Time now);  // writer thread
  Result<> note_cluster(const ClusterRecord& cluster, Time now);
  Result<std::vector<JobRecord>> stored_jobs(const rpc::JobRecordFilter& filter, size_t most);  // writer thread; kResultTooLarge
  Result<rpc::EntitiesEdited> edit_entities(const Caller& who, const rpc::EditEntities& request);
  Result<rpc::JobRecordsEdited> edit_job_records(const Caller& who, const rpc::EditJobRecords& request);
  void answer_when_known(const Call& call, const rpc::EntitiesEdited& edited);
  Result<> await_directory(const Call& call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> query_entities(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> query_usage(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> query_sizes(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> query_reservations(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> query_events(Call call, const net::ChannelPtr& channel, std::string_view payload);
  using MakeReport = std::function<Result<std::unique_ptr<net::PartSource>>(const ReportContext&)>;
  Result<> report(const Call& call, const net::ChannelPtr& channel, MakeReport make);
  // From any thread: what the loop is to do next, unless this service is gone by then: the loop is not ours.
  void post(std::function<void()> work);
  void roll_up();  // rolls up what is due, a piece at a time between other writes, and looks again in a minute
  void purge();    // the same with records that are older than their age, and looks again at the next hour
  Result<> archive_dump(const Call& call, std::string_view payload);
  Result<rpc::ArchiveLoaded> archive_load(const Caller& who, const rpc::ArchiveLoad& request);
  Result<> query_records(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> query_content(Call call, const net::ChannelPtr& channel, std::string_view payload);
  Result<> text(const Call& call, std::string_view payload);  // sacctmgr show config
  Result<> query_statistics(const Call& call, std::string_view payload);
  void answered(const Call& call);  // counts it
  std::function<void()> when_answered(const Call& call) {
    return [this, call] { answered(call); };
  }

  std::shared_ptr<const Directory> directory() const;  // any thread
  void set_directory(Directory d);                     // writer thread

  net::Loop& loop_;
  const std::shared_ptr<void> alive_ = std::make_shared<char>();
  os::Log& log_;
  Uid slurm_user_;
  Ports ports_;
  std::unique_ptr<sql::Storage> writer_storage_, reader_storage_;
  mutable std::mutex directory_mutex_;
  std::shared_ptr<const Directory> directory_;
  DirectoryWaits waits_;
  uint64_t edits_ = 0;
  std::map<uint64_t, std::unique_ptr<net::Loop::Timer>> patience_;  // of edits whose answers wait for controllers
  site::KnownUsers users_;
  net::ChannelSet channels_;
  std::unordered_map<uint32_t, size_t> queued_writes_;  // by uid, of those who are not SlurmUser; I/O thread
  Time started_;
  PurgeWalks walks_;
  bool dumping_ = false;  // an archive dump is under way; I/O thread
  std::unique_ptr<net::Loop::Timer> roll_timer_, purge_timer_;
  ControllerWatch controllers_;
  bool closing_ = false;  // it is slurmdbd that goes, not the controllers
  WorkStatistics statistics_{net::Loop::now()};
  net::QueryThread writer_, reader_;  // destroyed first
  net::AnswerStreams streams_;
};

}  // namespace muster::slurmdbd
