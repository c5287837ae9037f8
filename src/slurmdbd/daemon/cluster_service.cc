// What Service does about clusters: how they register, what they are made of, and when their controllers are away.
#include "base/text.h"
#include "slurmdbd/core/controller_down.h"
#include "slurmdbd/daemon/entity_rows.h"
#include "slurmdbd/daemon/service.h"

namespace muster::slurmdbd {

Result<rpc::Empty> Service::register_cluster(const rpc::RegisterCluster& request) {
  if (request.cluster.name.empty()) return fail(Errc::kInvalidClusterName);
  MUSTER_TRY_VOID(end_controller_down(to_lower(request.cluster.name), net::Loop::now()));
  Directory next = *directory();
  Touched touched;
  slurmdbd::register_cluster(next, request, ports_.settings()->default_qos, net::Loop::now(), touched);
  if (touched.keys.empty()) return rpc::Empty{};
  const std::string name = to_lower(request.cluster.name);
  MUSTER_TRY_VOID(writer_storage_->change_entities(changes_of(next, touched)));
  MUSTER_TRY_VOID(note_cluster(next.clusters.at(name), net::Loop::now()));
  log_.info("cluster {} is at {}:{} with {} nodes", request.cluster.name, request.cluster.control_host, request.cluster.control_port,
            request.cluster.node_count);
  set_directory(std::move(next));
  return rpc::Empty{};
}

// A controller that went before this was said counts as gone.
void Service::controller_is_here(const std::weak_ptr<net::Channel>& connection, const std::string& cluster) {
  if (const auto channel = connection.lock()) controllers_.registered(channel.get(), cluster);
  else controller_is_away(cluster);
}

void Service::controller_is_away(const std::string& cluster) {
  if (closing_ || !ports_.settings()->tracks_controllers) return;
  writer_.post([this, cluster, now = net::Loop::now()] {
    const auto known = directory();
    const ClusterRecord* record = find_live(known->clusters, cluster);
    if (!record) return;
    const Result<> stored = writer_storage_->store_cluster_events(cluster, {controller_down(*record, now)});
    if (stored) log_.info("the controller of cluster {} is away: what is idle of it counts as down", cluster);
    else log_.error("that the controller of cluster {} is away is not recorded: {}", cluster, stored.error().message());
  });
}

Result<> Service::end_controller_down(const std::string& cluster, Time now) {
  std::vector<EventRecord> events;
  MUSTER_TRY_VOID(writer_storage_->events_within(cluster, now, kTimeInfinite, [&](const EventRecord& e) -> Result<> {
    if (is_controller_down(e) && e.ended == kTimeUnset) events.push_back(e);
    return {};
  }));
  if (events.empty()) return {};
  for (EventRecord& e : events) e.ended = now;
  return writer_storage_->store_cluster_events(cluster, events);
}

// From now on the cluster is made of this: what it was made of before ends.
Result<> Service::note_cluster(const ClusterRecord& cluster, Time now) {
  std::vector<EventRecord> events;
  MUSTER_TRY_VOID(writer_storage_->events_within(cluster.name, now, kTimeInfinite, [&](const EventRecord& e) -> Result<> {
    if (e.node.empty() && e.ended == kTimeUnset && !is_controller_down(e)) events.push_back(e);
    return {};
  }));
  if (!events.empty() && events.back().tres == cluster.tres && events.back().nodes == cluster.nodes) return {};
  for (EventRecord& e : events) e.ended = now;
  EventRecord& made = events.emplace_back();
  made.started = events.size() == 1 ? cluster.created : now;
  made.tres = cluster.tres;
  made.nodes = cluster.nodes;
  return writer_storage_->store_cluster_events(cluster.name, events);
}

}  // namespace muster::slurmdbd
