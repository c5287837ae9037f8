// Any text as a trace (SWF or sacct) and as a file of accounts: refused, or read into bounds; a job of it makes a request, and its moments are
// printed and read back as the same.
#include <cstdint>
#include <cstdlib>

#include "sim/replay/accounts_file.h"
#include "sim/replay/request.h"
#include "sim/replay/sacct.h"

using namespace muster::sim::replay;

namespace {

void check(bool good) {
  if (!good) std::abort();
}

void check_job(const Trace& trace, const TraceJob& j, const TraceLimits& limits) {
  check(j.submit >= 0 && j.submit < int64_t{2} * 4102444800);
  check(!j.started() || (j.run >= 0 && j.run <= limits.seconds));
  check(j.nodes <= limits.nodes && j.cpus <= 1000 * limits.nodes && j.gpus <= 1000 * limits.nodes);
  check(!j.limit_min || *j.limit_min == kNoLimit || *j.limit_min <= limits.seconds / 60);
  if (j.submit > 0 && j.submit < 4102444800) check(read_moment(print_moment(j.submit)) == j.submit);
  Adapted adapted;
  const auto request = request_of(trace, j, {}, {}, 0, adapted);
  check(!request.user_name.empty() && !request.account.empty());
  check(caller_of(trace, j).uid == request.uid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ReadOptions options;
  options.processors = size % 3 == 0 ? Processors::kCpus : size % 3 == 1 ? Processors::kGpus : Processors::kNodes;
  if (auto trace = read_trace(text, options)) {
    check(!trace->jobs.empty() && trace->problems.size() <= options.limits.told && trace->problems.size() <= trace->wrong_lines);
    for (size_t i = 0; i < trace->jobs.size(); ++i) {
      check_job(*trace, trace->jobs[i], options.limits);
      check(i == 0 || trace->jobs[i - 1].submit <= trace->jobs[i].submit);
    }
    const muster::rpc::Entities accounts = accounts_of(*trace);
    check(accounts.associations.front().account == "root");
  }
  if (auto accounts = read_accounts(text)) {
    // Parents stand before children, and each association has a QOS.
    uint32_t last = 0;
    for (const muster::AssociationRecord& a : accounts->associations) {
      check(a.id == ++last && a.parent_id < a.id && !a.qos.empty());
    }
  }
  return 0;
}
