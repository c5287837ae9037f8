#include "muster/topology.h"

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "muster/fabric_blocks.h"
#include "muster/verbs.h"
#include "muster/words.h"

namespace muster::front {
namespace {

int check(const rpc::TopologyAnswer& site, bool json) {
  FabricCheck checked = check_blocks(site);
  if (checked.topologies.empty())
    return complain(Error(Errc::kNotFound, "topology: there is no topology of blocks to check", "muster topology proposes one"));
  const bool contradicted = !checked.findings.empty();
  show(std::move(checked.findings), checked.topologies, json);
  return contradicted ? 1 : 0;
}

Result<rpc::TopologyAnswer> ask() {
  MUSTER_TRY(session, cli::Session::find(cli::Patience::kNone));
  MUSTER_TRY(site, session.call(rpc::QueryTopology{}));
  if (cliques_of(site).empty())
    return fail(Errc::kNotFound, "topology: no node tells of an NVLink fabric",
                "nodes tell it with AutoDetect=nvml in gres.conf, when their GPUs have registered with one of several nodes");
  return site;
}

}  // namespace

int topology_verb(std::span<const std::string> arguments) {
  Result<Words> words = read_words(arguments, {"--check", "--conf", "--json"}, 0);
  if (!words) return complain(words.error());
  const bool checks = words->has("--check");
  if (words->has("--json") && !checks) return complain(Error(Errc::kBadOption, "topology: --json goes with --check"));
  if (words->has("--conf") && checks) return complain(Error(Errc::kBadOption, "topology: --conf does not go with --check"));
  Result<rpc::TopologyAnswer> site = ask();
  if (!site) return complain(site.error());
  if (checks) return check(*site, words->has("--json"));
  cli::Out().put(words->has("--conf") ? proposed_conf(*site) : proposed_yaml(*site));
  return 0;
}

}  // namespace muster::front
