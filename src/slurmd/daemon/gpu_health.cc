#include "slurmd/daemon/gpu_health.h"

#include <unistd.h>

#include "os/node/gpu_health.h"

namespace muster::slurmd {
namespace {

constexpr Duration kInterval = minutes(5), kTimeout = seconds(60);

}  // namespace

void GpuHealth::start(Plan plan, std::function<void()> then) {
  configure(std::move(plan));
  if (!on()) return then();
  check([then = std::move(then)](const std::string&) { then(); });
}

void GpuHealth::configure(Plan plan) {
  plan_ = std::move(plan);
  if (plan_.interval <= Duration::zero()) plan_.interval = kInterval;
  if (plan_.timeout <= Duration::zero()) plan_.timeout = kTimeout;
  if (!on()) reason_.clear();
  schedule();
}

void GpuHealth::schedule() {
  next_.reset();
  if (!on()) return;
  next_ = loop_.after(plan_.interval, [this] {
    schedule();
    check([](const std::string&) {});
  });
}

void GpuHealth::check(std::function<void(const std::string&)> done) {
  waiting_.push_back(std::move(done));
  if (!run_) ask();
}

void GpuHealth::ask() {
  if (programs_.running()) {  // the last one was killed, and is in the driver yet
    loop_.defer([this] { give_up(); });
    return;
  }
  run_ = programs_.run_and_read(site::ProgramCall(plan_.program, {"gpu-health", plan_.library, plan_.root}), site::own_environment(),
                                std::nullopt, [this](const std::string& error, const std::string& output) { answered(error, output); });
  deadline_ = loop_.after(plan_.timeout, [this] { give_up(); });
}

void GpuHealth::give_up() {
  if (run_) programs_.abandon(*std::exchange(run_, std::nullopt));
  deadline_.reset();
  GpuReadings readings;
  readings.fault = "the driver has not answered for " + std::to_string(plan_.timeout / seconds(1)) + " seconds";
  judge(readings);
}

void GpuHealth::answered(const std::string& error, const std::string& output) {
  run_.reset();
  deadline_.reset();
  auto readings = error.empty() ? os::gpu_health_from(output) : Result<GpuReadings>(fail(Errc::kIo, error));
  if (readings) return judge(*readings);
  // What slurmd itself cannot do is no fault of a card.
  const std::string text(readings.error().message());
  if (told_.insert(text).second) log_.error("gpu_checks: {}", text);
  finish();
}

void GpuHealth::judge(const GpuReadings& readings) {
  const std::vector<GpuFinding> findings = judge_gpus(readings, known_ ? &*known_ : nullptr, plan_.cards);
  known_ = remembered(known_ ? &*known_ : nullptr, readings);
  std::set<std::string> now;
  for (const GpuFinding& finding : findings) {
    const std::string text = finding.text();
    if (!now.insert(text).second || told_.contains(text)) continue;
    if (finding.serious) log_.error("gpu_checks: {}", text);
    else log_.info("gpu_checks: {}", text);
  }
  told_ = std::move(now);
  reason_ = gpu_reason(findings);
  if (!reason_.empty()) tell_(reason_);
  finish();
}

void GpuHealth::finish() {
  for (const auto& done : std::exchange(waiting_, {})) done(reason_);
}

}  // namespace muster::slurmd
