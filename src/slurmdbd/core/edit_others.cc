// QOS, clusters, and resources: licences that several clusters share. A resource is known by its name and server together; what
// clusters may use of it is a share in percent, or a count with the flag Absolute (sacctmgr(1), guide licenses).
#include <algorithm>

#include "base/text.h"
#include "model/entity_flags.h"
#include "slurmdbd/core/editor.h"
#include "slurmdbd/core/federations.h"
#include "slurmdbd/core/refusals.h"

namespace muster::slurmdbd {
namespace {

constexpr std::string_view kPreemptModes[] = {"cluster", "off", "cancel", "requeue", "suspend", "priority", "within"};
constexpr std::string_view kClassifications[] = {"", "capability", "capacity", "capapacity"};

template <size_t N>
Result<std::string> one_of(const char* field, const std::string& word, const std::string_view (&all)[N]) {
  for (std::string_view known : all)
    if (iequals(known, word)) return std::string(known);
  std::string list;
  for (std::string_view known : all) list += (list.empty() ? "" : ", ") + std::string(known);
  return fail(Errc::kError, std::string(field) + "='" + word + "': is one of " + list);
}

void set_factor(std::optional<double>& factor, const std::optional<double>& to) {
  if (to) factor = *to < 0 ? std::nullopt : to;
}

constexpr std::string_view kDefaultServer = "slurmdb";

std::string named(const ResourceRecord& r) { return r.name + "@" + r.server; }

template <class T>
bool wanted(const std::vector<T>& list, const T& value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

// What all clusters together may have.
Result<> check_shares(const ResourceRecord& resource) {
  const uint32_t most = resource.has("Absolute") ? resource.count : 100;
  const std::string unit = resource.has("Absolute") ? "" : " %";
  if (resource.has("SharedPool")) {
    for (const ResourceShare& s : resource.clusters)
      if (s.allowed != 0 && s.allowed != most)
        return fail(Errc::kError, named(resource) + ": with SharedPool, Allowed is 0 or " + std::to_string(most) + unit +
                                      ", for all clusters use all of it");
    return {};
  }
  for (const ResourceShare& s : resource.clusters)
    if (s.allowed > most)
      return fail(Errc::kError, named(resource) + ": Allowed=" + std::to_string(s.allowed) + " for cluster " + s.cluster +
                                    " is more than " + std::to_string(most) + unit);
  if (resource.allocated() <= most) return {};
  return fail(Errc::kError, named(resource) + ": the clusters would have " + std::to_string(resource.allocated()) + unit + " of " +
                                std::to_string(most) + unit);
}

// The same record with these of its clusters alone: what somebody is told of.
ResourceRecord with_clusters(ResourceRecord r, const std::vector<std::string>& clusters) {
  std::erase_if(r.clusters, [&](const ResourceShare& s) { return std::ranges::find(clusters, s.cluster) == clusters.end(); });
  return r;
}

}  // namespace

Result<> Editor::change_qos(QosRecord& qos) {
  const EntityChange& set = edit_.set;
  MUSTER_TRY_VOID(change_limits(qos.limits, true, nullptr));
  if (set.description) qos.description = *set.description;
  for (NamesChange& c : edit_.set.flags)
    for (std::string& name : c.names) {
      MUSTER_TRY(known, one_of("Flags", name, kQosFlags));
      name = std::move(known);
    }
  MUSTER_TRY_VOID(change_names(qos.flags, set.flags));
  for (const NamesChange& c : set.preempt)
    for (const std::string& name : c.names) {
      if (!find_live(d_.qos, name)) return fail(Errc::kInvalidQos, "Preempt: QOS '" + name + "' is not known");
      if (name == qos.name) return fail(Errc::kQosPreemptionLoop, "Preempt: QOS '" + name + "' cannot preempt itself");
    }
  MUSTER_TRY_VOID(change_names(qos.preempt, set.preempt));
  if (set.preempt_mode) {
    std::string modes;
    for (std::string_view word : split(*set.preempt_mode, ',')) {
      MUSTER_TRY(known, one_of("PreemptMode", to_lower(trim(word)), kPreemptModes));
      modes += (modes.empty() ? "" : ",") + known;
    }
    qos.preempt_mode = modes;
  }
  set_factor(qos.usage_factor, set.usage_factor);
  set_factor(qos.usage_threshold, set.usage_threshold);
  set_factor(qos.limit_factor, set.limit_factor);
  MUSTER_TRY_VOID(reset_usage(qos.usage_reset));
  qos.modified = context_.now;
  return {};
}

Result<> Editor::edit_qos() {
  MUSTER_TRY_VOID(need_operator("editing QOS"));
  const EntityFilter& where = edit_.where;
  if (edit_.verb == EditVerb::kAdd) {
    if (where.qos.empty()) return fail(Errc::kError, "Name: name the QOS to add");
    for (const std::string& name : where.qos) {
      if (find_live(d_.qos, name)) continue;
      QosRecord& q = d_.qos[name];
      uint32_t id = q.id ? q.id : ++d_.last_id;
      Time created = q.created;
      q = {};
      q.id = id;
      q.name = q.description = name;
      q.created = created == kTimeUnset ? context_.now : created;
      MUSTER_TRY_VOID(change_qos(q));
      touch(touched_, q);
      changed_.qos.push_back(q);
    }
    return {};
  }
  std::vector<std::string> names;
  for (const auto& [name, q] : d_.qos)
    if (meets(q)) names.push_back(name);
  if (edit_.verb == EditVerb::kDelete) {
    if (where.qos.empty() && where.ids.empty() && where.descriptions.empty() && where.flags.empty() && where.preempt_modes.empty() &&
        where.limits.empty())
      return fail(Errc::kError, "delete qos needs a condition: which ones");
    for (const std::string& name : names) MUSTER_TRY_VOID(remove_qos(name));
    return {};
  }
  for (const std::string& name : names) {
    QosRecord next = d_.qos.at(name);
    MUSTER_TRY_VOID(change_qos(next));
    touch(touched_, next);
    changed_.qos.push_back(next);
    d_.qos[name] = std::move(next);
  }
  return {};
}

Result<> Editor::remove_qos(const std::string& name) {
  if (name == "normal") return fail(Errc::kError, "QOS normal cannot be deleted: it is what jobs have when nothing else is said");
  std::string lines;
  for (const auto& [id, a] : d_.associations)
    if (!a.deleted && a.default_qos == name)
      lines += "\n  DefaultQOS of C = " + a.cluster + " A = " + a.account + (a.user.empty() ? "" : " U = " + a.user);
  if (!lines.empty()) return fail(Errc::kInvalidQos, "QOS " + name + " is in use" + lines);
  rpc::JobRecordFilter filter;
  filter.qos = {name};
  filter.steps = false;
  filter.from = filter.until = context_.now;
  filter.ineligible = true;
  MUSTER_TRY(jobs, context_.jobs(filter));
  for (const JobRecord& r : jobs)
    if (!is_finished(r.state)) lines += active_job(r);
  if (!lines.empty()) return jobs_active(lines);
  for (auto& [id, a] : d_.associations)
    if (std::erase(a.qos, name) + std::erase(a.qos, "+" + name) + std::erase(a.qos, "-" + name)) touch(touched_, a);
  for (auto& [other, q] : d_.qos)
    if (std::erase(q.preempt, name)) touch(touched_, q);
  QosRecord& qos = d_.qos.at(name);
  changed_.qos.push_back(qos);
  touch(touched_, qos);
  rpc::JobRecordFilter ever;
  ever.qos = {name};
  ever.from = qos.created;
  bool forget = context_.now - qos.created < kForgottenWithin;
  if (forget) {
    MUSTER_TRY(used, context_.any_job(ever, "", ""));
    forget = !used;
  }
  if (forget) {
    d_.qos.erase(name);
    return {};
  }
  qos.deleted = true;
  qos.modified = context_.now;
  return {};
}

// `fresh`: the cluster was just added, and is reported even if nothing else changes.
Result<> Editor::change_cluster(const std::string& name, bool fresh) {
  ClusterRecord& cluster = d_.clusters.at(name);
  Association& root = d_.associations.at(d_.association(name, "root")->id);
  MUSTER_TRY(limits, change_association(root));
  bool other = edit_.set.classification && cluster.classification != *edit_.set.classification;
  if (other) cluster.classification = *edit_.set.classification;
  if (!edit_.set.features.empty()) {
    std::vector<std::string> features;
    for (std::string_view f : split(cluster.features, ',')) features.emplace_back(f);
    MUSTER_TRY_VOID(change_names(features, edit_.set.features));
    const std::string text = join(features, ",");
    other = other || text != cluster.features;
    cluster.features = text;
  }
  MUSTER_TRY(moved, change_membership(d_, cluster, edit_.set));
  other = other || moved;
  if (other) cluster.modified = context_.now;
  if (!limits && !other && !fresh) return {};
  touch(touched_, cluster);
  touch(touched_, root);
  changed_.clusters.push_back(cluster);
  changed_.associations.push_back(root);
  return {};
}

Result<> Editor::remove_cluster(const std::string& name) {
  std::vector<uint32_t> all;
  for (const auto& [id, a] : d_.associations)
    if (a.cluster == name && !a.deleted) all.push_back(id);
  MUSTER_TRY_VOID(refuse_if_used(all));
  ClusterRecord& cluster = d_.clusters.at(name);
  changed_.clusters.push_back(cluster);
  touch(touched_, cluster);
  for (uint32_t id : all) {
    Association& a = d_.associations.at(id);
    a.deleted = true;
    a.is_default = false;
    touch(touched_, a);
  }
  cluster.deleted = true;
  leave_federation(cluster);
  cluster.control_host.clear();
  cluster.control_port = 0;
  cluster.modified = context_.now;
  return {};
}

Result<> Editor::edit_clusters() {
  MUSTER_TRY_VOID(need_operator("editing clusters"));
  const EntityFilter& where = edit_.where;
  if (where.clusters.empty() && edit_.verb != EditVerb::kModify) return fail(Errc::kError, "Name: name the clusters");
  if (edit_.set.classification) {
    MUSTER_TRY(known, one_of("Classification", *edit_.set.classification, kClassifications));
    edit_.set.classification = known;
  }
  if (edit_.verb == EditVerb::kAdd) {
    for (const std::string& name : where.clusters) {
      if (find_live(d_.clusters, name)) continue;
      add_cluster(d_, name, context_.settings.default_qos, context_.now, touched_);
      MUSTER_TRY_VOID(change_cluster(name, true));
    }
    return {};
  }
  MUSTER_TRY(names, clusters());
  for (const std::string& name : names)
    if (meets(d_.clusters.at(name))) MUSTER_TRY_VOID(edit_.verb == EditVerb::kModify ? change_cluster(name, false) : remove_cluster(name));
  return {};
}

// ---- resources
// Sets what was typed for the resource itself, without shares. Whether there was anything.
Result<bool> Editor::change_resource(ResourceRecord& resource) {
  const EntityChange& set = edit_.set;
  const ResourceRecord before = resource;
  if (set.count) resource.count = *set.count;
  if (set.last_consumed) resource.last_consumed = *set.last_consumed;
  if (set.server_type) resource.server_type = *set.server_type;
  if (set.description) resource.description = *set.description;
  for (NamesChange& c : edit_.set.flags)
    for (std::string& name : c.names) {
      MUSTER_TRY(known, one_of("Flags", name, kResourceFlags));
      name = std::move(known);
    }
  MUSTER_TRY_VOID(change_names(resource.flags, edit_.set.flags));
  return !(resource == before) || set.last_consumed.has_value();
}

Result<> Editor::add_resources() {
  const EntityFilter& where = edit_.where;
  if (where.names.empty()) return fail(Errc::kError, "Name: name the resources to add");
  MUSTER_TRY_VOID(check_resource_types());
  std::vector<std::string> on;
  if (!where.clusters.empty()) {
    MUSTER_TRY(named_clusters, clusters());
    on = std::move(named_clusters);
  }
  const std::string server = where.servers.empty() ? std::string(kDefaultServer) : where.servers.front();
  if (where.servers.size() > 1) return fail(Errc::kError, "Server: a resource has one");
  for (const std::string& name : where.names) {
    if (name.find('@') != name.npos) return fail(Errc::kBadName, "Name '" + name + "': the server has a word of its own, Server=");
    auto at = std::ranges::find_if(d_.resources, [&](const auto& e) { return e.second.name == name && e.second.server == server; });
    const bool fresh = at == d_.resources.end() || at->second.deleted;
    ResourceRecord resource;
    if (!fresh) resource = at->second;
    if (fresh) {
      resource.id = at == d_.resources.end() ? ++d_.last_id : at->first;
      resource.name = resource.description = name;
      resource.server = server;
      resource.created = context_.now;
      if (context_.settings.all_resources_absolute) resource.flags = {"Absolute"};
      MUSTER_TRY_VOID(change_resource(resource));
      if (resource.count == 0) return fail(Errc::kError, "Count: how many there are of " + named(resource));
    }
    std::vector<std::string> added;
    for (const std::string& cluster : on) {
      if (std::ranges::find(resource.clusters, cluster, &ResourceShare::cluster) != resource.clusters.end()) continue;
      resource.clusters.push_back({cluster, edit_.set.allowed.value_or(0)});
      added.push_back(cluster);
    }
    if (!fresh && added.empty()) continue;
    MUSTER_TRY_VOID(check_shares(resource));
    resource.modified = context_.now;
    touch(touched_, resource);
    changed_.resources.push_back(with_clusters(resource, added));
    d_.resources[resource.id] = std::move(resource);
  }
  return {};
}

// The only type there is; sacctmgr has it as a condition.
Result<> Editor::check_resource_types() const {
  for (const std::string& type : edit_.where.tres)
    if (!iequals(type, "license")) return fail(Errc::kError, "Type='" + type + "': License is the only one");
  return {};
}

bool Editor::meets(const ResourceRecord& r) const {
  const EntityFilter& w = edit_.where;
  const bool on =
      w.clusters.empty() || std::ranges::any_of(r.clusters, [&](const ResourceShare& s) { return wanted(w.clusters, s.cluster); });
  return !r.deleted && on && wanted(w.names, r.name) && wanted(w.servers, r.server) && wanted(w.server_types, r.server_type) &&
         wanted(w.descriptions, r.description) && wanted(w.ids, r.id);
}

Result<> Editor::modify_resources() {
  MUSTER_TRY_VOID(check_resource_types());
  const std::vector<std::string>& of = edit_.where.clusters;
  const bool itself =
      edit_.set.count || edit_.set.last_consumed || edit_.set.server_type || edit_.set.description || !edit_.set.flags.empty();
  for (auto& [id, known] : d_.resources) {
    if (!meets(known)) continue;
    ResourceRecord next = known;
    MUSTER_TRY(changed, change_resource(next));
    std::vector<std::string> told;
    for (ResourceShare& s : next.clusters) {
      if (!wanted(of, s.cluster)) continue;
      if (edit_.set.allowed) s.allowed = *edit_.set.allowed;
      if (edit_.set.allowed || itself) told.push_back(s.cluster);
    }
    if (!changed && next == known) continue;
    MUSTER_TRY_VOID(check_shares(next));
    next.modified = context_.now;
    touch(touched_, next);
    changed_.resources.push_back(with_clusters(next, told));
    known = std::move(next);
  }
  return {};
}

Result<> Editor::remove_resources() {
  const EntityFilter& where = edit_.where;
  MUSTER_TRY_VOID(check_resource_types());
  if (where.names.empty() && where.servers.empty() && where.clusters.empty() && where.ids.empty() && where.server_types.empty() &&
      where.descriptions.empty())
    return fail(Errc::kError, "delete resource needs a condition: which ones");
  std::vector<uint32_t> forgotten;
  for (auto& [id, resource] : d_.resources) {
    if (!meets(resource)) continue;
    touch(touched_, resource);
    if (!where.clusters.empty()) {  // it is taken from these clusters, and stays for the others
      changed_.resources.push_back(with_clusters(resource, where.clusters));
      std::erase_if(resource.clusters, [&](const ResourceShare& s) { return wanted(where.clusters, s.cluster); });
      resource.modified = context_.now;
      continue;
    }
    changed_.resources.push_back(resource);
    if (context_.now - resource.created < kForgottenWithin) forgotten.push_back(id);
    resource.deleted = true;
    resource.clusters.clear();
    resource.modified = context_.now;
  }
  for (uint32_t id : forgotten) d_.resources.erase(id);
  return {};
}

Result<> Editor::edit_resources() {
  MUSTER_TRY_VOID(need_operator("editing resources"));
  switch (edit_.verb) {
    case EditVerb::kAdd: return add_resources();
    case EditVerb::kModify: return modify_resources();
    case EditVerb::kDelete: return remove_resources();
  }
  return {};
}

}  // namespace muster::slurmdbd
