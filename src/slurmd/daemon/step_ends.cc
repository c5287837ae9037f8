#include "slurmd/daemon/step_ends.h"

#include <algorithm>

namespace muster::slurmd {

bool StepEnds::tell(const std::string& own_node, const node_rpc::StepGone& gone) {
  const Key step{gone.job, gone.step};
  const auto known = managers_.find(step);
  if (known == managers_.end()) return false;
  const rpc::PartEnded part{own_node,         gone.job,           gone.generation, gone.step,
                            gone.exit_status, gone.out_of_memory, gone.ends_step,  gone.usage};
  if (!on_their_way_.insert(step).second) return true;
  if (known->second == own_node) {
    ports_.here(part, [this, own_node, gone](const Result<>& done) {
      if (done) return taken(gone);
      on_their_way_.erase({gone.job, gone.step});
      log_.error("steps of job {}: {}", gone.job.value, done.error().message());
      keep(own_node, gone);
    });
    return true;
  }
  if (ports_.there(known->second, part, [this, gone] { taken(gone); })) return true;
  on_their_way_.erase(step);
  return false;
}

// Keeps an end that could not be written down (a full disk): it is tried again, and slurmstepd stays meanwhile.
void StepEnds::keep(const std::string& own_node, const node_rpc::StepGone& gone) {
  const auto same = [&](const node_rpc::StepGone& g) { return g.job == gone.job && g.step == gone.step; };
  if (std::ranges::none_of(unwritten_, same)) unwritten_.push_back(gone);
  if (again_) return;
  again_ = loop_.after(pause_, [this, own_node] {
    again_.reset();
    for (const node_rpc::StepGone& g : std::exchange(unwritten_, {})) tell(own_node, g);
  });
}

void StepEnds::taken(const node_rpc::StepGone& gone) {
  on_their_way_.erase({gone.job, gone.step});
  managers_.erase({gone.job, gone.step});
  ports_.taken(gone);
}

void StepEnds::forget(JobId job) {
  std::erase_if(managers_, [&](const auto& x) { return x.first.first == job; });
  std::erase_if(on_their_way_, [&](const Key& x) { return x.first == job; });
  std::erase_if(unwritten_, [&](const node_rpc::StepGone& x) { return x.job == job; });
}

}  // namespace muster::slurmd
