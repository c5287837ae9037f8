#include "wire/cluster_codec.h"

#include "model/account_directory.h"
#include "model/carried_request.h"
#include "model/request_bodies.h"
#include "wire/accounting_instances.h"
#include "wire/instances.h"

namespace muster {
namespace {

enum Record : uint32_t {
  kHead = 1,
  kRequest = 2,
  kPartition = 3,
  kNode = 4,
  kArray = 5,
  kJob = 6,
  kTopologies = 7,
  kKept = 8,
  kDirectory = 9,
  kSpent = 10,
  kReservation = 500,
  kCrontab = 52,
  kCronJob = 53,
  kTrigger = 54,
  kEndedSteps = 100
};

struct SnapshotHead {
  std::string name;
  JobId last_job_id{};
  RequestId last_request_id{};
  uint32_t default_partition = Cluster::kNoPartition;
  uint64_t position = 0, nodes_epoch = 0, use_epoch = 0, jobs_epoch = 0;
  uint64_t requests = 0, partitions = 0, nodes = 0, arrays = 0, jobs = 0, kept = 0;  // records that follow
  bool accounting = false;
  uint64_t recorded_position = 0;
  uint32_t last_kept_record = 0;
  bool directory_known = false;
  uint64_t associations = 0;
  uint64_t spent = 0;
  UsageRule usage_rule;
  bool job_ids_began_anew = false;
  uint32_t last_reservation = 0;
  uint64_t reservations = 0;  // records that follow
  uint64_t crontabs = 0, cron_jobs = 0, triggers = 0;
  uint32_t last_trigger = 0;
  uint64_t ended_steps = 0;  // records that follow
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "name", s.name);
    v(2, "last_job_id", s.last_job_id);
    v(3, "last_request_id", s.last_request_id);
    v(4, "default_partition", s.default_partition);
    v(5, "position", s.position);
    v(6, "nodes_epoch", s.nodes_epoch);
    v(7, "use_epoch", s.use_epoch);
    v(8, "jobs_epoch", s.jobs_epoch);
    v(9, "requests", s.requests);
    v(10, "partitions", s.partitions);
    v(11, "nodes", s.nodes);
    v(12, "arrays", s.arrays);
    v(13, "jobs", s.jobs);
    v(14, "kept", s.kept);
    v(15, "accounting", s.accounting);
    v(16, "recorded_position", s.recorded_position);
    v(17, "last_kept_record", s.last_kept_record);
    v(18, "directory_known", s.directory_known);
    v(19, "associations", s.associations);
    v(20, "spent", s.spent);
    v(21, "usage_rule", s.usage_rule);
    v(22, "job_ids_began_anew", s.job_ids_began_anew);
    v(41, "last_reservation", s.last_reservation);
    v(42, "reservations", s.reservations);
    v(61, "crontabs", s.crontabs);
    v(62, "cron_jobs", s.cron_jobs);
    v(63, "triggers", s.triggers);
    v(64, "last_trigger", s.last_trigger);
    v(100, "ended_steps", s.ended_steps);
  }
};

struct StoredRequest {
  RequestId id{};
  uint32_t jobs = 0;
  CarriedRequest request;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "id", s.id);
    v(2, "jobs", s.jobs);
    v(3, "request", s.request);
  }
};

struct StoredRecord {
  uint32_t number = 0;
  KeptRecord record;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "number", s.number);
    v(2, "record", s.record);
  }
};

struct StoredArray {
  JobId id{};
  ArrayGroup group;
  template <class S, class V>
  static void describe(S& s, V&& v) {
    v(1, "id", s.id);
    v(2, "group", s.group);
  }
};

class Chunks {
 public:
  template <class T>
  void add(Record kind, const T& value) {
    if (chunk_.empty()) chunk_.reserve(kSnapshotChunkBytes + kSnapshotChunkBytes / 8);
    {
      wire::Writer w(chunk_);
      wire::write_value(w, kind, value);
    }
    if (chunk_.size() >= kSnapshotChunkBytes) flush();
  }
  std::vector<std::string> take() {
    if (!chunk_.empty()) flush();
    return std::move(done_);
  }

 private:
  void flush() {
    done_.push_back(std::move(chunk_));
    chunk_.clear();
  }
  std::string chunk_;
  std::vector<std::string> done_;
};

SnapshotHead head_of(const Cluster& c) {
  return {.name = c.name,
          .last_job_id = c.last_job_id,
          .last_request_id = c.last_request_id,
          .default_partition = c.default_partition,
          .position = c.position,
          .nodes_epoch = c.nodes_epoch,
          .use_epoch = c.use_epoch,
          .jobs_epoch = c.jobs_epoch,
          .requests = c.requests.size(),
          .partitions = c.partitions.size(),
          .nodes = c.nodes.size(),
          .arrays = c.arrays.size(),
          .jobs = c.jobs.size(),
          .kept = c.kept_records.size(),
          .accounting = c.accounting,
          .recorded_position = c.recorded_position,
          .last_kept_record = c.last_kept_record,
          .directory_known = c.directory != nullptr,
          .associations = c.directory ? c.directory->associations.size() : 0,
          .spent = c.usage.size(),
          .usage_rule = c.usage_rule,
          .job_ids_began_anew = c.job_ids_began_anew,
          .last_reservation = c.last_reservation,
          .reservations = c.reservations.size(),
          .crontabs = c.crontabs.size(),
          .cron_jobs = c.cron_jobs.size(),
          .triggers = c.triggers.size(),
          .last_trigger = c.last_trigger,
          .ended_steps = c.ended_steps.size()};
}

std::unexpected<Error> broken(std::string what) {
  return fail(Errc::kFrameMalformed, std::string(errc_text(Errc::kFrameMalformed)) + ": snapshot: " + std::move(what));
}

class Restore {
 public:
  Result<> chunk(std::string_view bytes) {
    wire::Reader r(bytes);
    for (r.next(); r.number(); r.next()) {
      const char* what = "a record";
      switch (r.number()) {
        case kHead:
          what = "SnapshotHead";
          head(r);
          break;
        case kRequest:
          what = "StoredRequest";
          request(r);
          break;
        case kPartition:
          what = "Partition";
          partition(r);
          break;
        case kNode:
          what = "Node";
          node(r);
          break;
        case kArray:
          what = "StoredArray";
          array(r);
          break;
        case kKept:
          what = "KeptRecord";
          kept(r);
          break;
        case kDirectory:
          what = "AccountChanges";
          directory(r);
          break;
        case kReservation:
          what = "Reservation";
          reservation(r);
          break;
        case kSpent:
          what = "StoredSpent";
          spent(r);
          break;
        case kTopologies: {
          what = "Topologies";
          Topologies t;
          wire::read_value(r, t);
          c_.topologies = std::make_shared<const Topologies>(std::move(t));
          break;
        }
        case kJob:
          what = "Job";
          MUSTER_TRY_VOID(job(r));
          break;
        default: what = tool(r);
      }
      if (r.failed()) return r.error(std::string("snapshot: ") + what);
    }
    return r.error("snapshot");
  }

  Result<Cluster> finish() {
    if (!seen_head_) return broken("its head is missing");
    auto counted = [](uint64_t said, size_t there, const char* what) -> Result<> {
      if (said == there) return {};
      return broken("it should hold " + std::to_string(said) + " " + what + " and holds " + std::to_string(there));
    };
    MUSTER_TRY_VOID(counted(head_.requests, c_.requests.size(), "requests"));
    MUSTER_TRY_VOID(counted(head_.partitions, c_.partitions.size(), "partitions"));
    MUSTER_TRY_VOID(counted(head_.nodes, c_.nodes.size(), "nodes"));
    MUSTER_TRY_VOID(counted(head_.arrays, c_.arrays.size(), "arrays"));
    MUSTER_TRY_VOID(counted(head_.jobs, c_.jobs.size(), "jobs"));
    MUSTER_TRY_VOID(counted(head_.kept, c_.kept_records.size(), "accounting records"));
    MUSTER_TRY_VOID(counted(head_.associations, directory_.associations.size(), "associations"));
    MUSTER_TRY_VOID(counted(head_.reservations, c_.reservations.size(), "reservations"));
    MUSTER_TRY_VOID(counted(head_.spent, c_.usage.size(), "amounts of usage"));
    MUSTER_TRY_VOID(counted(head_.crontabs, c_.crontabs.size(), "crontabs"));
    MUSTER_TRY_VOID(counted(head_.cron_jobs, c_.cron_jobs.size(), "jobs of crontabs"));
    MUSTER_TRY_VOID(counted(head_.triggers, c_.triggers.size(), "triggers"));
    MUSTER_TRY_VOID(counted(head_.ended_steps, c_.ended_steps.size(), "jobs with steps that have ended"));
    if (head_.directory_known) c_.directory = std::make_shared<const AccountDirectory>(std::move(directory_));
    if (!node_names_.empty()) c_.node_names = std::make_shared<const Names>(std::move(node_names_));
    if (!partition_names_.empty()) c_.partition_names = std::make_shared<const Names>(std::move(partition_names_));
    return std::move(c_);
  }

 private:
  using Names = std::unordered_map<std::string, uint32_t>;

  void head(wire::Reader& r) {
    wire::read_value(r, head_);
    seen_head_ = true;
    c_.name = head_.name;
    c_.last_job_id = head_.last_job_id;
    c_.job_ids_began_anew = head_.job_ids_began_anew;
    c_.last_request_id = head_.last_request_id;
    c_.default_partition = head_.default_partition;
    c_.position = head_.position;
    c_.nodes_epoch = head_.nodes_epoch;
    c_.use_epoch = head_.use_epoch;
    c_.jobs_epoch = head_.jobs_epoch;
    c_.accounting = head_.accounting;
    c_.recorded_position = head_.recorded_position;
    c_.last_kept_record = head_.last_kept_record;
    c_.usage_rule = head_.usage_rule;
    c_.last_reservation = head_.last_reservation;
    c_.last_trigger = head_.last_trigger;
  }
  void request(wire::Reader& r) {
    StoredRequest s;
    wire::read_value(r, s);
    if (!s.request) return r.fail("a request without its contents");
    const JobRequestPtr whole = s.request.whole();
    RequestBodyPtr body = bodies_.share(*whole);
    bodies_.add(body);
    c_.requests.set(s.id.value, {std::move(body), PackedOwn(*whole), s.jobs});
  }
  void partition(wire::Reader& r) {
    Partition p;
    wire::read_value(r, p);
    partition_names_[p.name] = p.index;
    const uint32_t key = p.index;
    c_.partitions.set(key, std::move(p));
  }
  void node(wire::Reader& r) {
    Node n;
    wire::read_value(r, n);
    if (!n.spec) return r.fail("a node without its definition");
    node_names_[n.spec->name] = n.id.value;
    const uint32_t key = n.id.value;
    c_.nodes.set(key, std::move(n));
  }
  void reservation(wire::Reader& r) {
    Reservation v;
    wire::read_value(r, v);
    const uint32_t key = v.id;
    c_.reservations.set(key, std::move(v));
  }
  void kept(wire::Reader& r) {
    StoredRecord s;
    wire::read_value(r, s);
    c_.kept_records.set(s.number, std::move(s.record));
  }
  void directory(wire::Reader& r) {
    AccountChanges part;
    wire::read_value(r, part);
    directory_.learn(part);
  }
  // Crontabs, their jobs, triggers and steps that have ended; the name of what it is, for errors.
  const char* tool(wire::Reader& r) {
    const auto keep = [&]<class T>(PersistentMap<T>& map, auto key) {
      T value;
      wire::read_value(r, value);
      const uint32_t at = key(value);
      map.set(at, std::move(value));
    };
    switch (r.number()) {
      case kCrontab: keep(c_.crontabs, [](const Crontab& t) { return t.user.value; }); return "Crontab";
      case kCronJob: keep(c_.cron_jobs, [](const CronJob& j) { return j.job.value; }); return "CronJob";
      case kTrigger: keep(c_.triggers, [](const Trigger& t) { return t.id; }); return "Trigger";
      case kEndedSteps: keep(c_.ended_steps, [](const EndedSteps& s) { return s.job.value; }); return "EndedSteps";
      default: r.fail("a record of a kind that is not known"); return "a record";
    }
  }
  void spent(wire::Reader& r) {
    StoredSpent s;
    wire::read_value(r, s);
    c_.know_tres(s.tres);
    put_stored(c_.usage, s, c_.tres_table());
  }
  void array(wire::Reader& r) {
    StoredArray a;
    wire::read_value(r, a);
    c_.arrays.set(a.id.value, a.group);
  }
  Result<> job(wire::Reader& r) {
    Job j;
    wire::read_value(r, j);
    if (r.failed()) return {};
    const SharedRequest* shared = c_.requests.find(j.request_id.value);
    if (!shared)
      return broken("job " + std::to_string(j.id.value) + " refers to request " + std::to_string(j.request_id.value) +
                    ", which is not there");
    j.request = shared->body;
    j.own = shared->own;
    const uint32_t key = j.id.value;
    c_.jobs.set(key, std::move(j));
    return {};
  }

  Cluster c_;
  RequestBodies bodies_;
  SnapshotHead head_;
  bool seen_head_ = false;
  Names node_names_, partition_names_;
  AccountDirectory directory_;
};

}  // namespace

std::vector<std::string> encode_cluster(const Cluster& c) {
  Chunks out;
  out.add(kHead, head_of(c));
  c.requests.for_each([&](uint32_t id, const SharedRequest& s) {
    out.add(kRequest, StoredRequest{RequestId(id), s.jobs, {s.body, s.own}});
  });
  c.partitions.for_each([&](uint32_t, const Partition& p) { out.add(kPartition, p); });
  c.nodes.for_each([&](uint32_t, const Node& n) { out.add(kNode, n); });
  c.reservations.for_each([&](uint32_t, const Reservation& r) { out.add(kReservation, r); });
  if (c.topologies) out.add(kTopologies, *c.topologies);
  if (c.directory)
    for (const AccountChanges& part : contents_of(*c.directory)) out.add(kDirectory, part);
  for (const StoredSpent& s : stored(c.usage, c.tres_table())) out.add(kSpent, s);
  c.arrays.for_each([&](uint32_t id, const ArrayGroup& g) { out.add(kArray, StoredArray{JobId(id), g}); });
  c.jobs.for_each([&](uint32_t, const Job& j) { out.add(kJob, j); });
  c.crontabs.for_each([&](uint32_t, const Crontab& t) { out.add(kCrontab, t); });
  c.cron_jobs.for_each([&](uint32_t, const CronJob& j) { out.add(kCronJob, j); });
  c.triggers.for_each([&](uint32_t, const Trigger& t) { out.add(kTrigger, t); });
  c.ended_steps.for_each([&](uint32_t, const EndedSteps& s) { out.add(kEndedSteps, s); });
  c.kept_records.for_each([&](uint32_t number, const KeptRecord& r) { out.add(kKept, StoredRecord{number, r}); });
  return out.take();
}

Result<Cluster> decode_cluster(std::span<const std::string> chunks) {
  Restore restore;
  for (const std::string& chunk : chunks) MUSTER_TRY_VOID(restore.chunk(chunk));
  return restore.finish();
}

}  // namespace muster
