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
  kMaintenance = 63,
  kEndedSteps = 100,
  kQuarantine = 101
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
  uint64_t maintenances = 0;  // records that follow
  uint32_t last_maintenance = 0;
  uint64_t ended_steps = 0, quarantines = 0;  // records that follow
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "name", self.name);
    field(2, "last_job_id", self.last_job_id);
    field(3, "last_request_id", self.last_request_id);
    field(4, "default_partition", self.default_partition);
    field(5, "position", self.position);
    field(6, "nodes_epoch", self.nodes_epoch);
    field(7, "use_epoch", self.use_epoch);
    field(8, "jobs_epoch", self.jobs_epoch);
    field(9, "requests", self.requests);
    field(10, "partitions", self.partitions);
    field(11, "nodes", self.nodes);
    field(12, "arrays", self.arrays);
    field(13, "jobs", self.jobs);
    field(14, "kept", self.kept);
    field(15, "accounting", self.accounting);
    field(16, "recorded_position", self.recorded_position);
    field(17, "last_kept_record", self.last_kept_record);
    field(18, "directory_known", self.directory_known);
    field(19, "associations", self.associations);
    field(20, "spent", self.spent);
    field(21, "usage_rule", self.usage_rule);
    field(22, "job_ids_began_anew", self.job_ids_began_anew);
    field(41, "last_reservation", self.last_reservation);
    field(42, "reservations", self.reservations);
    field(61, "crontabs", self.crontabs);
    field(62, "cron_jobs", self.cron_jobs);
    field(63, "triggers", self.triggers);
    field(64, "last_trigger", self.last_trigger);
    field(73, "maintenances", self.maintenances);
    field(74, "last_maintenance", self.last_maintenance);
    field(100, "ended_steps", self.ended_steps);
    field(101, "quarantines", self.quarantines);
  }
};

struct StoredRequest {
  RequestId id{};
  uint32_t jobs = 0;
  CarriedRequest request;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "jobs", self.jobs);
    field(3, "request", self.request);
  }
};

struct StoredRecord {
  uint32_t number = 0;
  KeptRecord record;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "number", self.number);
    field(2, "record", self.record);
  }
};

struct StoredArray {
  JobId id{};
  ArrayGroup group;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "group", self.group);
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

SnapshotHead head_of(const Cluster& cluster) {
  return {.name = cluster.name,
          .last_job_id = cluster.last_job_id,
          .last_request_id = cluster.last_request_id,
          .default_partition = cluster.default_partition,
          .position = cluster.position,
          .nodes_epoch = cluster.nodes_epoch,
          .use_epoch = cluster.use_epoch,
          .jobs_epoch = cluster.jobs_epoch,
          .requests = cluster.requests.size(),
          .partitions = cluster.partitions.size(),
          .nodes = cluster.nodes.size(),
          .arrays = cluster.arrays.size(),
          .jobs = cluster.jobs.size(),
          .kept = cluster.kept_records.size(),
          .accounting = cluster.accounting,
          .recorded_position = cluster.recorded_position,
          .last_kept_record = cluster.last_kept_record,
          .directory_known = cluster.directory != nullptr,
          .associations = cluster.directory ? cluster.directory->associations.size() : 0,
          .spent = cluster.usage.size(),
          .usage_rule = cluster.usage_rule,
          .job_ids_began_anew = cluster.job_ids_began_anew,
          .last_reservation = cluster.last_reservation,
          .reservations = cluster.reservations.size(),
          .crontabs = cluster.crontabs.size(),
          .cron_jobs = cluster.cron_jobs.size(),
          .triggers = cluster.triggers.size(),
          .last_trigger = cluster.last_trigger,
          .maintenances = cluster.maintenances.size(),
          .last_maintenance = cluster.last_maintenance,
          .ended_steps = cluster.ended_steps.size(),
          .quarantines = cluster.quarantines.size()};
}

std::unexpected<Error> broken(std::string what) {
  return fail(Errc::kFrameMalformed, std::string(errc_text(Errc::kFrameMalformed)) + ": snapshot: " + std::move(what));
}

class Restore {
 public:
  Result<> chunk(std::string_view bytes) {
    wire::Reader reader(bytes);
    for (reader.next(); reader.number(); reader.next()) {
      const char* what = "a record";
      switch (reader.number()) {
        case kHead:
          what = "SnapshotHead";
          head(reader);
          break;
        case kRequest:
          what = "StoredRequest";
          request(reader);
          break;
        case kPartition:
          what = "Partition";
          partition(reader);
          break;
        case kNode:
          what = "Node";
          node(reader);
          break;
        case kArray:
          what = "StoredArray";
          array(reader);
          break;
        case kKept:
          what = "KeptRecord";
          kept(reader);
          break;
        case kDirectory:
          what = "AccountChanges";
          directory(reader);
          break;
        case kReservation:
          what = "Reservation";
          reservation(reader);
          break;
        case kSpent:
          what = "StoredSpent";
          spent(reader);
          break;
        case kTopologies: {
          what = "Topologies";
          Topologies t;
          wire::read_value(reader, t);
          c_.topologies = std::make_shared<const Topologies>(std::move(t));
          break;
        }
        case kJob:
          what = "Job";
          MUSTER_TRY_VOID(job(reader));
          break;
        default: what = tool(reader);
      }
      if (reader.failed()) return reader.error(std::string("snapshot: ") + what);
    }
    return reader.error("snapshot");
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
    MUSTER_TRY_VOID(counted(head_.maintenances, c_.maintenances.size(), "maintenances"));
    MUSTER_TRY_VOID(counted(head_.ended_steps, c_.ended_steps.size(), "jobs with steps that have ended"));
    MUSTER_TRY_VOID(counted(head_.quarantines, c_.quarantines.size(), "quarantines"));
    if (head_.directory_known) c_.directory = std::make_shared<const AccountDirectory>(std::move(directory_));
    if (!node_names_.empty()) c_.node_names = std::make_shared<const Names>(std::move(node_names_));
    if (!partition_names_.empty()) c_.partition_names = std::make_shared<const Names>(std::move(partition_names_));
    return std::move(c_);
  }

 private:
  using Names = std::unordered_map<std::string, uint32_t>;

  void head(wire::Reader& reader) {
    wire::read_value(reader, head_);
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
    c_.last_maintenance = head_.last_maintenance;
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
  // Crontabs, their jobs, triggers, maintenances and steps that have ended; the name of what it is, for errors.
  const char* tool(wire::Reader& reader) {
    const auto keep = [&]<class T>(PersistentMap<T>& map, auto key) {
      T value;
      wire::read_value(reader, value);
      const uint32_t at = key(value);
      map.set(at, std::move(value));
    };
    switch (reader.number()) {
      case kCrontab: keep(c_.crontabs, [](const Crontab& t) { return t.user.value; }); return "Crontab";
      case kCronJob: keep(c_.cron_jobs, [](const CronJob& j) { return j.job.value; }); return "CronJob";
      case kTrigger: keep(c_.triggers, [](const Trigger& t) { return t.id; }); return "Trigger";
      case kMaintenance: keep(c_.maintenances, [](const Maintenance& m) { return m.id; }); return "Maintenance";
      case kEndedSteps: keep(c_.ended_steps, [](const EndedSteps& s) { return s.job.value; }); return "EndedSteps";
      case kQuarantine: keep(c_.quarantines, [](const Quarantine& q) { return q.node.value; }); return "Quarantine";
      default: reader.fail("a record of a kind that is not known"); return "a record";
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
  Result<> job(wire::Reader& reader) {
    Job job;
    wire::read_value(reader, job);
    if (reader.failed()) return {};
    const SharedRequest* shared = c_.requests.find(job.request_id.value);
    if (!shared)
      return broken("job " + std::to_string(job.id.value) + " refers to request " + std::to_string(job.request_id.value) +
                    ", which is not there");
    job.asked_for(shared->body, shared->own);
    const uint32_t key = job.id.value;
    c_.jobs.set(key, std::move(job));
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

std::vector<std::string> encode_cluster(const Cluster& cluster) {
  Chunks out;
  out.add(kHead, head_of(cluster));
  cluster.requests.for_each([&](uint32_t id, const SharedRequest& s) {
    out.add(kRequest, StoredRequest{RequestId(id), s.jobs, {s.body, s.own}});
  });
  cluster.partitions.for_each([&](uint32_t, const Partition& p) { out.add(kPartition, p); });
  cluster.nodes.for_each([&](uint32_t, const Node& n) { out.add(kNode, n); });
  cluster.reservations.for_each([&](uint32_t, const Reservation& r) { out.add(kReservation, r); });
  if (cluster.topologies) out.add(kTopologies, *cluster.topologies);
  if (cluster.directory)
    for (const AccountChanges& part : contents_of(*cluster.directory)) out.add(kDirectory, part);
  for (const StoredSpent& s : stored(cluster.usage, cluster.tres_table())) out.add(kSpent, s);
  cluster.arrays.for_each([&](uint32_t id, const ArrayGroup& g) { out.add(kArray, StoredArray{JobId(id), g}); });
  cluster.jobs.for_each([&](uint32_t, const Job& j) { out.add(kJob, j); });
  cluster.crontabs.for_each([&](uint32_t, const Crontab& t) { out.add(kCrontab, t); });
  cluster.cron_jobs.for_each([&](uint32_t, const CronJob& j) { out.add(kCronJob, j); });
  cluster.triggers.for_each([&](uint32_t, const Trigger& t) { out.add(kTrigger, t); });
  cluster.maintenances.for_each([&](uint32_t, const Maintenance& m) { out.add(kMaintenance, m); });
  cluster.ended_steps.for_each([&](uint32_t, const EndedSteps& s) { out.add(kEndedSteps, s); });
  cluster.quarantines.for_each([&](uint32_t, const Quarantine& q) { out.add(kQuarantine, q); });
  cluster.kept_records.for_each([&](uint32_t number, const KeptRecord& r) { out.add(kKept, StoredRecord{number, r}); });
  return out.take();
}

Result<Cluster> decode_cluster(std::span<const std::string> chunks) {
  Restore restore;
  for (const std::string& chunk : chunks) MUSTER_TRY_VOID(restore.chunk(chunk));
  return restore.finish();
}

}  // namespace muster
