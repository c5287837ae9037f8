// The live state is the replay of the log: the same bytes as a snapshot, the same derived indexes.
#include "sim/world.h"
#include "wire/cluster_codec.h"

namespace muster::sim {
namespace {

template <class Map>
std::string first_difference(const char* what, const Map& live, const Map& replayed) {
  std::string out;
  Map::diff(live, replayed, [&](uint32_t key, const auto* a, const auto* b) {
    if (!out.empty()) return;
    if (!a || !b || !(*a == *b))
      out = std::string(what) + " " + std::to_string(key) + (a ? b ? " differs" : " is not in the log" : " is missing");
  });
  return out;
}

std::string difference(const Cluster& a, const Cluster& b) {
  if (auto d = first_difference("job", a.jobs, b.jobs); !d.empty()) return d;
  if (auto d = first_difference("node", a.nodes, b.nodes); !d.empty()) return d;
  if (auto d = first_difference("partition", a.partitions, b.partitions); !d.empty()) return d;
  if (auto d = first_difference("array", a.arrays, b.arrays); !d.empty()) return d;
  return "head or requests";
}

}  // namespace

void Checkers::check_replay(const slurmctld::Core& core, const char* when) {
  if (encode_cluster(core.cluster()) != encode_cluster(mirror_))
    fail("replay", std::string(when) + " the state is not the replay of the log: " + difference(core.cluster(), mirror_));
  Duration age = world_.scenario.settings.config().min_job_age;
  if (!core.indexes().same_as(slurmctld::rebuild_indexes(core.cluster(), age)))
    fail("replay", std::string(when) + " the indexes are not those of the state");
  if (!(core.cluster().ledger == core.cluster().counted_ledger()))
    fail("replay", std::string(when) + " the ledger is not what the jobs hold");
  if (!(mirror_.ledger == mirror_.counted_ledger()))
    fail("replay", std::string(when) + " the ledger of the replay is not what its jobs hold");
  if (!indexes_.same_as(core.indexes())) fail("replay", std::string(when) + " the indexes are not those of the replay");
}

}  // namespace muster::sim
