#include "acct/limits.h"

#include <algorithm>

#include "acct/limit_rows.h"
#include "base/saturating.h"
#include "base/text.h"

namespace muster::acct {
namespace {

// What nodes have together: of a partition, or all of them.
TresCounts total_of(const Cluster& cluster, const Partition* partition) {
  TresCounts out;
  auto add = [&](const Node& n) {
    out.add(TresTable::kCpu, n.spec->cpus);
    out.add(TresTable::kMem, n.spec->real_memory_mb);
    out.add(TresTable::kNode, 1);
    for (const GresDevices& g : n.spec->gres) add_gres(out, cluster.tres_table(), g.name, g.type, g.count);
  };
  if (partition)
    partition->nodes.for_each([&](size_t id) {
      if (const Node* n = cluster.nodes.find(static_cast<uint32_t>(id))) add(*n);
    });
  else cluster.nodes.for_each([&](uint32_t, const Node& n) { add(n); });
  out.add(TresTable::kBilling, out[TresTable::kCpu]);
  return out;
}

double usage_factor(const QosRecord* qos) { return qos ? std::max(qos->usage_factor.value_or(1), 0.0) : 1; }

class Gathering {
 public:
  Gathering(const Cluster& cluster, Held held, const Asker& asker, const Partition& partition)
      : cluster_(cluster), used_(held.used), asker_(asker), partition_(partition) {
    const AccountDirectory* d = held.accounts ? cluster.directory.get() : nullptr;
    if (!d) return;
    if (asker.association)
      for (uint32_t id : line_of(d, asker.association->id))
        if (const AssociationRecord* a = d->associations.find(id)) line_.push_back(a);
    qos_ = d->qos.find(asker.qos);
    const QosRecord* of_partition = partition.qos.empty() ? nullptr : d->qos.find(to_lower(partition.qos));
    if (of_partition) levels_.push_back(of_partition);
    if (qos_ && qos_ != of_partition) levels_.insert(has_flag(*qos_, "OverPartQOS") ? levels_.begin() : levels_.end(), qos_);
  }

  std::vector<Bound> run() {
    for (const LimitRow& row : limit_rows())
      if (row.on == On::kPartition) add_partition(row);
    for (const QosRecord* level : levels_)
      for (const LimitRow& row : limit_rows())
        if (row.on == On::kQos || (row.on == On::kJobQos && level == qos_)) add_qos(row, *level);
    for (const LimitRow& row : limit_rows())
      if (row.on == On::kAssociation || row.on == On::kAssociations) add_associations(row);
    return std::move(out_);
  }

 private:
  static std::string called(const AssociationRecord& a) {
    if (a.user.empty()) return "account " + a.account;
    return "user " + a.user + " in account " + a.account + (a.partition.empty() ? "" : " and partition " + a.partition);
  }
  bool of_partition(const QosRecord& level) const { return iequals(partition_.qos, level.name); }
  Holder holder_in(const QosRecord& level, const LimitRow& row) const {
    if (row.of == Of::kUser) return Holder::user_of_qos(level.name, asker_.user);
    if (row.of == Of::kAccount) return Holder::account_of_qos(level.name, asker_.account);
    return Holder::qos(level.name);
  }
  void add_partition(const LimitRow& row) {
    if (partition_.max_cpus_per_user == kUnlimited32) return;
    out_.push_back({&row, Holder::user_of_partition(partition_.index, asker_.user), TresTable::kCpu, partition_.max_cpus_per_user, 1,
                    "partition " + partition_.name});
  }
  void add_qos(const LimitRow& row, const QosRecord& level) {
    if (row.of_usage() && !used_) return;
    const std::string whom = "QOS " + level.name + (of_partition(level) ? " of partition " + partition_.name : "");
    for (const Limit& l : level.limits)
      if (l.kind == row.kind && !set_before(level, l))
        add(row, l, holder_in(level, row), whom, has_flag(level, "Relative") ? &level : nullptr);
  }
  void add_associations(const LimitRow& row) {
    if (row.of_usage() && !used_) return;
    for (size_t i = 0; i < line_.size() && (i == 0 || row.on == On::kAssociations); ++i) {
      if (row.of_usage() && line_[i]->parent_id == 0) continue;  // not enforced on root: sacctmgr(1)
      for (const Limit& l : line_[i]->limits)
        if (l.kind == row.kind && !set_by_qos(row, l.tres)) add(row, l, Holder::association(line_[i]->id), called(*line_[i]), nullptr);
    }
  }
  // Whether a QOS that comes before this one sets the same limit.
  bool set_before(const QosRecord& level, const Limit& l) const {
    return levels_.front() != &level && find_limit(levels_.front()->limits, l.kind, l.tres).has_value();
  }
  // Whether a QOS sets the limit that takes the place of the association's.
  bool set_by_qos(const LimitRow& row, const std::string& tres) const {
    return row.unless_qos && std::ranges::any_of(levels_, [&](const QosRecord* q) {
             return (row.counts != Counts::kAccruing || q == qos_) && find_limit(q->limits, *row.unless_qos, tres).has_value();
           });
  }
  // `relative`: a QOS whose limits are parts of what there is, in percent.
  void add(const LimitRow& row, const Limit& l, const Holder& holder, const std::string& whom, const QosRecord* relative) {
    const uint32_t tres = row.per_tres() ? cluster_.tres_table().find(l.tres) : 0;
    if (tres == TresTable::kUnknown) return;
    const uint64_t limit = relative ? percent(row, *relative, tres, l.value) : scaled(row, l.value);
    out_.push_back({&row, holder, tres, limit, factor(row), whom});
  }
  // LimitFactor of the QOS raises or lowers the limits of associations on amounts of TRES.
  uint64_t scaled(const LimitRow& row, uint64_t limit) const {
    const bool of_association = row.on == On::kAssociation || row.on == On::kAssociations;
    if (!of_association || !row.per_tres() || !qos_ || !qos_->limit_factor || *qos_->limit_factor < 0) return limit;
    const double more = static_cast<double>(limit) * *qos_->limit_factor;
    return more >= static_cast<double>(kMaxLimit) ? kMaxLimit : static_cast<uint64_t>(more);
  }
  uint64_t percent(const LimitRow& row, const QosRecord& level, uint32_t tres, uint64_t limit) const {
    constexpr uint64_t kAll = 100;
    if (!row.of_amount()) return limit;
    const TresCounts total = total_of(cluster_, of_partition(level) ? &partition_ : nullptr);
    return mul_sat(total[tres], std::min(limit, kAll)) / kAll;
  }
  double factor(const LimitRow& row) const {
    const bool counts =
        row.counts == Counts::kRunMinutes || (row.counts == Counts::kUsedMinutes && qos_ && has_flag(*qos_, "UsageFactorSafe"));
    return counts ? usage_factor(qos_) : 1;
  }

  const Cluster& cluster_;
  const bool used_;
  const Asker& asker_;
  const Partition& partition_;
  std::vector<const AssociationRecord*> line_;  // the association and those above it
  const QosRecord* qos_ = nullptr;              // the job's
  std::vector<const QosRecord*> levels_;        // that of the partition and the job's, the one that comes first before the other
  std::vector<Bound> out_;
};

constexpr double kMinute = 60;

uint64_t used_of(const Bound& bound, const Standing& at) {
  const Use& use = at.ledger.use_of(bound.holder);
  switch (bound.row->counts) {
    case Counts::kRunning: return use.running;
    case Counts::kSubmitted: return use.submitted;
    case Counts::kAccruing: return use.accruing;
    case Counts::kHeld: return use.held[bound.tres];
    case Counts::kUsedWall: return to_count(minutes_used(bound, at.cluster, at.now));
    case Counts::kUsedMinutes: {
      const uint64_t used = to_count(minutes_used(bound, at.cluster, at.now));
      return at.safe ? add_sat(used, use.run_minutes(bound.tres, at.now)) : used;
    }
    case Counts::kRunMinutes: return use.run_minutes(bound.tres, at.now);
    case Counts::kOneJob:
    case Counts::kOneNode:
    case Counts::kOneJobMinutes:
    case Counts::kAtLeast:
    case Counts::kMinutes: break;
  }
  return 0;
}

// A job without a limit counts as one of a year, here as in the ledger.
uint64_t minutes_of(const Wanted& wanted) { return wanted.time_limit_min == kUnlimited32 ? 365 * 24 * 60 : wanted.time_limit_min; }

uint64_t times(uint64_t amount, double factor) { return factor == 1 ? amount : to_count(static_cast<double>(amount) * factor); }

// How many nodes more than the holder has. Before they are chosen: at least so many.
uint64_t more_nodes(const Bitmap& has, const Wanted& wanted) {
  if (wanted.nodes.any()) return (wanted.nodes - has).count();
  const uint64_t least = wanted.tres[TresTable::kNode], had = has.count();
  return least - std::min(least, had);
}

uint64_t wanted_of(const Bound& bound, const Wanted& wanted, const NodeCounts& had, bool safe) {
  const uint64_t tres = wanted.tres[bound.tres];
  switch (bound.row->counts) {
    case Counts::kRunning:
    case Counts::kAccruing:
    case Counts::kUsedWall: return 1;
    case Counts::kSubmitted: return wanted.jobs;
    case Counts::kUsedMinutes: return safe ? times(mul_sat(tres, minutes_of(wanted)), bound.factor) : std::min<uint64_t>(tres, 1);
    case Counts::kOneNode: return wanted.each_node[bound.tres];
    case Counts::kHeld: return bound.tres == TresTable::kNode ? more_nodes(had.nodes(), wanted) : tres;
    case Counts::kOneJob:
    case Counts::kAtLeast: return tres;
    case Counts::kRunMinutes: return times(mul_sat(tres, minutes_of(wanted)), bound.factor);
    case Counts::kOneJobMinutes: return mul_sat(tres, wanted.time_limit_min);
    case Counts::kMinutes: return wanted.time_limit_min;
  }
  return 0;
}

// A job that wants none of a TRES is not held back where others have too much of it.
bool exceeds(const Bound& b, uint64_t used, uint64_t wanted) {
  if (b.row->counts == Counts::kAtLeast) return wanted < b.limit;
  return wanted > 0 && (used > b.limit || wanted > b.limit - used);
}

}  // namespace

std::vector<Bound> bounds_on(const Cluster& cluster, Held held, const Asker& asker, const Partition& partition) {
  return Gathering(cluster, held, asker, partition).run();
}

std::vector<Bound> bounds_on(const Cluster& cluster, Held held, const Job& job) {
  const Partition* p = cluster.partitions.find(job.partition);
  const AssociationRecord* a = cluster.directory ? cluster.directory->associations.find(job.association) : nullptr;
  const RequestBody& r = *job.request;
  return p ? bounds_on(cluster, held, {a, r.account, r.qos, r.uid}, *p) : std::vector<Bound>();
}

bool is_of_association(Reason reason) {
  return reason != Reason::kNone && std::ranges::any_of(limit_rows(), [&](const LimitRow& row) {
           return (row.on == On::kAssociation || row.on == On::kAssociations) && row.reasons.has(reason);
         });
}

bool any_of_one_node(const std::vector<Bound>& bounds) {
  return std::ranges::any_of(bounds, [](const Bound& b) { return b.row->counts == Counts::kOneNode; });
}

bool any_asked(const std::vector<Bound>& bounds, When when) {
  return std::ranges::any_of(bounds, [&](const Bound& b) { return b.row->asked & when; });
}

double minutes_used(const Bound& bound, const Cluster& cluster, Time now) {
  const Spent spent = cluster.used_by(bound.holder, now);
  return (bound.row->counts == Counts::kUsedWall ? spent.wall : spent.of(bound.tres)) / kMinute;
}

std::optional<Excess> first_exceeded(const std::vector<Bound>& bounds, const Standing& standing, const Wanted& wanted, When when) {
  for (const Bound& b : bounds) {
    if (!(b.row->asked & when)) continue;
    const NodeCounts& had = standing.ledger.use_of(b.holder).nodes;
    const Excess e{&b, used_of(b, standing), wanted_of(b, wanted, had, standing.safe)};
    if (exceeds(b, e.used, e.wanted)) return e;
  }
  return std::nullopt;
}

std::optional<Excess> first_exceeded_alone(const std::vector<Bound>& bounds, const Wanted& wanted) {
  for (const Bound& b : bounds) {
    const Excess e{&b, 0, wanted_of(b, wanted, {}, false)};
    if (b.row->on != On::kPartition && b.row->counts != Counts::kAccruing && exceeds(b, 0, e.wanted)) return e;
  }
  return std::nullopt;
}

LimitView Excess::view(const TresTable& table) const {
  LimitView out;
  const LimitRow& row = *bound->row;
  const bool names_tres = row.per_tres() && !row.called;
  out.name = std::string(row.name()) + (names_tres ? "=" + table.name(bound->tres) : "") + " of " + bound->whom;
  out.limit = bound->limit;
  out.used = used;
  out.wanted = wanted;
  return out;
}

Reason Excess::reason(const TresTable& table) const {
  return bound->row->per_tres() ? bound->row->reasons.of(table.what(bound->tres)) : bound->row->reasons.any;
}

std::string Excess::detail(const TresTable& table) const {
  const LimitView v = view(table);
  if (bound->row->counts == Counts::kAtLeast)
    return v.name + ": a job has to take " + std::to_string(v.limit) + ", " + std::to_string(v.wanted) + " wanted";
  if (bound->row->counts == Counts::kOneJobMinutes && v.used)
    return v.name + ": the job has used " + std::to_string(v.used) + " of " + std::to_string(v.limit) + " minutes";
  if (bound->row->of_one_job()) return v.name + ": a job may have " + std::to_string(v.limit) + ", " + std::to_string(v.wanted) + " wanted";
  const bool over_time = bound->row->counts == Counts::kUsedMinutes || bound->row->counts == Counts::kUsedWall;
  if (over_time && v.wanted <= 1) return v.name + ": " + std::to_string(v.used) + " of " + std::to_string(v.limit) + " minutes used";
  return v.name + ": " + std::to_string(v.used) + " of " + std::to_string(v.limit) + " in use, " + std::to_string(v.wanted) +
         " more wanted";
}

}  // namespace muster::acct
