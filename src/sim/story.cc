#include "sim/story.h"

#include "base/time.h"
#include "model/cluster.h"
#include "slurmctld/core/apply.h"
#include "slurmctld/core/indexes.h"
#include "wire/event_codec.h"

namespace muster::sim {
namespace {

constexpr Duration kMinJobAge = seconds(300);

std::string moment(Time t) { return t == kTimeUnset ? "-" : std::to_string(unix_seconds(t)); }

std::string nodes_of(const Cluster& cluster, const Job& j) {
  std::string out;
  if (!j.allocation) return "-";
  for (const NodeShare& share : j.allocation->nodes) {
    const Node* n = cluster.nodes.find(share.node.value);
    out +=
        (out.empty() ? "" : ",") + (n ? n->spec->name : "#" + std::to_string(share.node.value)) + ":" + std::to_string(share.cpus.count());
  }
  return out;
}

void tell(const Cluster& cluster, const Job& j, std::string& out) {
  out += "job " + std::to_string(j.id.value) + " " + std::string(job_state_name(j.state)) +
         " user=" + std::to_string(j.request->uid.value) + " name=" + std::string(j.name()) + " exit=" + std::to_string(j.exit_status) +
         " restarts=" + std::to_string(j.restarts) + " submitted=" + moment(j.submitted) + " started=" + moment(j.started) +
         " ended=" + moment(j.ended) + " nodes=" + nodes_of(cluster, j) + "\n";
}

void tell(const Node& n, std::string& out) {
  out += "node " + n.spec->name + " cpus=" + std::to_string(n.spec->cpus) + " state=" + node_state_long(n.state(), n.flags) +
         " reason=" + n.reason + "\n";
}

Result<std::string_view> next_record(std::string_view& log, size_t number) {
  size_t size = 0;
  if (log.size() >= 4)
    for (size_t i = 0; i < 4; ++i) size |= static_cast<size_t>(static_cast<uint8_t>(log[i])) << (8 * i);
  if (log.size() < 4 || log.size() - 4 < size) return fail(Errc::kFrameMalformed, "record " + std::to_string(number) + " is cut off");
  std::string_view record = log.substr(4, size);
  log.remove_prefix(4 + size);
  return record;
}

}  // namespace

void add_record(std::string& log, std::string_view record) {
  for (size_t i = 0; i < 4; ++i) log += static_cast<char>(record.size() >> (8 * i) & 0xff);
  log += record;
}

Result<std::string> story_of(std::string_view log) {
  Cluster cluster;
  slurmctld::Indexes indexes(kMinJobAge);
  std::string out;
  for (size_t number = 1; !log.empty(); ++number) {
    MUSTER_TRY(record, next_record(log, number));
    auto event = decode_event(record);
    if (!event) return fail(Errc::kFrameMalformed, "record " + std::to_string(number) + ": " + std::string(event.error().message()));
    if (auto* purged = std::get_if<event::JobsPurged>(&*event))
      for (JobId id : purged->jobs)
        if (const Job* j = cluster.jobs.find(id.value)) tell(cluster, *j, out);
    slurmctld::apply(cluster, indexes, *event);
  }
  cluster.jobs.for_each([&](uint32_t, const Job& j) { tell(cluster, j, out); });
  cluster.nodes.for_each([&](uint32_t, const Node& n) { tell(n, out); });
  if (!indexes.same_as(slurmctld::rebuild_indexes(cluster, kMinJobAge)))
    return fail("what is derived from the replayed state is not what a rebuild gives");
  return out;
}

}  // namespace muster::sim
