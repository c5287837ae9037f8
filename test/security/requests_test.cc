// fuzz/requests_fuzz.cc without a fuzzer: messages made from their descriptions, every field with every hostile value, a few in
// a row as a seeded generator chooses them.
#include <gtest/gtest.h>

#include "base/random.h"
#include "hostile/shape.h"
#include "slurmctld/core/command.h"
#include "wire/accounting_instances.h"
#include "wire/instances.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace muster::hostile {
namespace {

Values values() {
  Values v;
  for (uint64_t id = 0; id < 12; ++id) v.numbers.push_back(id);
  for (uint64_t n :
       {uint64_t{1000}, uint64_t{1001}, uint64_t{0x7fffffff}, uint64_t{0xfffffffe}, uint64_t{0xffffffff}, ~uint64_t{0}, ~uint64_t{0} - 100})
    v.numbers.push_back(n);
  v.texts = {"",     "p", "closed", "p,closed",  "friends", "n1",   "ALL", "root",
             "-100", "0", "7",      "UNLIMITED", "YES",     "DOWN", "1-4", "afterok:1"};
  v.keys = {"Partition", "Priority", "Nice",     "AdminComment", "SiteFactor", "TimeLimit",         "EndTime",  "NumNodes",
            "Name",      "Reboot",   "State",    "Reason",       "Dependency", "ArrayTaskThrottle", "Deadline", "OverSubscribe",
            "Requeue",   "UserID",   "MCSLabel", "RootOnly",     "Weight",     "NodeList"};
  return v;
}

// What a message begins with, so that some of it is accepted: a job is aimed at, a submission is a plain one.
template <class M>
void aim(M& m, Random& rng) {
  const JobId job(static_cast<uint32_t>(1 + rng.next() % 8));
  if constexpr (requires { m.request.num_tasks; }) m.request.num_tasks = 1;
  if constexpr (std::is_same_v<M, rpc::UpdateJob> || std::is_same_v<M, rpc::UpdateStep>) {
    m.job.job = job;
    if (rng.next() % 3 == 0) m.job.array_task = static_cast<uint32_t>(rng.next() % 8);
  } else if constexpr (requires { m.job; }) {
    if constexpr (std::is_same_v<decltype(m.job), JobId>) m.job = job;
  }
  if constexpr (std::is_same_v<M, rpc::ControlJobs>) m.jobs.push_back({.job = job, .array_task = rng.next() % 2 ? kNoArrayTask : 2u});
  if constexpr (std::is_same_v<M, rpc::SignalJobs>) m.filter.jobs.push_back({.job = job, .array_task = rng.next() % 2 ? kNoArrayTask : 2u});
}

template <class M>
std::string one(Random& rng, const Values& v) {
  M m{};
  aim(m, rng);
  for (uint64_t n = leaves<M>() ? rng.next() % 4 : 0; n > 0; --n) {
    const size_t leaf = rng.next() % leaves<M>();
    Mutator(v, leaf, rng.next() % 4096).visit(m);
  }
  return wire::encoded(m);
}

void append(std::string& input, uint8_t which, const std::string& bytes) {
  if (bytes.size() > 0xffff) return;
  input += {static_cast<char>(which), static_cast<char>(bytes.size() & 0xff), static_cast<char>(bytes.size() >> 8)};
  input += bytes;
}

TEST(Requests, OfAnOrdinaryUserChangeNothingOfOthers) {
  const Values v = values();
  const char* named = std::getenv("MUSTER_TEST_SEED");
  const uint64_t first = named ? std::strtoull(named, nullptr, 10) : 1, rounds = named ? 1 : 400;
  for (uint64_t seed = first; seed < first + rounds; ++seed) {
    SCOPED_TRACE("MUSTER_TEST_SEED=" + std::to_string(seed));
    Random rng(seed);
    std::string input;
    for (int n = 0; n < 12; ++n) {
      const size_t which = rng.next() % slurmctld::command_rows().size();
      size_t at = 0;
#define MUSTER_COMMAND(request, first, of_job, kind, handler) \
  if (at++ == which) append(input, static_cast<uint8_t>(which), one<rpc::request>(rng, v));
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
    }
    ASSERT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size()), 0);
  }
}

// Each message alone, each field with each value.
TEST(Requests, EveryFieldOfEveryMessage) {
  const Values v = values();
  uint8_t at = 0;
  auto all = [&]<class M>() {
    Random rng(7);
    M base{};
    aim(base, rng);
    std::string input;
    for_each_variant(base, v, [&](const M& m, const std::string&) {
      append(input, at, wire::encoded(m));
      if (input.size() < 30000) return;
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
      input.clear();
    });
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    ++at;
  };
#define MUSTER_COMMAND(request, first, of_job, kind, handler) all.operator()<rpc::request>();
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
}

}  // namespace
}  // namespace muster::hostile
