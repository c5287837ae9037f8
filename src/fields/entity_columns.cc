// The columns of sacctmgr's listings. Widths and headers are those that Debian's Slurm 22.05 prints.
#include "fields/entity_view.h"

#include <algorithm>
#include <array>

#include "base/tres_mem.h"
#include "fields/values.h"

namespace muster::fields {
namespace {

using V = const EntityView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

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
  const std::vector<Limit>* limits = v.qos ? &v.qos->limits : v.association ? &v.association->limits : nullptr;
  if (auto value = limits ? find_limit(*limits, Kind, kTres) : std::nullopt) put_number(o, *value);  // memory in MB, without its unit
}
constexpr EntityField kOldLimitColumns[] = {
#define MUSTER_OLD_LIMIT(name, kind, tres) \
  {name, name, 11, Fit::kMarked, kWorks, "The older name of a part of a limit: " tres, limit_part<LimitKind::kind, tres[0]>},
#include "model/old_limit.def"
#undef MUSTER_OLD_LIMIT
};

// Slurm lists QOS by their names, in whatever order they were given.
void put_sorted(std::vector<std::string> names, S o) {
  std::ranges::sort(names);
  o += join(names, ",");
}
void put_account(V v, S o) {
  if (!v.association) return;
  if (v.tree) o.append(v.association->depth, ' ');
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

constexpr EntityField kAssociation[] = {
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster",
     [](V v, S o) {
       if (v.association) o += v.association->cluster;
     }},
    {"Account", "Account", 10, Fit::kMarked, kWorks, "The account", [](V v, S o) { put_account(v, o); }, "Acct"},
    {"User", "User", 10, Fit::kMarked, kWorks, "The user; of the account itself nothing",
     [](V v, S o) {
       if (v.association) o += v.association->user;
     }},
    {"Partition", "Partition", 10, Fit::kMarked, kWorks, "The partition, if it is of one",
     [](V v, S o) {
       if (v.association) o += v.association->partition;
     }},
    {"Share", "Share", 9, Fit::kMarked, kWorks, "Shares for fair share", [](V v, S o) { put_shares(v, o); }, "FairShare"},
    {"Priority", "Priority", 10, Fit::kMarked, kWorks, "What it adds to the priority", association_limit<LimitKind::kPriority>},
    {"GrpJobs", "GrpJobs", 7, Fit::kMarked, kWorks, "Jobs running at once, of it and all below", association_limit<LimitKind::kGrpJobs>},
    {"GrpTRES", "GrpTRES", 13, Fit::kMarked, kWorks, "Resources in use at once, of it and all below",
     association_limit<LimitKind::kGrpTres>},
    {"GrpSubmit", "GrpSubmit", 9, Fit::kMarked, kWorks, "Jobs waiting or running, of it and all below",
     association_limit<LimitKind::kGrpSubmitJobs>, "GrpSubmitJobs"},
    {"GrpWall", "GrpWall", 11, Fit::kMarked, kWorks, "Wall clock time, of it and all below", association_limit<LimitKind::kGrpWall>},
    {"GrpTRESMins", "GrpTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes used, of it and all below",
     association_limit<LimitKind::kGrpTresMins>},
    {"MaxJobs", "MaxJobs", 7, Fit::kMarked, kWorks, "Jobs running at once", association_limit<LimitKind::kMaxJobs>},
    {"MaxTRES", "MaxTRES", 13, Fit::kMarked, kWorks, "Resources of a job", association_limit<LimitKind::kMaxTresPerJob>,
     "MaxTRESPJ MaxTRESPerJob"},
    {"MaxTRESPerNode", "MaxTRESPerNode", 14, Fit::kMarked, kWorks, "Resources of a job on each node",
     association_limit<LimitKind::kMaxTresPerNode>, "MaxTRESPN"},
    {"MaxSubmit", "MaxSubmit", 9, Fit::kMarked, kWorks, "Jobs waiting or running", association_limit<LimitKind::kMaxSubmitJobs>,
     "MaxSubmitJobs"},
    {"MaxWall", "MaxWall", 11, Fit::kMarked, kWorks, "Wall clock time of a job", association_limit<LimitKind::kMaxWall>,
     "MaxWallDurationPerJob"},
    {"MaxTRESMins", "MaxTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes of a job", association_limit<LimitKind::kMaxTresMinsPerJob>,
     "MaxTRESMinsPJ MaxTRESMinsPerJob"},
    {"QOS", "QOS", 20, Fit::kMarked, kWorks, "QOS that may be used",
     [](V v, S o) {
       if (v.association) put_sorted(v.association->qos, o);
     },
     "QosLevel"},
    {"DefaultQOS", "Def QOS", 9, Fit::kMarked, kWorks, "The QOS of jobs that name none",
     [](V v, S o) {
       if (v.association) o += v.association->default_qos;
     }},
    {"GrpTRESRunMins", "GrpTRESRunMins", 13, Fit::kMarked, kWorks, "Resource minutes of running jobs, of it and all below",
     association_limit<LimitKind::kGrpTresRunMins>},
    {"GrpJobsAccrue", "GrpJobsAccrue", 13, Fit::kMarked, kWorks, "Jobs growing in priority with age, of it and all below",
     association_limit<LimitKind::kGrpJobsAccrue>},
    {"MaxJobsAccrue", "MaxJobsAccrue", 13, Fit::kMarked, kWorks, "Jobs growing in priority with age",
     association_limit<LimitKind::kMaxJobsAccrue>},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags",
     [](V v, S o) {
       if (v.association) o += join(v.association->flags, ",");
     }},
    {"Comment", "Comment", 20, Fit::kMarked, kWorks, "Its comment",
     [](V v, S o) {
       if (v.association) o += v.association->comment;
     }},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "Its number",
     [](V v, S o) {
       if (v.association) put_number(o, v.association->id);
     }},
    {"Lineage", "Lineage", 20, Fit::kMarked, kWorks, "The way to it from the root",
     [](V v, S o) {
       if (v.association) o += v.association->lineage;
     }},
    {"ParentID", "ParentID", 8, Fit::kWhole, kWorks, "The number of the association above",
     [](V v, S o) {
       if (v.association && v.association->parent_id) put_number(o, v.association->parent_id);
     }},
    {"ParentName", "ParentName", 10, Fit::kMarked, kWorks, "The account above an account",
     [](V v, S o) {
       if (v.association) o += v.association->parent_account;
     }},
    {"QOSRaw", "QOS_RAW", 10, Fit::kMarked, kWorks, "The numbers of those QOS", [](V v, S o) { put_qos_numbers(v, o); }, "QOS_RAW"},
};
constexpr EntityField kQos[] = {
    {"Name", "Name", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.qos->name; }},
    {"Priority", "Priority", 10, Fit::kMarked, kWorks, "What it adds to the priority", qos_limit<LimitKind::kPriority>},
    {"GraceTime", "GraceTime", 10, Fit::kWhole, kWorks, "Time a job has to end when it is preempted", [](V v, S o) { put_grace(v, o); }},
    {"Preempt", "Preempt", 10, Fit::kMarked, kWorks, "QOS whose jobs it may preempt", [](V v, S o) { put_sorted(v.qos->preempt, o); }},
    {"PreemptExemptTime", "PreemptExemptTime", 19, Fit::kMarked, kWorks, "Time a job runs before it may be preempted",
     qos_limit<LimitKind::kPreemptExemptTime>},
    {"PreemptMode", "PreemptMode", 11, Fit::kMarked, kWorks, "How its jobs are preempted",
     [](V v, S o) { o += v.qos->preempt_mode.empty() ? "cluster" : v.qos->preempt_mode.text(); }},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.qos->flags, ","); }},
    {"UsageThres", "UsageThres", 10, Fit::kWhole, kWorks, "Fair share below which jobs wait",
     [](V v, S o) { put_real(v.qos->usage_threshold, o); }, "UsageThreshold"},
    {"UsageFactor", "UsageFactor", 11, Fit::kWhole, kWorks, "What its usage is multiplied with",
     [](V v, S o) { put_real(v.qos->usage_factor.value_or(1), o); }},
    {"GrpTRES", "GrpTRES", 13, Fit::kMarked, kWorks, "Resources in use at once", qos_limit<LimitKind::kGrpTres>},
    {"GrpTRESMins", "GrpTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes used", qos_limit<LimitKind::kGrpTresMins>},
    {"GrpTRESRunMins", "GrpTRESRunMins", 13, Fit::kMarked, kWorks, "Resource minutes of running jobs",
     qos_limit<LimitKind::kGrpTresRunMins>},
    {"GrpJobs", "GrpJobs", 7, Fit::kMarked, kWorks, "Jobs running at once", qos_limit<LimitKind::kGrpJobs>},
    {"GrpSubmit", "GrpSubmit", 9, Fit::kMarked, kWorks, "Jobs waiting or running", qos_limit<LimitKind::kGrpSubmitJobs>, "GrpSubmitJobs"},
    {"GrpWall", "GrpWall", 11, Fit::kMarked, kWorks, "Wall clock time", qos_limit<LimitKind::kGrpWall>},
    {"MaxTRES", "MaxTRES", 13, Fit::kMarked, kWorks, "Resources of a job", qos_limit<LimitKind::kMaxTresPerJob>, "MaxTRESPJ MaxTRESPerJob"},
    {"MaxTRESPerNode", "MaxTRESPerNode", 14, Fit::kMarked, kWorks, "Resources of a job on each node", qos_limit<LimitKind::kMaxTresPerNode>,
     "MaxTRESPN"},
    {"MaxTRESMins", "MaxTRESMins", 13, Fit::kMarked, kWorks, "Resource minutes of a job", qos_limit<LimitKind::kMaxTresMinsPerJob>,
     "MaxTRESMinsPJ MaxTRESMinsPerJob"},
    {"MaxWall", "MaxWall", 11, Fit::kMarked, kWorks, "Wall clock time of a job", qos_limit<LimitKind::kMaxWall>, "MaxWallDurationPerJob"},
    {"MaxTRESPU", "MaxTRESPU", 13, Fit::kMarked, kWorks, "Resources of a user", qos_limit<LimitKind::kMaxTresPerUser>, "MaxTRESPerUser"},
    {"MaxJobsPU", "MaxJobsPU", 9, Fit::kMarked, kWorks, "Jobs of a user running at once", qos_limit<LimitKind::kMaxJobsPerUser>,
     "MaxJobsPerUser"},
    {"MaxSubmitPU", "MaxSubmitPU", 11, Fit::kMarked, kWorks, "Jobs of a user waiting or running",
     qos_limit<LimitKind::kMaxSubmitJobsPerUser>, "MaxSubmitJobsPU MaxSubmitJobsPerUser"},
    {"MaxTRESPA", "MaxTRESPA", 13, Fit::kMarked, kWorks, "Resources of an account", qos_limit<LimitKind::kMaxTresPerAccount>,
     "MaxTRESPerAccount"},
    {"MaxJobsPA", "MaxJobsPA", 9, Fit::kMarked, kWorks, "Jobs of an account running at once", qos_limit<LimitKind::kMaxJobsPerAccount>,
     "MaxJobsPerAccount"},
    {"MaxSubmitPA", "MaxSubmitPA", 11, Fit::kMarked, kWorks, "Jobs of an account waiting or running",
     qos_limit<LimitKind::kMaxSubmitJobsPerAccount>, "MaxSubmitJobsPA MaxSubmitJobsPerAccount"},
    {"MinTRES", "MinTRES", 13, Fit::kMarked, kWorks, "Resources a job must ask for", qos_limit<LimitKind::kMinTresPerJob>, "MinTRESPerJob"},
    {"Description", "Descr", 20, Fit::kMarked, kWorks, "What it is for", [](V v, S o) { o += v.qos->description; }},
    {"GrpJobsAccrue", "GrpJobsAccrue", 13, Fit::kMarked, kWorks, "Jobs growing in priority with age", qos_limit<LimitKind::kGrpJobsAccrue>},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.qos->id); }},
    {"LimitFactor", "LimitFactor", 11, Fit::kWhole, kWorks, "What limits of associations are multiplied with",
     [](V v, S o) { put_real(v.qos->limit_factor, o); }},
    {"MaxJobsAccruePA", "MaxJobsAccruePA", 15, Fit::kMarked, kWorks, "Jobs of an account growing in priority with age",
     qos_limit<LimitKind::kMaxJobsAccruePerAccount>, "MaxJobsAccruePerAccount"},
    {"MaxJobsAccruePU", "MaxJobsAccruePU", 15, Fit::kMarked, kWorks, "Jobs of a user growing in priority with age",
     qos_limit<LimitKind::kMaxJobsAccruePerUser>, "MaxJobsAccruePerUser"},
    {"MaxTRESRunMinsPA", "MaxTRESRunMinsPA", 15, Fit::kMarked, kWorks, "Resource minutes of running jobs of an account",
     qos_limit<LimitKind::kMaxTresRunMinsPerAccount>, "MaxTRESRunMinsPerAccount"},
    {"MaxTRESRunMinsPU", "MaxTRESRunMinsPU", 15, Fit::kMarked, kWorks, "Resource minutes of running jobs of a user",
     qos_limit<LimitKind::kMaxTresRunMinsPerUser>, "MaxTRESRunMinsPerUser"},
    {"MinPrioThreshold", "MinPrioThres", 12, Fit::kMarked, kWorks, "Priority from which resources are reserved",
     qos_limit<LimitKind::kMinPriority>},
};
constexpr EntityField kAccount[] = {
    {"Account", "Account", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.account->name; }, "Name Acct"},
    {"Description", "Descr", 20, Fit::kMarked, kWorks, "What it is for", [](V v, S o) { o += v.account->description; }},
    {"Organization", "Org", 20, Fit::kMarked, kWorks, "Whose it is", [](V v, S o) { o += v.account->organization; }},
    {"Coordinators", "Coord Accounts", 20, Fit::kMarked, kWorks, "Users who coordinate it",
     [](V v, S o) { o += join(v.account->coordinators, ","); }},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.account->flags, ","); }},
};
constexpr EntityField kUser[] = {
    {"User", "User", 10, Fit::kMarked, kWorks, "The name", [](V v, S o) { o += v.user->name; }, "Name"},
    {"DefaultAccount", "Def Acct", 10, Fit::kMarked, kWorks, "The account of jobs that name none",
     [](V v, S o) { o += v.user->default_account; }},
    {"DefaultWCKey", "Def WCKey", 10, Fit::kMarked, kWorks, "The key of jobs that name none", [](V v, S o) { o += v.user->default_wckey; }},
    {"AdminLevel", "Admin", 9, Fit::kMarked, kWorks, "What the user may do", [](V v, S o) { o += admin_level_name(v.user->admin_level); }},
    {"Coordinators", "Coord Accounts", 20, Fit::kMarked, kWorks, "Accounts the user coordinates",
     [](V v, S o) { o += join(v.user->coordinator_of, ","); }},
};
constexpr EntityField kCluster[] = {
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.cluster->name; }, "Name"},
    {"ControlHost", "ControlHost", 15, Fit::kMarked, kWorks, "Where its controller runs", [](V v, S o) { o += v.cluster->control_host; }},
    {"ControlPort", "ControlPort", 12, Fit::kWhole, kWorks, "The port of the controller",
     [](V v, S o) { put_number(o, v.cluster->control_port); }},
    {"RPC", "RPC", 5, Fit::kWhole, kWorks, "The version its controller speaks", [](V v, S o) { put_number(o, v.cluster->rpc_version); }},
    {"Classification", "Class", 9, Fit::kMarked, kWorks, "What kind of machine it is", [](V v, S o) { o += v.cluster->classification; }},
    {"Features", "Features", 20, Fit::kMarked, kWorks, "Its features", [](V v, S o) { o += v.cluster->features; }},
    {"Federation", "Federation", 10, Fit::kMarked, kWorks, "The federation it is in", [](V v, S o) { o += v.cluster->federation; }},
    {"FedState", "FedState", 12, Fit::kMarked, kWorks, "Its state there", [](V v, S o) { o += v.cluster->fed_state; }},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.cluster->flags, ","); }},
    {"NodeCount", "NodeCount", 9, Fit::kWhole, kWorks, "How many nodes it has", [](V v, S o) { put_number(o, v.cluster->node_count); }},
    {"NodeNames", "NodeName", 15, Fit::kMarked, kWorks, "Its nodes", [](V v, S o) { o += v.cluster->nodes; }},
    {"TRES", "TRES", 20, Fit::kMarked, kWorks, "What it has", [](V v, S o) { o += tres_text(v.cluster->tres); }},
};
constexpr EntityField kTres[] = {
    {"Type", "Type", 8, Fit::kMarked, kWorks, "Its type", [](V v, S o) { o += v.tres->type; }},
    {"Name", "Name", 15, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.tres->name; }},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.tres->id); }},
};
constexpr EntityField kWckey[] = {
    {"WCKey", "WCKey", 10, Fit::kMarked, kWorks, "The key",
     [](V v, S o) {
       if (v.wckey->is_default) o += '*';
       o += v.wckey->name;
     },
     "Name"},
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { o += v.wckey->cluster; }},
    {"User", "User", 10, Fit::kMarked, kWorks, "The user", [](V v, S o) { o += v.wckey->user; }},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.wckey->id); }},
};
constexpr EntityField kTransaction[] = {
    {"TimeStamp", "Time", 19, Fit::kCut, kWorks, "When", [](V v, S o) { put_time(o, v.transaction->time, v.env, ""); }, "Time"},
    {"Action", "Action", 20, Fit::kMarked, kWorks, "What was done", [](V v, S o) { o += v.transaction->action; }},
    {"Actor", "Actor", 10, Fit::kMarked, kWorks, "By whom", [](V v, S o) { o += v.transaction->actor; }},
    {"Where", "Where", 20, Fit::kMarked, kWorks, "To what", [](V v, S o) { o += v.transaction->where; }},
    {"Info", "Info", 20, Fit::kMarked, kWorks, "What was set", [](V v, S o) { o += v.transaction->info; }},
    {"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, v.transaction->id); }},
    {"Account", "Account", 20, Fit::kMarked, kWorks, "The accounts it was about",
     [](V v, S o) { o += join(v.transaction->accounts, ","); }},
    {"Cluster", "Cluster", 20, Fit::kMarked, kWorks, "The clusters it was about",
     [](V v, S o) { o += join(v.transaction->clusters, ","); }},
    {"User", "User", 20, Fit::kMarked, kWorks, "The users it was about", [](V v, S o) { o += join(v.transaction->users, ","); }},
};

constexpr EntityField kResource[] = {
    {"Name", "Name", 10, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += v.resource->name; }},
    {"Server", "Server", 10, Fit::kMarked, kWorks, "Who serves it", [](V v, S o) { o += v.resource->server; }},
    {"Type", "Type", 8, Fit::kMarked, kWorks, "What it is", [](V, S o) { o += "License"; }},
    {"Count", "Count", 6, Fit::kWhole, kWorks, "How many there are", [](V v, S o) { put_number(o, v.resource->count); }},
    {"LastConsumed", "LastConsumed", 12, Fit::kWhole, kWorks, "How many were in use when somebody told last",
     [](V v, S o) { put_number(o, v.resource->last_consumed); }},
    {"Allocated", "Allocated", 9, Fit::kWhole, kWorks, "What all clusters together may use, in percent or a count",
     [](V v, S o) { put_number(o, v.resource->allocated()); }},
    {"ServerType", "ServerType", 10, Fit::kMarked, kWorks, "What kind of server it is", [](V v, S o) { o += v.resource->server_type; }},
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "A cluster that may use it",
     [](V v, S o) {
       if (v.share) o += v.share->cluster;
     }},
    {"Allowed", "Allowed", 8, Fit::kWhole, kWorks, "What the cluster may use, in percent or a count",
     [](V v, S o) {
       if (v.share) put_number(o, v.share->allowed);
     }},
    {"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += join(v.resource->flags, ","); }},
    {"Description", "Descr", 20, Fit::kMarked, kWorks, "What it is for", [](V v, S o) { o += v.resource->description; }},
};

// The entity's own columns come first, then those of its associations.
template <size_t N>
constexpr auto with_associations(const EntityField (&own)[N]) {
  std::array<EntityField, N + std::size(kAssociation)> out{};
  std::ranges::copy(own, out.begin());
  std::ranges::copy(kAssociation, out.begin() + N);
  return out;
}
constexpr auto kAccounts = with_associations(kAccount);
constexpr auto kUsers = with_associations(kUser);
constexpr auto kClusters = with_associations(kCluster);

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
    case Entity::kQos: return kQos;
    case Entity::kTres: return kTres;
    case Entity::kWckey: return kWckey;
    case Entity::kTransaction: return kTransaction;
    case Entity::kResource: return kResource;
    case Entity::kAssociation:
    case Entity::kCoordinator: break;
  }
  return kAssociation;
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
      std::string own = "user,defaultaccount,adminlevel";
      if (defaults.with_coordinators) own += ",coordinators";
      if (!defaults.with_associations) return own;
      own += ",cluster,account,partition";
      return defaults.without_limits ? own : own + ",share,priority,maxjobs,maxtres,maxsubmit,maxwall,maxtresmins,qos,defaultqos";
    }
    case Entity::kCluster: {
      std::string own = "cluster,controlhost,controlport,rpc";
      return defaults.without_limits ? own : own + ",share,grpjobs,grptres,grpsubmit,maxjobs,maxtres,maxsubmit,maxwall,qos,defaultqos";
    }
    case Entity::kQos:
      return "name,priority,gracetime,preempt,preemptexempttime,preemptmode,flags%40,usagethres,usagefactor,grptres,grptresmins,"
             "grptresrunmins,grpjobs,grpsubmit,grpwall,maxtres,maxtrespernode,maxtresmins,maxwall,maxtrespu,maxjobspu,maxsubmitpu,"
             "maxtrespa,maxjobspa,maxsubmitpa,mintres";
    case Entity::kTres: return "type,name,id";
    case Entity::kWckey: return "wckey,cluster,user";
    case Entity::kTransaction: return "timestamp,action,actor,where,info";
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

std::string limit_text(const std::vector<Limit>& limits, LimitKind kind) {
  std::vector<const Limit*> of;
  for (const Limit& l : limits)
    if (l.kind == kind) of.push_back(&l);
  std::ranges::sort(of, {}, [](const Limit* l) { return std::string_view(l->tres); });
  std::string out;
  for (const Limit* l : of) {
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
