#include "slurmd/daemon/health_check.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "config/slurm_conf.h"

namespace muster::slurmd {

HealthRules HealthRules::of(const config::Config& config) {
  HealthRules rules;
  rules.program = config.health_check_program;
  rules.interval = config.health_check_interval;
  rules.timeout = config.health_check_timeout;
  const auto named = [&](std::string_view word) {
    return std::ranges::any_of(config.health_check_node_state, [&](const std::string& state) { return iequals(state, word); });
  };
  rules.cycle = named("CYCLE");
  rules.start_only = named("START_ONLY");
  rules.reboot_only = named("REBOOT_ONLY");
  if (named("ANY")) return rules;
  rules.idle = named("IDLE");
  rules.idle_and_not_drained = named("NONDRAINED_IDLE");
  rules.mixed = named("MIXED");
  rules.allocated = named("ALLOC");
  return rules;
}

bool HealthRules::wants(const NodeRow& node) const {
  if (!names_states()) return true;
  const bool all = node.cpus_allocated >= node.cpus_effective && node.cpus_allocated > 0;
  if (node.cpus_allocated == 0) return idle || (idle_and_not_drained && !(node.flags & kNodeDrain));
  return all ? allocated : mixed;
}

Time HealthRules::next(Time now, const std::string& node) const {
  if (program.empty() || interval <= Duration::zero() || start_only || reboot_only) return kTimeInfinite;
  const Duration since = now - from_unix(0);
  const Duration own =
      cycle ? Duration(static_cast<int64_t>(hash_bytes(node) % static_cast<uint64_t>(interval.count()))) : Duration::zero();
  const int64_t passed = (since - own).count() / interval.count();
  return from_unix(0) + own + interval * (passed + 1);
}

void HealthCheck::start(HealthRules rules, bool rebooted, std::function<void()> then) {
  rules_ = std::move(rules);
  schedule();
  if (rules_.program.empty() || (rules_.reboot_only && !rebooted)) return then();
  run(std::move(then));
}

void HealthCheck::configure(HealthRules rules) {
  rules_ = std::move(rules);
  schedule();
}

void HealthCheck::schedule() {
  timer_.reset();
  const Time now = net::Loop::now(), at = rules_.next(now, node_);
  if (at != kTimeInfinite) timer_ = loop_.after(at - now, [this] { due(); });
}

void HealthCheck::due() {
  schedule();
  if (running_ || !ports_.connected()) return;
  if (!rules_.names_states()) return run([] {});
  ports_.ask_for_node([this](Result<NodeRow> node) {
    if (!node) return log_.debug("HealthCheckProgram waits: {}", node.error().message());
    if (!running_ && rules_.wants(*node)) run([] {});
  });
}

void HealthCheck::run(std::function<void()> then) {
  running_ = true;
  ports_.run(rules_, [this, then = std::move(then)](const std::string& error) {
    running_ = false;
    if (!error.empty() && error != told_) log_.error("HealthCheckProgram: {}", error);
    told_ = error;
    then();
  });
}

}  // namespace muster::slurmd
