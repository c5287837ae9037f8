// Indexes: what can be derived from a Cluster, kept up to date by apply so that no turn has to scan it: timers, open obligations, which job
// waits for which, which request has which number. rebuild_indexes() makes the same from a Cluster; the simulator compares the two.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/id_table.h"
#include "base/time.h"
#include "model/request_bodies.h"
#include "slurmctld/core/state_counts.h"

namespace muster::slurmctld {

enum class TimerKind : uint8_t {
  kJobBegin,
  kJobLimit,
  kJobWarn,
  kJobMail,
  kJobDeadline,
  kJobImmediate,
  kJobPurge,
  kJobMemory,
  kNodeSilent,
  kNodeResume,
  kNodeReturn,
  kUsageReset,
  kMinutesUsed,
  kAccrual,
  kTimeSlice,
  kReservation
};

// Something the world still has to do, repeated until the state says it is done.
// kSettle: stop or continue a job's processes. kPrepare: run its prolog, before anything else of the job. kProlog, kEpilog: run
// PrologSlurmctld or EpilogSlurmctld, on no node.
enum class Duty : uint8_t { kLaunchBatch, kTerminate, kSettle, kPrepare, kProlog, kEpilog };
struct Obligation {
  Duty duty = Duty::kLaunchBatch;
  JobId job{};
  NodeId node{};
  auto operator<=>(const Obligation&) const = default;
};

// The last moment at which a pending job with a deadline can start and still end in time.
Time latest_start(const Job& job);

// The next mail that a running job's user wants about the time that is used up (TIME_LIMIT_50, _80, _90).
struct LimitMail {
  Time at{};
  uint16_t mail = 0;
  JobWarning said{};
};
std::optional<LimitMail> next_limit_mail(const Job& job);

// What one user has in the job table that MaxJobCount bounds.
struct UserJobs {
  uint32_t count = 0;                      // every task of an array
  std::set<std::pair<Time, JobId>> ended;  // those that only wait for MinJobAge, by when they ended
  bool operator==(const UserJobs&) const = default;
};

class Indexes {
 public:
  explicit Indexes(Duration min_job_age) : min_job_age_(min_job_age) {}

  // Called by apply around every change of a job record.
  void add(const Job& job);
  void remove(const Job& job);
  void node_released(const Job& job, NodeId node);  // one node of a completing job, without touching the rest
  RequestBodyPtr share(const RequestBody& body) const { return bodies_.share(body); }  // for the entry that add_request gets
  void add_request(RequestId id, const SharedRequest& request);
  void remove_request(RequestId id, const SharedRequest& request);
  void add_node(const Node& node);
  void remove_node(const Node& node);
  void add_reservation(const Reservation& r);
  void remove_reservation(const Reservation& r);
  // Jobs that run in the reservation, or wait and ask for it by this name (in any case).
  const std::set<JobId>& jobs_in(std::string_view reservation) const;
  // Reservations whose nodes may come to be others: they are replaced, or follow a partition.
  const std::set<uint32_t>& changing_reservations() const { return changing_; }

  void set_timer(Time at, TimerKind kind, uint32_t id) { timers_.emplace(at, kind, id); }
  void clear_timer(Time at, TimerKind kind, uint32_t id) { timers_.erase({at, kind, id}); }
  // Removes the earliest timer if it is due, and returns it in `timer`.
  struct Timer {
    Time at{};
    TimerKind kind{};
    uint32_t id = 0;
  };
  bool pop_due(Time now, Timer& timer);
  Time next_timer() const;

  const std::set<Obligation>& obligations() const { return open_; }
  // Obligations that became due since the last call: new ones, those of a reconnected node, and those unanswered for too long. At most
  // kMostPrepares of them are kPrepare, which is costly; the other kPrepare are due again at once.
  static constexpr size_t kMostPrepares = 64;
  std::vector<Obligation> take_due(Time now, Duration repeat_after);
  bool has_due() const { return !due_.empty(); }
  // Nodes are told to end the job no earlier than `until`. This is not in the log: after a restart they are told at once.
  void hold_back(JobId job, Time until) { held_back_[job] = until; }
  void node_connected(NodeId node);

  // Jobs that hold something on the node.
  const std::set<JobId>& jobs_on(NodeId node) const;
  // Pending jobs that wait for the end (or start) of this job or array.
  std::vector<JobId> dependents_of(JobId job) const;
  std::vector<JobId> singletons() const { return {singletons_.begin(), singletons_.end()}; }
  RequestId find_request(const JobRequest& request, const Cluster& cluster) const;
  // Blobs are scripts and environments. blob_used(): whether a request refers to the blob, or a record that slurmdbd does not have yet.
  // take_unused_blobs(): those that have lost the last of these since the last call.
  bool blob_used(const std::string& hash) const { return blobs_.contains(hash); }
  std::vector<std::string> take_unused_blobs();
  void hold_blobs(const JobRecord& record);
  void let_go_of_blobs(const JobRecord& record);
  uint32_t job_count() const { return job_count_; }                               // as MaxJobCount counts: every task of an array
  const std::unordered_map<uint32_t, UserJobs>& users() const { return users_; }  // by uid; those with jobs

  // Jobs that nodes still clean up after, by when they ended.
  const std::set<std::pair<Time, JobId>>& completing() const { return completing_; }

  // Jobs that wait for their turn on CPUs that others have now, and waiting jobs that others make room for.
  const std::set<JobId>& waiting_turns() const { return waiting_turns_; }
  const std::set<JobId>& claiming() const { return claiming_; }

  const StateCounts& state_counts() const { return state_counts_; }

  // Accounting records that slurmdbd does not have yet, the oldest first.
  struct Unrecorded {
    uint64_t position = 0;
    bool kept = false;  // `id` is a number in Cluster::kept_records, else a job's
    uint32_t id = 0;
    auto operator<=>(const Unrecorded&) const = default;
  };
  const std::set<Unrecorded>& unrecorded() const { return unrecorded_; }
  void add_unrecorded(const Unrecorded& r) { unrecorded_.insert(r); }
  void remove_unrecorded(const Unrecorded& r) { unrecorded_.erase(r); }
  void recorded(uint64_t position);  // slurmdbd has all up to this position

  bool same_as(const Indexes& o) const;

 private:
  template <class F>
  void each_timer(const Job& job, F&& visit) const;
  template <class F>
  static void each_moment(const Reservation& r, F&& f);
  bool only_ages(const Job& job) const;
  void open(const Obligation& o);

  Duration min_job_age_;
  std::set<std::tuple<Time, TimerKind, uint32_t>> timers_;
  std::set<Obligation> open_;
  std::vector<Obligation> due_;
  std::set<std::pair<Time, Obligation>> sent_;  // volatile: when to repeat
  std::map<Obligation, Time> sent_at_;
  std::map<JobId, Time> held_back_;  // volatile
  std::unordered_map<uint32_t, std::set<JobId>> on_node_;
  std::map<JobId, std::set<JobId>> dependents_;
  std::set<JobId> singletons_;
  std::map<std::string, std::set<JobId>> in_reservation_;  // by name in lower case
  std::set<uint32_t> changing_;
  std::set<std::pair<Time, JobId>> completing_;
  RequestBodies bodies_;
  IdTable requests_;  // ids of requests
  void hold_blob(const std::string& hash);
  void let_go_of_blob(const std::string& hash);
  std::unordered_map<std::string, uint32_t> blobs_;  // hash → requests and kept records that refer to it
  std::vector<std::string> unused_blobs_;
  uint32_t job_count_ = 0;
  std::unordered_map<uint32_t, UserJobs> users_;
  StateCounts state_counts_;
  std::set<JobId> waiting_turns_, claiming_;
  std::set<Unrecorded> unrecorded_;
  uint64_t recorded_ = 0;
};

Indexes rebuild_indexes(const Cluster& cluster, Duration min_job_age);

}  // namespace muster::slurmctld
