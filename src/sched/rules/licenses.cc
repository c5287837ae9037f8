// Licences of the cluster (--licenses): they belong to no node, and are held until the job ends. How they are written, and what a pool of
// them is: request/licenses.h. slurm.conf(5) Licenses, guide licenses. Hierarchical resources are asked for in the same list and counted in
// the same pools; which of these depends on the nodes (request/layers.h), and so which nodes they leave is a node rule (rules/layers.cc).
#include <algorithm>

#include "sched/rules/in_the_way.h"
#include "sched/rules/job_rules.h"

namespace muster::sched {
namespace {

bool asks(const RequestClass& c) { return !c.shape.licenses.empty(); }

std::vector<uint64_t> all(const Params& params) {
  std::vector<uint64_t> out;
  for (size_t i = 0; i < params.licenses.size(); ++i) out.push_back(params.usable_licenses(i));
  return out;
}

std::vector<uint64_t> amounts(const Params& params, const std::vector<LicenseShare>& list) {
  std::vector<uint64_t> out(params.licenses.size(), 0);
  for (size_t i = 0; i < out.size(); ++i)
    for (const LicenseShare& l : list)
      if (l.name == params.licenses[i].first) out[i] += l.count;
  return out;
}

std::vector<uint64_t> held(const Params& params, const Allocation& a) { return amounts(params, a.licenses); }

// Each alternative (several licences, any of which will do) by itself, since a job keeps the licence that it starts with.
std::vector<std::vector<uint64_t>> wanted(const Params& params, const RequestClass& asked) {
  auto known = [&](const LicenseShare& l) {
    return !names_layer(l.name) && std::ranges::any_of(params.licenses, [&](const auto& have) { return have.first == l.name; });
  };
  const LicenseNeeds& needs = asked.shape.licenses;
  std::vector<std::vector<uint64_t>> out;
  if (!needs.any) {
    const std::vector<LicenseShare> plain = plain_licenses(params, needs);
    if (std::ranges::all_of(plain, known)) out.push_back(amounts(params, plain));
    return out;
  }
  for (const LicenseShare& one : needs.list)
    if (known(one)) out.push_back(amounts(params, {one}));
  return out;
}

constinit const SiteAmounts kAmounts{all, held, wanted, asks};

// Some nodes must be left; how many of them and which the placement asks (rules/layers.cc).
Hold in_layers(const JobQuestion& q, const LicensePool& pool, Grant& grant) {
  const LicenseNeeds& needs = q.asked.shape.licenses;
  if (auto ever = layers_could_ever(q.params, needs, 1); !ever) return {Reason::kLicenses, ever.error().hint};
  auto room = std::make_shared<const LayerRoom>(q.params, needs, [&](size_t i) { return pool.left(q.params.licenses[i].first); });
  if (!room->open().intersects(q.partition.nodes)) return {Reason::kLicenses, room->lacking(1)};
  grant.layers = std::move(room);
  return {};
}

// The licences must be free now and, where promises were made, stay free for as long as the job may run.
Hold holds(const JobQuestion& question, const Held& have, Grant& grant) {
  LicensePool pool = have.licenses;
  if (question.reserved && question.asked.reserved)
    pool.take(question.reserved->kept_licenses(*question.asked.reserved->side,
                                               {question.reserved->now(), question.reserved->end_of(question.asked.reserver())}));
  if (question.promised) {
    const std::vector<uint64_t> promised = question.promised->promised(kAmounts, question.asked.time_limit_min);
    std::vector<LicenseShare> gone;
    for (size_t i = 0; i < promised.size(); ++i)
      if (promised[i] > 0) gone.push_back({question.params.licenses[i].first, promised[i]});
    pool.take(gone);
  }
  const LicenseNeeds& needs = question.asked.shape.licenses;
  auto granted = pool.grant({plain_licenses(question.params, needs), needs.any});
  if (!granted) return {Reason::kLicenses};
  grant.licenses = std::move(*granted);
  return asks_layers(question.params, needs) ? in_layers(question, pool, grant) : Hold();
}

uint64_t count_of(const std::vector<LicenseShare>& list, const std::string& name) {
  auto it = std::ranges::find(list, name, &LicenseShare::name);
  return it == list.end() ? 0 : it->count;
}

// What reservations keep of it from the job, but for what their own jobs hold already. Those are looked for only where one keeps any.
uint64_t kept_from(const StartQuestion& start, const std::string& name) {
  uint64_t out = 0;
  each_in_the_way(start, [&](const Reservation& r) {
    const uint64_t all = count_of(r.licenses, name);
    uint64_t held = 0;
    if (all)
      start.cluster.jobs.for_each([&](uint32_t, const Job& j) {
        if (!j.pending() && !j.finished() && j.run->reservation == r.id) held += count_of(j.allocation->licenses, name);
      });
    out += all - std::min(all, held);
  });
  return out;
}

Result<> at_start(const StartQuestion& q) {
  for (const LicenseShare& l : q.allocation.licenses) {
    auto it = std::ranges::find_if(q.params.licenses, [&](const auto& have) { return have.first == l.name; });
    const uint64_t there =
        it == q.params.licenses.end() ? 0 : q.params.usable_licenses(static_cast<size_t>(it - q.params.licenses.begin()));
    const uint64_t used = q.cluster.license_used(l.name);
    if (used > there || l.count > there - used) return fail(Errc::kNodesBusy, {}, "licence " + l.name + " is in use");
    if (l.count + kept_from(q, l.name) > there - used) return fail(Errc::kNodesBusy, {}, "licence " + l.name + " is reserved");
  }
  return {};
}

// With allow_zero_lic a job waits until the site has the licences.
Result<> ever(const Params& params, const Shape& s) {
  if (params.unknown_licenses_wait) return {};
  MUSTER_TRY_VOID(layers_could_ever(params, s.licenses, s.min_nodes));
  return LicensePool(params).could_ever({plain_licenses(params, s.licenses), s.licenses.any});
}

}  // namespace

constinit const JobRule kLicenses{.name = "licences",
                                  .of = Of::kAmount,
                                  .by = HelpedBy::kForeseen,
                                  .concerns = [](const RequestClass& c, const Partition&, const Params&) { return asks(c); },
                                  .holds = holds,
                                  .at_start = at_start,
                                  .ever = ever,
                                  .counts = [](const Cluster&, const Params& params) { return !params.licenses.empty(); },
                                  .begin = [](Held& have, const Cluster&, const Params& params) { have.licenses = LicensePool(params); },
                                  .take = [](Held& have, const Holding& job) { have.licenses.take(job.allocation.licenses); },
                                  .amounts = &kAmounts};

}  // namespace muster::sched
