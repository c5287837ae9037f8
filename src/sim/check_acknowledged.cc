// An id that a client was given exists until it is purged, in every later incarnation of the controller.
#include "sim/world.h"

namespace muster::sim {

void Checkers::acknowledged(JobId job) {
  acknowledged_.insert(job);
  bool durable = mirror_.jobs.contains(job.value) || purged_.contains(job);
  if (!durable) fail("acknowledged", "job " + std::to_string(job.value) + " was acknowledged before it was durable");
}

void Checkers::check_acknowledged(const Cluster& c) {
  for (JobId job : acknowledged_)
    if (!purged_.contains(job) && !c.jobs.contains(job.value)) fail("acknowledged", "job " + std::to_string(job.value) + " is lost");
}

}  // namespace muster::sim
