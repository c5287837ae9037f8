// Completions: each run of a job that has ended is told once to whom slurm.conf names: a file, a program, an Elasticsearch server or a Kafka
// cluster (JobCompType), which is told of its start as well if it wants that.
//
// Nothing of it is on the way of the controller. The core thread hands over the snapshots before and after a turn with the events that end or
// forget jobs; a thread makes documents of them and puts them into a file of their own, jobcomp.db in StateSaveLocation (store/outbox.h);
// another one takes them out and sends them, again and again with pauses that grow up to kLongestPause.
//
// Once each: the file knows the runs that were put into it until their job is forgotten. At a start all runs of the state that are over are put
// again, so what the last controller recorded but did not put is told now. What is lost is a run that ended in the last moment before a crash
// and was requeued or forgotten in that same moment. What a receiver gets twice: completion_senders.h.
//
// Bounds: no more than kMostWaiting documents and kMostBytes wait, the oldest go first; no more than kMostHanded runs wait for the disk.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "config/job_completion.h"
#include "net/backoff.h"
#include "net/loop.h"
#include "net/pace.h"
#include "net/query_thread.h"
#include "os/users.h"
#include "site/programs.h"
#include "slurmctld/core/core.h"
#include "slurmctld/core/run_ends.h"
#include "slurmctld/daemon/completion_senders.h"

namespace muster::slurmctld {

class Completions {
 public:
  static constexpr Duration kLongestPause = seconds(60), kScriptTime = minutes(5);
  static constexpr size_t kMostWaiting = 100'000, kMostHanded = 100'000;
  static constexpr uint64_t kMostBytes = uint64_t{256} << 20;
  static constexpr size_t kMostScript = size_t{1} << 20;  // a longer script is left out of its document

  using ReadBlob = std::function<Result<std::string>(const std::string& hash)>;  // from any thread
  Completions(net::Loop& loop, os::Log& log, std::string folder, ReadBlob read_blob);
  ~Completions();

  // At the start and after each change of the configuration. `shared`: a file that is made may be read by all.
  void configure(const config::JobCompletion& chosen, bool shared);
  // The state as a controller finds it at its start.
  void begin(std::shared_ptr<const Snapshot> state);
  // From the core thread: what a turn that is durable did. Costs a look at each event unless a job began, ended or was forgotten in it.
  void turn(std::shared_ptr<const Snapshot> before, std::shared_ptr<const Snapshot> after, const Events& events);
  bool reaped(pid_t pid, int raw_status) { return programs_.reaped(pid, raw_status); }  // on SIGCHLD: whether it was a program of ours
  void close();

 private:
  struct Turned {
    std::vector<EndedRun> ended, begun;
    std::vector<uint32_t> forgotten;
  };
  void keep(const Turned& turned);
  void open();
  void not_kept(const Error& why);
  EndedRun named(EndedRun run);  // with the names of its user and group
  std::optional<std::string> script_of(const EndedRun& run, const config::JobCompletion& chosen) const;
  std::string text_of(const EndedRun& bare, const config::JobCompletion& chosen);
  std::string start_text_of(const EndedRun& run, const config::JobCompletion& chosen);
  void send_all();
  bool send_some();
  void failed(const std::string& why);
  std::unique_ptr<CompletionSender> make_sender();

  net::Loop& loop_;
  os::Log& log_;
  const std::string folder_;
  ReadBlob read_blob_;
  site::Programs programs_;                                     // of the I/O thread
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false on the I/O thread once we are closed
  std::atomic<bool> wanted_{false}, starts_wanted_{false}, stopping_{false};
  std::atomic<size_t> handed_{0};

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  config::JobCompletion chosen_;
  bool shared_ = true, changed_ = false;
  std::unique_ptr<store::Outbox> outbox_;
  net::Pace kept_told_{minutes(1)};

  // of the sending thread
  std::unique_ptr<CompletionSender> sender_;
  net::Backoff pauses_{seconds(1), kLongestPause, net::Backoff::random_seed()};
  uint32_t failures_ = 0;  // since something was taken
  net::Pace told_{minutes(1)};

  os::UserDirectory users_;
  net::QueryThread keeper_;
  std::thread thread_;
};

}  // namespace muster::slurmctld
