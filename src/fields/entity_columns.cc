// The columns of sacctmgr's listings, and the members that they are in its documents (listed_fact.h), in the shapes of the description's
// slurmdb part: account, assoc, cluster_rec, qos, tres, user, wckey. It has none of transactions and resources, whose members are named after
// their columns. Widths and headers are those that Debian's Slurm 22.05 prints.
#include <algorithm>
#include <array>
#include <utility>

#include "base/tres_mem.h"
#include "fields/entity_kinds.h"
#include "fields/entity_objects.h"
#include "fields/entity_values.h"
#include "fields/listed_fact.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const EntityView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

using EntityFact = ListedFact<EntityView>;
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<EntityFact, K, Get>(key, place);
}
constexpr EntityFact row(EntityField column, auto... members) { return listed<EntityView>(column, members...); }

template <LimitKind Kind>
void association_limit(V v, S o) {
  if (v.association) o += limit_text(v.association->limits, Kind);
}
template <LimitKind Kind>
void qos_limit(V v, S o) {
  std::string text = limit_text(v.qos->limits, Kind);
  o += text.empty() && Kind == LimitKind::kPriority ? "0" : text;
}

template <LimitKind Kind, char Tres>
void limit_part(V v, S o) {
  constexpr std::string_view kTres = Tres == 'c' ? "cpu" : Tres == 'm' ? "mem" : "node";
  const std::vector<::muster::Limit>* limits = v.qos ? &v.qos->limits : v.association ? &v.association->limits : nullptr;
  if (auto value = limits ? find_limit(*limits, Kind, kTres) : std::nullopt) put_number(o, *value);  // memory in MB, without its unit
}
constexpr EntityField kOldLimitColumns[] = {
#define MUSTER_OLD_LIMIT(name, kind, tres) \
  {name, name, 11, Fit::kMarked, kWorks, "The older name of a part of a limit: " tres, limit_part<LimitKind::kind, tres[0]>},
#include "model/old_limit.def"
#undef MUSTER_OLD_LIMIT
};

// The numbers that Slurm 22.05 prints for the states; nothing for a cluster that is in no federation.
void put_fed_state_number(const ClusterRecord& cluster, S o) {
  constexpr std::pair<std::string_view, uint32_t> kStates[] = {{"ACTIVE", 1}, {"INACTIVE", 2}, {"DRAIN", 17}};
  for (const auto& [state, number] : kStates)
    if (state == cluster.fed_state) put_number(o, number);
}

// Slurm lists QOS by their names, in whatever order they were given.
void put_sorted(std::vector<std::string> names, S o) {
  std::ranges::sort(names);
  o += join(names, ",");
}
void put_account(V v, S o) {
  if (!v.association) return;
  if (v.tree) o.append(v.depth, ' ');
  o += v.association->account;
}
void put_shares(V v, S o) {
  if (!v.association) return;
  std::string text = limit_text(v.association->limits, LimitKind::kShares);
  o += text.empty() ? "1" : text;
}
void put_grace(V v, S o) { put_span_full(o, seconds(static_cast<int64_t>(find_limit(v.qos->limits, LimitKind::kGraceTime).value_or(0)))); }
void put_real(std::optional<double> value, S o) {
  if (!value) return;
  char text[40];
  o.append(text, static_cast<size_t>(snprintf(text, sizeof text, "%f", *value)));
}
void put_qos_numbers(V v, S o) {
  if (!v.association || !v.all_qos) return;
  bool first = true;
  for (const std::string& name : v.association->qos)
    for (const QosRecord& q : *v.all_qos) {
      if (q.name != name) continue;
      if (!first) o += ',';
      first = false;
      put_number(o, q.id);
    }
}

constexpr EntityFact kAssociation[] = {
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster",
     [](V v, S o) {
       if (v.association) o += v.association->cluster;
     }}, member<Text, of_association<&AssociationRecord::cluster>>("cluster", 30)),
    row({"Account", "Account", 10, Fit::kMarked, kWorks, "The account", [](V v, S o) { put_account(v, o); }, "Acct"}, member<Text, of_association<&AssociationRecord::account>>("account", 20)),
    row({"User", "User", 10, Fit::kMarked, kWorks, "The user; of the account itself nothing",
     [](V v, S o) {
       if (v.association) o += v.association->user;
     }}, member<Text, of_association<&AssociationRecord::user>>("user", 300)),
    row({"Partition", "Partition", 10, Fit::kMarked, kWorks, "The partition, if it is of one",
     [](V v, S o) {
       if (v.association) o += v.association->partition;
     }}, member<Text, of_association<&AssociationRecord::partition>>("partition", 260)),
    row({"Share", "Share", 9, Fit::kMarked, kWorks, "Shares for fair share", [](V v, S o) { put_shares(v, o); }, "FairShare"}, member<Number, shares>("shares_raw", 290)),
    row({"Priority", "Priority", 10, Fit::kMarked, kWorks, "What it adds to the priority", association_limit<LimitKind::kPriority>}, member<MaybeCount, limit<LimitKind::kPriority>>("priority", 270)),
    row({"GrpJobs", "GrpJobs", 7, Fit::kMarked, kWorks, "Jobs running at once, of it and all below", association_limit<LimitKind::kGrpJobs>}, member<LimitCount, limit<LimitKind::kGrpJobs>>("max.jobs.per.count", 70)),
    row({"GrpTRES", "GrpTRES", 13, Fit::kMarked, kWorks, "Resources in use at once, of it and all below",
     association_limit<LimitKind::kGrpTres>}, member<LimitTres, tres_limits<LimitKind::kGrpTres>>("max.tres.total", 140)),
    row({"GrpSubmit", "GrpSubmit", 9, Fit::kMarked, kWorks, "Jobs waiting or running, of it and all below",
     association_limit<LimitKind::kGrpSubmitJobs>, "GrpSubmitJobs"}, member<LimitCount, limit<LimitKind::kGrpSubmitJobs>>("max.jobs.per.submitted", 90)),
    row({"GrpWall", "GrpWall", 11, Fit::kMarked, kWorks, "Wall clock time, of it and all below", association_limit<LimitKind::kGrpWall>}, member<LimitCount, limit<LimitKind::kGrpWall>>("max.per.account.wall_clock", 210)),
    row({"GrpTRESMins", "GrpTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes used, of it and all below",
     association_limit<LimitKind::kGrpTresMins>}, member<LimitTres, tres_limits<LimitKind::kGrpTresMins>>("max.tres.group.minutes", 150)),
    row({"MaxJobs", "MaxJobs", 7, Fit::kMarked, kWorks, "Jobs running at once", association_limit<LimitKind::kMaxJobs>}, member<LimitCount, limit<LimitKind::kMaxJobs>>("max.jobs.active", 110)),
    row({"MaxTRES", "MaxTRES", 13, Fit::kMarked, kWorks, "Resources of a job", association_limit<LimitKind::kMaxTresPerJob>,
     "MaxTRESPJ MaxTRESPerJob"}, member<LimitTres, tres_limits<LimitKind::kMaxTresPerJob>>("max.tres.per.job", 190)),
    row({"MaxTRESPerNode", "MaxTRESPerNode", 14, Fit::kMarked, kWorks, "Resources of a job on each node",
     association_limit<LimitKind::kMaxTresPerNode>, "MaxTRESPN"}, member<LimitTres, tres_limits<LimitKind::kMaxTresPerNode>>("max.tres.per.node", 200)),
    row({"MaxSubmit", "MaxSubmit", 9, Fit::kMarked, kWorks, "Jobs waiting or running", association_limit<LimitKind::kMaxSubmitJobs>,
     "MaxSubmitJobs"}, member<LimitCount, limit<LimitKind::kMaxSubmitJobs>>("max.jobs.total", 130)),
    row({"MaxWall", "MaxWall", 11, Fit::kMarked, kWorks, "Wall clock time of a job", association_limit<LimitKind::kMaxWall>,
     "MaxWallDurationPerJob"}, member<LimitCount, limit<LimitKind::kMaxWall>>("max.jobs.per.wall_clock", 100)),
    row({"MaxTRESMins", "MaxTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes of a job", association_limit<LimitKind::kMaxTresMinsPerJob>,
     "MaxTRESMinsPJ MaxTRESMinsPerJob"}, member<LimitTres, tres_limits<LimitKind::kMaxTresMinsPerJob>>("max.tres.minutes.per.job", 180)),
    row({"QOS", "QOS", 20, Fit::kMarked, kWorks, "QOS that may be used",
     [](V v, S o) {
       if (v.association) put_sorted(v.association->qos, o);
     },
     "QosLevel"}, member<List, qos_of_association>("qos", 280)),
    row({"DefaultQOS", "Def QOS", 9, Fit::kMarked, kWorks, "The QOS of jobs that name none",
     [](V v, S o) {
       if (v.association) o += v.association->default_qos;
     }}, member<Text, of_association<&AssociationRecord::default_qos>>("default.qos", 50)),
    row({"GrpTRESRunMins", "GrpTRESRunMins", 13, Fit::kMarked, kWorks, "Resource minutes of running jobs, of it and all below",
     association_limit<LimitKind::kGrpTresRunMins>}, member<LimitTres, tres_limits<LimitKind::kGrpTresRunMins>>("max.tres.group.active", 160)),
    row({"GrpJobsAccrue", "GrpJobsAccrue", 13, Fit::kMarked, kWorks, "Jobs growing in priority with age, of it and all below",
     association_limit<LimitKind::kGrpJobsAccrue>}, member<LimitCount, limit<LimitKind::kGrpJobsAccrue>>("max.jobs.per.accruing", 80)),
    row({"MaxJobsAccrue", "MaxJobsAccrue", 13, Fit::kMarked, kWorks, "Jobs growing in priority with age",
     association_limit<LimitKind::kMaxJobsAccrue>}, member<LimitCount, limit<LimitKind::kMaxJobsAccrue>>("max.jobs.accruing", 120)),
    row({"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags",
     [](V v, S o) {
       if (v.association) o += join(v.association->flags, ",");
     }}, member<List, flags_of<&EntityView::association>>("flags", 60)),
    row({"Comment", "Comment", 20, Fit::kMarked, kWorks, "Its comment",
     [](V v, S o) {
       if (v.association) o += v.association->comment;
     }}, member<Text, of_association<&AssociationRecord::comment>>("comment", 40)),
    row({"ID", "ID", 6, Fit::kWhole, kWorks, "Its number",
     [](V v, S o) {
       if (v.association) put_number(o, v.association->id);
     }}, member<Number, of_association<&AssociationRecord::id>>("id", 220)),
    row({"Lineage", "Lineage", 20, Fit::kMarked, kWorks, "The way to it from the root",
     [](V v, S o) {
       if (v.association) o += v.association->lineage;
     }}, member<Text, of_association<&AssociationRecord::lineage>>("lineage", 240)),
    row({"ParentID", "ParentID", 8, Fit::kWhole, kWorks, "The number of the association above",
     [](V v, S o) {
       if (v.association && v.association->parent_id) put_number(o, v.association->parent_id);
     }}),
    row({"ParentName", "ParentName", 10, Fit::kMarked, kWorks, "The account above an account",
     [](V v, S o) {
       if (v.association) o += v.association->parent_account;
     }}, member<Text, of_association<&AssociationRecord::parent_account>>("parent_account", 255)),
    row({"QOSRaw", "QOS_RAW", 10, Fit::kMarked, kWorks, "The numbers of those QOS", [](V v, S o) { put_qos_numbers(v, o); }, "QOS_RAW"}),
    unlisted<EntityView>(member<NoObjects, no_text>("accounting", 10)),
    unlisted<EntityView>(member<NoObjects, no_text>("max.tres.minutes.total", 170)),
    unlisted<EntityView>(member<Flag, of_association<&AssociationRecord::is_default>>("is_default", 230)),
    unlisted<EntityView>(member<LimitCount, no_limit>("min.priority_threshold", 250)),
};
constexpr EntityFact kQos[] = {
    row({"Name", "Name", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.qos->name; }},
        member<Text, of_qos<&QosRecord::name>>("name", 270)),
    row({"Priority", "Priority", 10, Fit::kMarked, kWorks, "What it adds to the priority", qos_limit<LimitKind::kPriority>},
        member<MaybeCount, qos_priority>("priority", 310)),
    row({"GraceTime", "GraceTime", 10, Fit::kWhole, kWorks, "Time a job has to end when it is preempted",
         [](V v, S o) { put_grace(v, o); }},
        member<Number, grace_seconds>("limits.grace_time", 40)),
    row({"Preempt", "Preempt", 10, Fit::kMarked, kWorks, "QOS whose jobs it may preempt", [](V v, S o) { put_sorted(v.qos->preempt, o); }},
        member<List, of_qos<&QosRecord::preempt>>("preempt.list", 280)),
    row({"PreemptExemptTime", "PreemptExemptTime", 19, Fit::kMarked, kWorks, "Time a job runs before it may be preempted",
         qos_limit<LimitKind::kPreemptExemptTime>},
        member<LimitCount, limit<LimitKind::kPreemptExemptTime>>("preempt.exempt_time", 300)),
    row({"PreemptMode", "PreemptMode", 11, Fit::kMarked, kWorks, "How its jobs are preempted",
         [](V v, S o) { o += v.qos->preempt_mode.empty() ? "cluster" : v.qos->preempt_mode.text(); }},
        member<List, preempt_words>("preempt.mode", 290)),
    row({"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.qos->flags, ","); }},
        member<List, qos_flag_words>("flags", 20)),
    row({"UsageThres", "UsageThres", 10, Fit::kWhole, kWorks, "Fair share below which jobs wait",
         [](V v, S o) { put_real(v.qos->usage_threshold, o); }, "UsageThreshold"},
        member<MaybeReal, of_qos<&QosRecord::usage_threshold>>("usage_threshold", 330)),
    row({"UsageFactor", "UsageFactor", 11, Fit::kWhole, kWorks, "What its usage is multiplied with",
         [](V v, S o) { put_real(v.qos->usage_factor.value_or(1), o); }},
        member<MaybeReal, usage_factor>("usage_factor", 320)),
    row({"GrpTRES", "GrpTRES", 13, Fit::kMarked, kWorks, "Resources in use at once", qos_limit<LimitKind::kGrpTres>},
        member<LimitTres, tres_limits<LimitKind::kGrpTres>>("limits.max.tres.total", 120)),
    row({"GrpTRESMins", "GrpTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes used", qos_limit<LimitKind::kGrpTresMins>},
        member<LimitTres, tres_limits<LimitKind::kGrpTresMins>>("limits.max.tres.minutes.total", 130)),
    row({"GrpTRESRunMins", "GrpTRESRunMins", 13, Fit::kMarked, kWorks, "Resource minutes of running jobs",
         qos_limit<LimitKind::kGrpTresRunMins>},
        member<LimitTres, tres_limits<LimitKind::kGrpTresRunMins>>("limits.max.tres.minutes.per.qos", 140)),
    row({"GrpJobs", "GrpJobs", 7, Fit::kMarked, kWorks, "Jobs running at once", qos_limit<LimitKind::kGrpJobs>},
        member<LimitCount, limit<LimitKind::kGrpJobs>>("limits.max.active_jobs.count", 60)),
    row({"GrpSubmit", "GrpSubmit", 9, Fit::kMarked, kWorks, "Jobs waiting or running", qos_limit<LimitKind::kGrpSubmitJobs>,
         "GrpSubmitJobs"},
        member<LimitCount, limit<LimitKind::kGrpSubmitJobs>>("limits.max.jobs.count", 70)),
    row({"GrpWall", "GrpWall", 11, Fit::kMarked, kWorks, "Wall clock time", qos_limit<LimitKind::kGrpWall>},
        member<LimitCount, limit<LimitKind::kGrpWall>>("limits.max.wall_clock.per.qos", 210)),
    row({"MaxTRES", "MaxTRES", 13, Fit::kMarked, kWorks, "Resources of a job", qos_limit<LimitKind::kMaxTresPerJob>,
         "MaxTRESPJ MaxTRESPerJob"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresPerJob>>("limits.max.tres.per.job", 185)),
    row({"MaxTRESPerNode", "MaxTRESPerNode", 14, Fit::kMarked, kWorks, "Resources of a job on each node",
         qos_limit<LimitKind::kMaxTresPerNode>, "MaxTRESPN"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresPerNode>>("limits.max.tres.per.node", 190)),
    row({"MaxTRESMins", "MaxTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes of a job", qos_limit<LimitKind::kMaxTresMinsPerJob>,
         "MaxTRESMinsPJ MaxTRESMinsPerJob"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresMinsPerJob>>("limits.max.tres.minutes.per.job", 150)),
    row({"MaxWall", "MaxWall", 11, Fit::kMarked, kWorks, "Wall clock time of a job", qos_limit<LimitKind::kMaxWall>,
         "MaxWallDurationPerJob"},
        member<LimitCount, limit<LimitKind::kMaxWall>>("limits.max.wall_clock.per.job", 220)),
    row({"MaxTRESPU", "MaxTRESPU", 13, Fit::kMarked, kWorks, "Resources of a user", qos_limit<LimitKind::kMaxTresPerUser>,
         "MaxTRESPerUser"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresPerUser>>("limits.max.tres.per.user", 200)),
    row({"MaxJobsPU", "MaxJobsPU", 9, Fit::kMarked, kWorks, "Jobs of a user running at once", qos_limit<LimitKind::kMaxJobsPerUser>,
         "MaxJobsPerUser"},
        member<LimitCount, limit<LimitKind::kMaxJobsPerUser>>("limits.max.jobs.active_jobs.per.user", 90)),
    row({"MaxSubmitPU", "MaxSubmitPU", 11, Fit::kMarked, kWorks, "Jobs of a user waiting or running",
         qos_limit<LimitKind::kMaxSubmitJobsPerUser>, "MaxSubmitJobsPU MaxSubmitJobsPerUser"},
        member<LimitCount, limit<LimitKind::kMaxSubmitJobsPerUser>>("limits.max.jobs.per.user", 110)),
    row({"MaxTRESPA", "MaxTRESPA", 13, Fit::kMarked, kWorks, "Resources of an account", qos_limit<LimitKind::kMaxTresPerAccount>,
         "MaxTRESPerAccount"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresPerAccount>>("limits.max.tres.per.account", 180)),
    row({"MaxJobsPA", "MaxJobsPA", 9, Fit::kMarked, kWorks, "Jobs of an account running at once", qos_limit<LimitKind::kMaxJobsPerAccount>,
         "MaxJobsPerAccount"},
        member<LimitCount, limit<LimitKind::kMaxJobsPerAccount>>("limits.max.jobs.active_jobs.per.account", 80)),
    row({"MaxSubmitPA", "MaxSubmitPA", 11, Fit::kMarked, kWorks, "Jobs of an account waiting or running",
         qos_limit<LimitKind::kMaxSubmitJobsPerAccount>, "MaxSubmitJobsPA MaxSubmitJobsPerAccount"},
        member<LimitCount, limit<LimitKind::kMaxSubmitJobsPerAccount>>("limits.max.jobs.per.account", 100)),
    row({"MinTRES", "MinTRES", 13, Fit::kMarked, kWorks, "Resources a job must ask for", qos_limit<LimitKind::kMinTresPerJob>,
         "MinTRESPerJob"},
        member<LimitTres, tres_limits<LimitKind::kMinTresPerJob>>("limits.min.tres.per.job", 265)),
    row({"Description", "Descr", 20, Fit::kMarked, kWorks, "What it is for", [](V v, S o) { o += v.qos->description; }},
        member<Text, of_qos<&QosRecord::description>>("description", 10)),
    row({"GrpJobsAccrue", "GrpJobsAccrue", 13, Fit::kMarked, kWorks, "Jobs growing in priority with age",
         qos_limit<LimitKind::kGrpJobsAccrue>},
        member<LimitCount, limit<LimitKind::kGrpJobsAccrue>>("limits.max.active_jobs.accruing", 50)),
    row({"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.qos->id); }},
        member<Number, of_qos<&QosRecord::id>>("id", 30)),
    row({"LimitFactor", "LimitFactor", 11, Fit::kWhole, kWorks, "What limits of associations are multiplied with",
         [](V v, S o) { put_real(v.qos->limit_factor, o); }},
        member<MaybeReal, of_qos<&QosRecord::limit_factor>>("limits.factor", 250)),
    row({"MaxJobsAccruePA", "MaxJobsAccruePA", 15, Fit::kMarked, kWorks, "Jobs of an account growing in priority with age",
         qos_limit<LimitKind::kMaxJobsAccruePerAccount>, "MaxJobsAccruePerAccount"},
        member<LimitCount, limit<LimitKind::kMaxJobsAccruePerAccount>>("limits.max.accruing.per.account", 230)),
    row({"MaxJobsAccruePU", "MaxJobsAccruePU", 15, Fit::kMarked, kWorks, "Jobs of a user growing in priority with age",
         qos_limit<LimitKind::kMaxJobsAccruePerUser>, "MaxJobsAccruePerUser"},
        member<LimitCount, limit<LimitKind::kMaxJobsAccruePerUser>>("limits.max.accruing.per.user", 240)),
    row({"MaxTRESRunMinsPA", "MaxTRESRunMinsPA", 15, Fit::kMarked, kWorks, "Resource minutes of running jobs of an account",
         qos_limit<LimitKind::kMaxTresRunMinsPerAccount>, "MaxTRESRunMinsPerAccount"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresRunMinsPerAccount>>("limits.max.tres.minutes.per.account", 160)),
    row({"MaxTRESRunMinsPU", "MaxTRESRunMinsPU", 15, Fit::kMarked, kWorks, "Resource minutes of running jobs of a user",
         qos_limit<LimitKind::kMaxTresRunMinsPerUser>, "MaxTRESRunMinsPerUser"},
        member<LimitTres, tres_limits<LimitKind::kMaxTresRunMinsPerUser>>("limits.max.tres.minutes.per.user", 170)),
    row({"MinPrioThreshold", "MinPrioThres", 12, Fit::kMarked, kWorks, "Priority from which resources are reserved",
         qos_limit<LimitKind::kMinPriority>},
        member<LimitCount, limit<LimitKind::kMinPriority>>("limits.min.priority_threshold", 260)),
};
constexpr EntityFact kAccount[] = {
    row({"Account", "Account", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.account->name; }, "Name Acct"},
        member<Text, of<&EntityView::account, &AccountRecord::name>>("name", 40)),
    row({"Description", "Descr", 20, Fit::kMarked, kWorks, "What it is for", [](V v, S o) { o += v.account->description; }},
        member<Text, of<&EntityView::account, &AccountRecord::description>>("description", 30)),
    row({"Organization", "Org", 20, Fit::kMarked, kWorks, "Whose it is", [](V v, S o) { o += v.account->organization; }},
        member<Text, of<&EntityView::account, &AccountRecord::organization>>("organization", 50)),
    row({"Coordinators", "Coord Accounts", 20, Fit::kMarked, kWorks, "Users who coordinate it",
         [](V v, S o) { o += join(v.account->coordinators, ","); }},
        member<Coordination, of<&EntityView::account, &AccountRecord::coordinators>>("coordinators", 20)),
    row({"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.account->flags, ","); }},
        member<List, flags_of<&EntityView::account>>("flags", 60)),
    unlisted<EntityView>(member<ShortAssociations, associations_of_account>("associations", 10)),
};
constexpr EntityFact kUser[] = {
    row({"User", "User", 10, Fit::kMarked, kWorks, "The name", [](V v, S o) { o += v.user->name; }, "Name"},
        member<Text, of<&EntityView::user, &UserRecord::name>>("name", 80)),
    row({"DefaultAccount", "Def Acct", 10, Fit::kMarked, kWorks, "The account of jobs that name none",
         [](V v, S o) { o += v.user->default_account; }},
        member<Text, of<&EntityView::user, &UserRecord::default_account>>("default.account", 50)),
    row({"DefaultWCKey", "Def WCKey", 10, Fit::kMarked, kWorks, "The key of jobs that name none",
         [](V v, S o) { o += v.user->default_wckey; }},
        member<Text, of<&EntityView::user, &UserRecord::default_wckey>>("default.wckey", 60)),
    row({"AdminLevel", "Admin", 9, Fit::kMarked, kWorks, "What the user may do",
         [](V v, S o) { o += admin_level_name(v.user->admin_level); }},
        member<Words, admin_word>("administrator_level", 10)),
    row({"Coordinators", "Coord Accounts", 20, Fit::kMarked, kWorks, "Accounts the user coordinates",
         [](V v, S o) { o += join(v.user->coordinator_of, ","); }},
        member<Coordination, of<&EntityView::user, &UserRecord::coordinator_of>>("coordinators", 30)),
    unlisted<EntityView>(member<ShortAssociations, associations_of_user>("associations", 20)),
    unlisted<EntityView>(member<Number, zero>("default.qos", 40)),
    unlisted<EntityView>(member<List, flags_of<&EntityView::user>>("flags", 70)),
    unlisted<EntityView>(member<Text, no_text>("old_name", 90)),
    unlisted<EntityView>(member<NoObjects, no_text>("wckeys", 100)),
};
constexpr EntityFact kCluster[] = {
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.cluster->name; }, "Name"},
        member<Text, of<&EntityView::cluster, &ClusterRecord::name>>("name", 40)),
    row({"ControlHost", "ControlHost", 15, Fit::kMarked, kWorks, "Where its controller runs",
         [](V v, S o) { o += v.cluster->control_host; }},
        member<Text, of<&EntityView::cluster, &ClusterRecord::control_host>>("controller.host", 10)),
    row({"ControlPort", "ControlPort", 12, Fit::kWhole, kWorks, "The port of the controller",
         [](V v, S o) { put_number(o, v.cluster->control_port); }},
        member<Number, of<&EntityView::cluster, &ClusterRecord::control_port>>("controller.port", 20)),
    row({"RPC", "RPC", 5, Fit::kWhole, kWorks, "The version its controller speaks",
         [](V v, S o) { put_number(o, v.cluster->rpc_version); }},
        member<Number, of<&EntityView::cluster, &ClusterRecord::rpc_version>>("rpc_version", 80)),
    row({"Classification", "Class", 9, Fit::kMarked, kWorks, "What kind of machine it is",
         [](V v, S o) { o += v.cluster->classification; }}),
    row({"Features", "Features", 20, Fit::kMarked, kWorks, "Its features", [](V v, S o) { o += v.cluster->features; }}),
    row({"Federation", "Federation", 10, Fit::kMarked, kWorks, "The federation it is in", [](V v, S o) { o += v.cluster->federation; }}),
    row({"FedState", "FedState", 12, Fit::kMarked, kWorks, "Its state there", [](V v, S o) { o += v.cluster->fed_state; }}),
    row({"FedStateRaw", "FedStateRaw", 11, Fit::kWhole, kWorks, "Its state there, as a number",
         [](V v, S o) { put_fed_state_number(*v.cluster, o); }}),
    row({"ID", "ID", 2, Fit::kWhole, kWorks, "Its number in the federation",
         [](V v, S o) { if (v.cluster->fed_id) put_number(o, v.cluster->fed_id); }}),
    row({"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.cluster->flags, ","); }},
        member<List, cluster_flag_words>("flags", 30)),
    row({"NodeCount", "NodeCount", 9, Fit::kWhole, kWorks, "How many nodes it has",
         [](V v, S o) { put_number(o, v.cluster->node_count); }}),
    row({"NodeNames", "NodeName", 15, Fit::kMarked, kWorks, "Its nodes", [](V v, S o) { o += v.cluster->nodes; }, "ClusterNodes"},
        member<Text, of<&EntityView::cluster, &ClusterRecord::nodes>>("nodes", 50)),
    row({"TRES", "TRES", 20, Fit::kMarked, kWorks, "What it has", [](V v, S o) { o += cluster_tres_text(v.cluster->tres); }},
        member<AmountsTres, tres_of_cluster>("tres", 90)),
    unlisted<EntityView>(member<Text, no_text>("select_plugin", 60)),
    unlisted<EntityView>(member<ShortAssociation, root_association>("associations.root", 70)),
};
constexpr EntityFact kFederation[] = {
    row({"Federation", "Federation", 10, Fit::kMarked, kWorks, "Its name; in a tree on a line of its own",
         [](V v, S o) {
           if (!v.tree || !v.cluster) o += v.federation->name;
         },
         "Name"}),
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "A cluster that is in it",
         [](V v, S o) {
           if (v.cluster) o += v.cluster->name;
         }}),
    row({"Index", "ID", 2, Fit::kWhole, kWorks, "The cluster's number in it",
         [](V v, S o) {
           if (v.cluster) put_number(o, v.cluster->fed_id);
         },
         "ID"}),
    row({"Features", "Features", 20, Fit::kMarked, kWorks, "The cluster's features",
         [](V v, S o) {
           if (v.cluster) o += v.cluster->features;
         }}),
    row({"FedState", "FedState", 12, Fit::kMarked, kWorks, "The cluster's state in it",
         [](V v, S o) {
           if (v.cluster) o += v.cluster->fed_state;
         }}),
    row({"FedStateRaw", "FedStateRaw", 11, Fit::kWhole, kWorks, "The cluster's state in it, as a number",
         [](V v, S o) {
           if (v.cluster) put_fed_state_number(*v.cluster, o);
         }}),
};
constexpr EntityFact kTres[] = {
    row({"Type", "Type", 8, Fit::kMarked, kWorks, "Its type", [](V v, S o) { o += v.tres->type; }},
        member<Text, of<&EntityView::tres, &TresRecord::type>>("type", 10)),
    row({"Name", "Name", 15, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.tres->name; }},
        member<Text, of<&EntityView::tres, &TresRecord::name>>("name", 20)),
    row({"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.tres->id); }},
        member<Number, of<&EntityView::tres, &TresRecord::id>>("id", 30)),
    unlisted<EntityView>(member<Number, zero>("count", 40)),
};
constexpr EntityFact kWckey[] = {
    row({"WCKey", "WCKey", 10, Fit::kMarked, kWorks, "The key",
         [](V v, S o) {
           if (v.wckey->is_default) o += '*';
           o += v.wckey->name;
         },
         "Name"},
        member<Text, of<&EntityView::wckey, &WckeyRecord::name>>("name", 40)),
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { o += v.wckey->cluster; }},
        member<Text, of<&EntityView::wckey, &WckeyRecord::cluster>>("cluster", 20)),
    row({"User", "User", 10, Fit::kMarked, kWorks, "The user", [](V v, S o) { o += v.wckey->user; }},
        member<Text, of<&EntityView::wckey, &WckeyRecord::user>>("user", 50)),
    row({"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.wckey->id); }},
        member<Number, of<&EntityView::wckey, &WckeyRecord::id>>("id", 30)),
    unlisted<EntityView>(member<NoObjects, no_text>("accounting", 10)),
    unlisted<EntityView>(member<List, flags_of<&EntityView::wckey>>("flags", 60)),
};
constexpr EntityFact kTransaction[] = {
    row({"TimeStamp", "Time", 19, Fit::kCut, kWorks, "When", [](V v, S o) { put_time(o, v.transaction->time, v.env, ""); }, "Time"},
        member<RecordTime, of<&EntityView::transaction, &TransactionRecord::time>>("time", 20)),
    row({"Action", "Action", 20, Fit::kMarked, kWorks, "What was done", [](V v, S o) { o += v.transaction->action; }},
        member<Text, of<&EntityView::transaction, &TransactionRecord::action>>("action", 30)),
    row({"Actor", "Actor", 10, Fit::kMarked, kWorks, "By whom", [](V v, S o) { o += v.transaction->actor; }},
        member<Text, of<&EntityView::transaction, &TransactionRecord::actor>>("actor", 40)),
    row({"Where", "Where", 20, Fit::kMarked, kWorks, "To what", [](V v, S o) { o += v.transaction->where; }},
        member<Text, of<&EntityView::transaction, &TransactionRecord::where>>("where", 50)),
    row({"Info", "Info", 20, Fit::kMarked, kWorks, "What was set", [](V v, S o) { o += v.transaction->info; }},
        member<Text, of<&EntityView::transaction, &TransactionRecord::info>>("info", 60)),
    row({"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.transaction->id); }},
        member<Number, of<&EntityView::transaction, &TransactionRecord::id>>("id", 10)),
    row({"Account", "Account", 20, Fit::kMarked, kWorks, "The accounts it was about",
         [](V v, S o) { o += join(v.transaction->accounts, ","); }},
        member<List, of<&EntityView::transaction, &TransactionRecord::accounts>>("accounts", 70)),
    row({"Cluster", "Cluster", 20, Fit::kMarked, kWorks, "The clusters it was about",
         [](V v, S o) { o += join(v.transaction->clusters, ","); }},
        member<List, of<&EntityView::transaction, &TransactionRecord::clusters>>("clusters", 80)),
    row({"User", "User", 20, Fit::kMarked, kWorks, "The users it was about", [](V v, S o) { o += join(v.transaction->users, ","); }},
        member<List, of<&EntityView::transaction, &TransactionRecord::users>>("users", 90)),
};

constexpr EntityFact kResource[] = {
    row({"Name", "Name", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.resource->name; }}, member<Text, of<&EntityView::resource, &ResourceRecord::name>>("name", 20)),
    row({"Server", "Server", 10, Fit::kMarked, kWorks, "Who serves it", [](V v, S o) { o += v.resource->server; }}, member<Text, of<&EntityView::resource, &ResourceRecord::server>>("server", 30)),
    row({"Type", "Type", 8, Fit::kMarked, kWorks, "What it is", [](V, S o) { o += "License"; }}, member<Text, license_word>("type", 40)),
    row({"Count", "Count", 6, Fit::kWhole, kWorks, "How many there are", [](V v, S o) { put_number(o, v.resource->count); }}, member<Number, of<&EntityView::resource, &ResourceRecord::count>>("count", 60)),
    row({"LastConsumed", "LastConsumed", 12, Fit::kWhole, kWorks, "How many were in use when somebody told last",
     [](V v, S o) { put_number(o, v.resource->last_consumed); }}, member<Number, of<&EntityView::resource, &ResourceRecord::last_consumed>>("last_consumed", 70)),
    row({"Allocated", "Allocated", 9, Fit::kWhole, kWorks, "What all clusters together may use, in percent or a count",
     [](V v, S o) { put_number(o, v.resource->allocated()); }}, member<Number, allocated>("allocated", 80)),
    row({"ServerType", "ServerType", 10, Fit::kMarked, kWorks, "What kind of server it is", [](V v, S o) { o += v.resource->server_type; }}, member<Text, of<&EntityView::resource, &ResourceRecord::server_type>>("server_type", 50)),
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "A cluster that may use it",
     [](V v, S o) {
       if (v.share) o += v.share->cluster;
     }}),
    row({"Allowed", "Allowed", 8, Fit::kWhole, kWorks, "What the cluster may use, in percent or a count",
     [](V v, S o) {
       if (v.share) put_number(o, v.share->allowed);
     }}),
    row({"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.resource->flags, ","); }}, member<List, of<&EntityView::resource, &ResourceRecord::flags>>("flags", 100)),
    row({"Description", "Descr", 20, Fit::kMarked, kWorks, "What it is for", [](V v, S o) { o += v.resource->description; }}, member<Text, of<&EntityView::resource, &ResourceRecord::description>>("description", 90)),
    unlisted<EntityView>(member<Number, of<&EntityView::resource, &ResourceRecord::id>>("id", 10)),
    unlisted<EntityView>(member("clusters", 110).written(Shape::kObjects, json_shares)),
};

// The entity's own columns come first, then those of its associations.
using Facts = std::span<const EntityFact>;
constexpr std::array<Facts, 1> kAssociationFacts = {kAssociation}, kQosFacts = {kQos}, kAccountFacts = {kAccount}, kUserFacts = {kUser},
                               kClusterFacts = {kCluster}, kTresFacts = {kTres}, kWckeyFacts = {kWckey}, kTransactionFacts = {kTransaction},
                               kResourceFacts = {kResource}, kFederationFacts = {kFederation};
constexpr auto kAssociations = columns_of<kAssociationFacts>();
constexpr auto kAllQos = columns_of<kQosFacts>();
constexpr auto kAccounts = together(columns_of<kAccountFacts>(), kAssociations);
constexpr auto kUsers = together(columns_of<kUserFacts>(), kAssociations);
constexpr auto kClusters = together(columns_of<kClusterFacts>(), kAssociations);
constexpr auto kAllTres = columns_of<kTresFacts>();
constexpr auto kWckeys = columns_of<kWckeyFacts>();
constexpr auto kTransactions = columns_of<kTransactionFacts>();
constexpr auto kResources = columns_of<kResourceFacts>();
constexpr auto kFederations = columns_of<kFederationFacts>();
constexpr auto kAssociationObject = in_order<kAssociationFacts, &EntityFact::member>();
constexpr auto kQosObject = in_order<kQosFacts, &EntityFact::member>();
constexpr auto kAccountObject = in_order<kAccountFacts, &EntityFact::member>();
constexpr auto kUserObject = in_order<kUserFacts, &EntityFact::member>();
constexpr auto kClusterObject = in_order<kClusterFacts, &EntityFact::member>();
constexpr auto kTresObject = in_order<kTresFacts, &EntityFact::member>();
constexpr auto kWckeyObject = in_order<kWckeyFacts, &EntityFact::member>();
constexpr auto kTransactionObject = in_order<kTransactionFacts, &EntityFact::member>();
constexpr auto kResourceObject = in_order<kResourceFacts, &EntityFact::member>();

const LimitInfo& info_of(LimitKind kind) {
  for (const LimitInfo& i : kLimits)
    if (i.kind == kind) return i;
  return kLimits[0];
}

constexpr std::string_view kAssociationLimits =
    "share,priority,grpjobs,grptres,grpsubmit,grpwall,grptresmins,maxjobs,maxtres,maxtrespernode,maxsubmit,maxwall,maxtresmins,"
    "qos,defaultqos,grptresrunmins";

}  // namespace

std::span<const EntityField> entity_fields(Entity entity) {
  switch (entity) {
    case Entity::kAccount: return kAccounts;
    case Entity::kUser: return kUsers;
    case Entity::kCluster: return kClusters;
    case Entity::kQos: return kAllQos;
    case Entity::kTres: return kAllTres;
    case Entity::kWckey: return kWckeys;
    case Entity::kTransaction: return kTransactions;
    case Entity::kResource: return kResources;
    case Entity::kFederation: return kFederations;
    case Entity::kAssociation:
    case Entity::kCoordinator: break;
  }
  return kAssociations;
}

DocumentObject<EntityView> entity_object(Entity entity) {
  switch (entity) {
    case Entity::kCoordinator:
    case Entity::kAccount: return object_of<EntityView, kAccountObject>();
    case Entity::kUser: return object_of<EntityView, kUserObject>();
    case Entity::kCluster: return object_of<EntityView, kClusterObject>();
    case Entity::kQos: return object_of<EntityView, kQosObject>();
    case Entity::kTres: return object_of<EntityView, kTresObject>();
    case Entity::kWckey: return object_of<EntityView, kWckeyObject>();
    case Entity::kTransaction: return object_of<EntityView, kTransactionObject>();
    case Entity::kResource: return object_of<EntityView, kResourceObject>();
    case Entity::kFederation:  // has no published shape
    case Entity::kAssociation: break;
  }
  return object_of<EntityView, kAssociationObject>();
}

std::string_view entity_list_name(Entity entity) {
  switch (entity) {
    case Entity::kCoordinator:
    case Entity::kAccount: return "accounts";
    case Entity::kUser: return "users";
    case Entity::kCluster: return "clusters";
    case Entity::kQos: return "qos";
    case Entity::kTres: return "TRES";
    case Entity::kWckey: return "wckeys";
    case Entity::kTransaction: return "transactions";
    case Entity::kResource: return "resources";
    case Entity::kFederation: return "federations";
    case Entity::kAssociation: break;
  }
  return "associations";
}

std::span<const EntityField> old_limit_fields() { return kOldLimitColumns; }

std::string entity_default_columns(Entity entity, const EntityDefaults& defaults) {
  const std::string limits = defaults.without_limits ? "" : "," + std::string(kAssociationLimits);
  const std::string account = defaults.tree ? "account%-20" : "account";
  switch (entity) {
    case Entity::kAccount: {
      std::string own = "account,description,organization";
      if (defaults.with_coordinators) own += ",coordinators";
      return defaults.with_associations ? own + ",cluster,parentname,user" + limits : own;
    }
    case Entity::kUser: {
      std::string own = defaults.with_wckeys ? "user,defaultaccount,defaultwckey,adminlevel" : "user,defaultaccount,adminlevel";
      if (defaults.with_coordinators) own += ",coordinators";
      if (!defaults.with_associations) return own;
      own += ",cluster,account,partition";
      return defaults.without_limits ? own : own + ",share,priority,maxjobs,maxtres,maxsubmit,maxwall,maxtresmins,qos,defaultqos";
    }
    case Entity::kCluster: {
      std::string own = "cluster,controlhost,controlport,rpc";
      if (!defaults.without_limits) own += ",share,grpjobs,grptres,grpsubmit,maxjobs,maxtres,maxsubmit,maxwall,qos,defaultqos";
      return defaults.with_federation ? own + ",federation,id,features,fedstate" : own;
    }
    case Entity::kQos:
      return "name,priority,gracetime,preempt,preemptexempttime,preemptmode,flags%40,usagethres,usagefactor,grptres,grptresmins,"
             "grptresrunmins,grpjobs,grpsubmit,grpwall,maxtres,maxtrespernode,maxtresmins,maxwall,maxtrespu,maxjobspu,maxsubmitpu,"
             "maxtrespa,maxjobspa,maxsubmitpa,mintres";
    case Entity::kTres: return "type,name,id";
    case Entity::kFederation: return "federation,cluster,features,fedstate";
    case Entity::kWckey: return "wckey,cluster,user";
    case Entity::kTransaction:
      return defaults.with_associations ? "timestamp,action,actor,where,info,cluster,account,user" : "timestamp,action,actor,where,info";
    case Entity::kResource:
      return defaults.with_clusters ? "name,server,type,count,lastconsumed,allocated,servertype,cluster,allowed,flags"
                                    : "name,server,type,count,lastconsumed,allocated,servertype,flags";
    case Entity::kAssociation:
    case Entity::kCoordinator: break;
  }
  return "cluster," + account + ",user,partition" + limits;
}

std::string limit_value_text(LimitKind kind, std::string_view tres, uint64_t value) {
  const LimitInfo& info = info_of(kind);
  if (kind == LimitKind::kShares && value == kSharesOfParent) return "parent";
  std::string out;
  if (info.unit == LimitUnit::kMinutes) put_span_full(out, minutes(static_cast<int64_t>(value)));
  else if (info.unit == LimitUnit::kSeconds) put_span_full(out, seconds(static_cast<int64_t>(value)));
  else if (tres == "mem") out = format_mem_mb(value);
  else put_number(out, value);
  return out;
}

std::string limit_text(const std::vector<::muster::Limit>& limits, LimitKind kind) {
  std::vector<const ::muster::Limit*> of;
  for (const ::muster::Limit& l : limits)
    if (l.kind == kind) of.push_back(&l);
  std::ranges::sort(of, {}, [](const ::muster::Limit* l) { return std::string_view(l->tres); });
  std::string out;
  for (const ::muster::Limit* l : of) {
    if (!out.empty()) out += ',';
    if (!l->tres.empty()) out += l->tres + "=";
    out += limit_value_text(kind, l->tres, l->value);
  }
  return out;
}

std::string_view admin_level_name(AdminLevel level) {
  switch (level) {
    case AdminLevel::kNone: return "None";
    case AdminLevel::kOperator: return "Operator";
    case AdminLevel::kAdministrator: return "Administrator";
  }
  return "None";
}

}  // namespace muster::fields
