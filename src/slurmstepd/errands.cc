#include "slurmstepd/errands.h"

#include <algorithm>

namespace muster::slurmstepd {

void Errands::send_as(const std::optional<os::Credentials>& who, int mount_namespace, os::Errand errand, Duration patience, Done done) {
  if (mount_namespace >= 0) errand.enter(mount_namespace);
  auto sent = std::make_unique<Sent>(Sent{std::move(errand), std::move(done), nullptr, nullptr});
  Sent* raw = sent.get();
  sent_.push_back(std::move(sent));
  if (auto ok = raw->errand.start(who); !ok) {  // take() says why
    raw->timer = loop_.after(Duration{}, [this, raw] { finish(raw); });
    return;
  }
  raw->watch = loop_.watch(raw->errand.fd(), [this, raw] {
    if (raw->errand.over()) finish(raw);
  });
  raw->timer = loop_.after(patience, [this, raw] { finish(raw); });
}

void Errands::finish(Sent* sent) {
  auto at = std::ranges::find_if(sent_, [&](const auto& s) { return s.get() == sent; });
  if (at == sent_.end()) return;
  std::unique_ptr<Sent> kept = std::move(*at);
  sent_.erase(at);
  kept->watch.reset();
  kept->errand.end();
  kept->done(kept->errand);
}

void Errands::end_all() {
  std::vector<Sent*> all;
  for (const auto& s : sent_) all.push_back(s.get());
  for (Sent* s : all) finish(s);
}

std::vector<pid_t> Errands::pids() const {
  std::vector<pid_t> out;
  for (const auto& s : sent_)
    if (s->errand.started()) out.push_back(s->errand.pid());
  return out;
}

}  // namespace muster::slurmstepd
