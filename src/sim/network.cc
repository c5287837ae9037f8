#include "sim/network.h"

#include <algorithm>

#include "sim/world.h"

namespace muster::sim {

uint64_t Network::dial(uint32_t node) {
  Line& line = lines_[node];
  if (line.partitioned || !world_.controller.up()) return 0;
  line.connection = ++last_connection_;
  line.lost = false;
  line.up_free = line.down_free = world_.now();
  return line.connection;
}

template <class F>
void Network::carry(uint32_t node, uint64_t connection, Time& free, F deliver) {
  Random& rng = world_.random.network;
  Duration delay = rng.chance(0.02) ? world_.span(rng, milliseconds(50), seconds(3)) : world_.span(rng, Duration(50), milliseconds(20));
  free = std::max(free, world_.now() + delay);
  bool faulty = !world_.calm() && (world_.options.faults & kFaultNetwork);
  bool twice = faulty && rng.chance(0.02), late = faulty && rng.chance(0.2);
  Duration lateness = late || twice ? world_.span(rng, milliseconds(1), seconds(30)) : Duration{};
  world_.after(free - world_.now(), [this, node, connection, deliver, twice, late, lateness] {
    Line& line = lines_[node];
    if (line.connection == connection && line.partitioned) line.lost = true;
    // A stream has no gaps: behind what was lost nothing arrives until the connection is made anew.
    bool arrives = line.connection == connection && !line.lost;
    if (arrives) deliver();
    if (twice || (!arrives && late)) world_.after(lateness, deliver);
  });
}

void Network::to_controller(uint32_t node, uint64_t connection, Numbered<NodeReport> message) {
  carry(node, connection, lines_[node].up_free, [this, node, connection, m = std::make_shared<Numbered<NodeReport>>(std::move(message))] {
    world_.controller.on_report(node, connection, *m);
  });
}

void Network::to_node(uint32_t node, uint64_t connection, Numbered<NodeOrder> message) {
  carry(node, connection, lines_[node].down_free,
        [this, node, m = std::make_shared<Numbered<NodeOrder>>(std::move(message))] { world_.nodes[node]->on_order(*m); });
}

void Network::cut(uint32_t node, const char* why) {
  Line& line = lines_[node];
  uint64_t connection = std::exchange(line.connection, 0);
  if (!connection) return;
  world_.journal.note("connection of " + world_.scenario.nodes[node] + " breaks: " + why);
  Random& r = world_.random.network;
  auto notice = [&] { return r.chance(0.8) ? world_.span(r, Duration(10), milliseconds(50)) : world_.span(r, seconds(1), seconds(20)); };
  world_.after(notice(), [this, node, connection] { world_.nodes[node]->on_closed(connection); });
  world_.after(notice(), [this, node, connection] { world_.controller.on_closed(node, connection); });
}

void Network::cut_all() {
  for (uint32_t i = 0; i < lines_.size(); ++i) cut(i, "the controller is gone");
}

void Network::set_partitioned(uint32_t node, bool on) {
  if (lines_[node].partitioned == on) return;
  world_.journal.note(world_.scenario.nodes[node] + (on ? " is cut off" : " can be reached again"));
  lines_[node].partitioned = on;
  if (!on) return;
  uint64_t connection = lines_[node].connection;
  Duration patience = world_.span(world_.random.network, seconds(1), seconds(30));
  world_.after(patience, [this, node, connection] {
    if (connection && lines_[node].connection == connection) cut(node, "no answer");
  });
}

}  // namespace muster::sim
