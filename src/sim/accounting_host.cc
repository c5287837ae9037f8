#include "sim/accounting_host.h"

#include "sim/world.h"

namespace muster::sim {

template <class F>
void AccountingHost::later(Duration low, Duration high, F f) {
  world_.after(world_.span(world_.random.accounting, low, high), [this, f, i = incarnation_] {
    if (i == incarnation_ && world_.controller.up()) f();
  });
}

bool AccountingHost::breaks() {
  return !world_.calm() && (world_.options.faults & kFaultNetwork) && world_.random.accounting.chance(0.1);
}

void AccountingHost::controller_started() {
  ++incarnation_;
  connect();
}

// Now, or after slurmdbd was away for a while.
void AccountingHost::connect() {
  bool away = !world_.calm() && world_.random.accounting.chance(0.3);
  later(milliseconds(1), away ? minutes(20) : seconds(5), [this] {
    world_.controller.post({[](slurmctld::Core& c) -> Command::Reply {
                              c.records_stored(0);
                              return {};
                            },
                            [this](const Error&) { connect(); }});
  });
}

void AccountingHost::upload(const slurmctld::UploadRecords& batch) {
  later(Duration(100), seconds(2), [this, batch] { deliver(batch); });
}

void AccountingHost::deliver(const slurmctld::UploadRecords& batch) {
  auto lost = [this] {
    world_.controller.post({[](slurmctld::Core& c) -> Command::Reply {
                              c.records_link_lost();
                              return {};
                            },
                            {}});
    connect();
  };
  if (breaks()) return lost();
  store(slurmctld::make_upload(world_.controller.core().cluster(), batch));
  if (breaks()) return lost();
  later(Duration(100), seconds(2), [this, position = batch.position] {
    world_.controller.post({[position](slurmctld::Core& c) -> Command::Reply {
                              c.records_stored(position);
                              return {};
                            },
                            [this](const Error&) { connect(); }});
  });
}

void AccountingHost::store(const rpc::StoreRecords& m) {
  for (const JobRecord& r : m.jobs) {
    auto [at, fresh] = jobs_.try_emplace(r.key, r);
    if (!fresh && at->second.position < r.position) at->second = r;
  }
  for (const StepRecord& s : m.steps) {
    auto [at, fresh] = steps_.try_emplace({s.job, s.id}, s);
    if (!fresh && at->second.position < s.position) at->second = s;
  }
}

const JobRecord* AccountingHost::job(JobId id, uint32_t restarts) const {
  for (auto at = jobs_.lower_bound({id, Time::min(), 0}); at != jobs_.end() && at->first.id == id; ++at)
    if (at->first.restarts == restarts) return &at->second;
  return nullptr;
}

const JobRecord* AccountingHost::last_run(JobId id) const {
  const JobRecord* last = nullptr;
  for (auto at = jobs_.lower_bound({id, Time::min(), 0}); at != jobs_.end() && at->first.id == id; ++at)
    if (!last || at->first.restarts > last->key.restarts) last = &at->second;
  return last;
}

}  // namespace muster::sim
