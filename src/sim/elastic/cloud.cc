#include "sim/elastic/cloud.h"

#include <cmath>

namespace muster::sim::elastic {

Cloud::Cloud(CloudRules rules, uint32_t nodes, uint64_t seed, Time begin)
    : rules_(rules), random_(seed), machines_(nodes), turns_at_(begin + about(rules.good_span)) {}

// Spans without memory: as likely to end at any moment.
Duration Cloud::about(Duration mean) {
  const double unit = (static_cast<double>(random_.uniform(0, (1u << 30) - 1)) + 1) / (1u << 30);
  return std::max<Duration>(seconds(1), std::chrono::duration_cast<Duration>(mean * -std::log(unit)));
}

bool Cloud::has_capacity(Time now) {
  while (turns_at_ <= now) {
    capacity_ = !capacity_;
    turns_at_ += about(capacity_ ? rules_.good_span : rules_.bad_span);
  }
  return capacity_;
}

std::optional<Cloud::Asked> Cloud::ask(uint32_t node, Time now) {
  if (machines_[node]) return machines_[node];
  ++asked_;
  if (!has_capacity(now)) {
    ++refused_;
    return std::nullopt;
  }
  const int64_t spread = to_seconds(rules_.boot_most - rules_.boot_least);
  Asked machine;
  machine.machine = ++last_;
  machine.boots_at = now + rules_.boot_least + seconds(static_cast<int64_t>(random_.uniform(0, static_cast<uint64_t>(spread))));
  machine.taken_at = machine.boots_at + about(rules_.machine_life);
  machines_[node] = machine;
  return machine;
}

}  // namespace muster::sim::elastic
