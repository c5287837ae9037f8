#include "slurmctld/turn/turn_driver.h"

#include "wire/cluster_codec.h"
#include "wire/event_codec.h"

namespace muster::slurmctld {

TurnDriver::TurnDriver(Core core, std::unique_ptr<store::EventLog> log, const Clock& clock)
    : core_(std::move(core)), log_(std::move(log)), clock_(clock) {}

// ---- start
Result<> TurnDriver::restore_snapshot(const std::string& place, store::Position& position) {
  MUSTER_TRY(snapshot, log_->load_snapshot());
  if (!snapshot) return {};
  auto cluster = decode_cluster(snapshot->chunks);
  if (!cluster) return fail(Errc::kStateNotSaved, place + ": the snapshot cannot be read: " + std::string(cluster.error().message()));
  core_.restore(std::move(*cluster));
  position = snapshot->position;
  return {};
}

Result<TurnDriver::Recovered> TurnDriver::recover(const std::string& place, bool pass_over_unreadable) {
  store::Position from = 0;
  MUSTER_TRY_VOID(restore_snapshot(place, from));
  Recovered out;
  MUSTER_TRY_VOID(log_->read(from, [&](store::Position position, std::string_view record) -> Result<> {
    auto event = decode_event(record);
    if (event) {
      core_.replay(*event);
      ++out.replayed;
      return {};
    }
    if (!pass_over_unreadable)
      return fail(Errc::kStateNotSaved,
                  place + ": event " + std::to_string(position) + " cannot be read: " + std::string(event.error().message()),
                  "start with -i to go on without it");
    ++out.passed_over;
    return {};
  }));
  MUSTER_TRY_VOID(drop_unused_blobs());
  term_ = log_->last_term() + 1;
  return out;
}

// What a crash left between a job's purge and the drop of its script.
Result<> TurnDriver::drop_unused_blobs() {
  MUSTER_TRY(blobs, log_->list_blobs());
  for (const store::BlobHash& hash : blobs)
    if (!core_.indexes().blob_used(hash)) MUSTER_TRY_VOID(log_->drop_blob(hash));
  return {};
}

Result<std::vector<Effect>> TurnDriver::open(const Settings& settings) {
  const Time now = clock_.now();
  core_.begin(now);
  core_.configure(settings);
  core_.controller_operates();
  core_.housekeep();
  MUSTER_TRY_VOID(append());  // also when there is nothing to say: the new term has to be durable
  core_.commit();
  std::vector<Effect> effects = core_.take_effects(now);
  core_.begin(now);
  core_.cluster().nodes.for_each([&](uint32_t id, const Node&) { core_.node_disconnected(NodeId(id)); });
  core_.commit();
  return effects;
}

// ---- turns
Result<> TurnDriver::append() {
  std::vector<std::string> records;
  records.reserve(core_.events().size());
  for (const Event& e : core_.events()) records.push_back(encode_event(e));
  MUSTER_TRY_VOID(log_->append(term_, records));
  since_snapshot_ += records.size();
  return {};
}

TurnDriver::Turn TurnDriver::turn(std::vector<Task> tasks) {
  Turn out;
  core_.begin(clock_.now());
  out.replies.reserve(tasks.size());
  for (Task& task : tasks)
    if (Reply reply = task.run(core_, *log_)) out.replies.push_back(std::move(reply));
  core_.housekeep();
  out.records = core_.events().size();
  if (out.records > 0) {
    if (auto appended = append(); !appended) {
      core_.rollback();
      out.refused = appended.error();
      out.replies.clear();
      for (Task& task : tasks)
        if (task.refused) out.replies.push_back([refused = std::move(task.refused), e = *out.refused] { refused(e); });
      return out;
    }
  }
  core_.commit();
  return out;
}

Result<> TurnDriver::save_snapshot() {
  store::EventLog::Snapshot s;
  s.position = log_->last_position();
  s.chunks = encode_cluster(core_.cluster());
  MUSTER_TRY_VOID(log_->save_snapshot(term_, s));
  since_snapshot_ = 0;
  return {};
}

}  // namespace muster::slurmctld
