// Any messages of an ordinary user, decoded as slurmctld decodes them and decided by its core: whatever he sends, the jobs of
// others, the nodes and the partitions stay as they were, and what he has himself is within an ordinary user's bounds.
//
// Input: one message after the other: u8 which (by the order of commands.def), u16 size, that many bytes.
// test/security/requests_test.cc feeds it messages that are made from the descriptions.
#include <map>

#include "controller.h"

namespace {

using namespace muster;
using namespace muster::slurmctld;

constexpr char kConf[] =
    "ClusterName=f\nScronParameters=enable\nSlurmctldHost=h\nAuthType=auth/slurm\nMaxArraySize=64\nMaxJobCount=300\nMinJobAge=10\n"
    "NodeName=n[1-4] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES MaxTime=60\n"
    "PartitionName=closed Nodes=ALL RootOnly=YES\nPartitionName=friends Nodes=ALL AllowGroups=friends\n";

const Caller kVictim{Uid(1000), Gid(1000), {}, {}}, kUser{Uid(1001), Gid(1001), {}, {}};

JobRequest a_job(const Caller& who) {
  JobRequest r;
  r.uid = who.uid;
  r.gid = who.gid;
  r.name = "j";
  r.num_tasks = 1;
  r.time_limit_min = 30;
  return r;
}

// ---- the world: jobs of both that run, wait and are arrays
struct World : FuzzController {
  World() : FuzzController(kConf, Uid{64030}) {
    for (const Caller* who : {&kVictim, &kUser}) {
      JobRequest runs = a_job(*who), waits = runs, array = runs, allocation = runs;
      waits.hold = array.hold = true;
      array.array = "0-7";
      allocation.kind = JobKind::kAllocation;
      turn([&] { (void)core.run(*who, runs); });
      turn([&] { (void)core.run(*who, allocation); });
      turn([&] { plan(); });
      turn([&] { (void)core.run(*who, waits); });
      turn([&] { (void)core.run(*who, array); });
    }
  }
};

// ---- what may not change
template <class T>
std::string bytes_of(const T& value) {
  return wire::encoded(value);
}

std::map<std::string, std::string> of_others(const Cluster& c) {
  std::map<std::string, std::string> out;
  c.jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.request->uid != kUser.uid) out["job " + std::to_string(id)] = bytes_of(j) + bytes_of(j.whole_request());
  });
  c.nodes.for_each([&](uint32_t id, const Node& n) {
    // Not its use by jobs, which the user's own come to and leave.
    const uint32_t flags = n.flags & ~static_cast<uint32_t>(kNodeCompleting);
    out["node " + std::to_string(id)] = bytes_of(*n.spec) + std::to_string(flags) + " " + std::to_string(static_cast<int>(n.admin)) + " " +
                                        n.reason + std::to_string(n.weight);
  });
  c.partitions.for_each([&](uint32_t id, const Partition& p) { out["partition " + std::to_string(id)] = bytes_of(p); });
  return out;
}

[[noreturn]] void broken(const char* what, uint32_t id) {
  std::fprintf(stderr, "an ordinary user's message: ");
  FuzzController::broken(what, id);
}

uint32_t highest_own(const Core& core) {
  uint32_t highest = 0;
  core.cluster().jobs.for_each([&](uint32_t, const Job& j) {
    if (j.request->uid == kUser.uid) highest = std::max(highest, j.priority);
  });
  return highest;
}

// `highest`: the priority that his jobs had before; what comes later has less.
void check_own(const Core& core, uint32_t highest) {
  const Cluster& c = core.cluster();
  c.jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.request->uid != kUser.uid) return;
    if (j.priority > highest) broken("a higher priority", id);
    if (j.request->nice < 0) broken("a nice below 0", id);
    if (j.request->site_factor != 0) broken("a site factor", id);
    if (!j.own.get(&RequestOwn::admin_comment).empty()) broken("an admin's comment", id);
    const Partition* p = c.partitions.find(j.partition);
    if (!p || p->name != "p") broken("a partition that is closed to him", id);
    if (j.request->reboot || j.request->no_allocate) broken("what is for operators", id);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  World w;
  const auto before = of_others(w.core.cluster());
  const uint32_t highest = highest_own(w.core);
  while (size >= 3) {
    const uint8_t which = data[0];
    const size_t length = std::min<size_t>(data[1] | static_cast<size_t>(data[2]) << 8, size - 3);
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, length);
    data += 3 + length;
    size -= 3 + length;
    w.turn([&] {
      const auto command = command_of(which, bytes, kUser);
      if (command && w.core.run(kUser, *command) && command_rows()[which].first != Right::kAsk)
        broken("what comes before anything else was not asked", which);
    });
    if (auto query = query_of(which, bytes))
      if (w.ask(kUser, std::move(*query)) && command_rows()[which].first != Right::kAsk)
        broken("what comes before anything else was not asked", which);
    if (const auto after = of_others(w.core.cluster()); after != before) {
      for (const auto& [what, text] : before)
        if (auto it = after.find(what); it == after.end() || it->second != text) std::fprintf(stderr, "changed: %s\n", what.c_str());
      for (const auto& [what, text] : after)
        if (!before.contains(what)) std::fprintf(stderr, "new: %s\n", what.c_str());
      broken("what is not his changed", which);
    }
    check_own(w.core, highest);
  }
  return 0;
}
