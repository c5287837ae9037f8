// What a node tells of itself now and then: its load; and whether its GPUs are looked at, and how often.
#pragma once

#include "model/node_rpc.h"
#include "slurmd/daemon/setup.h"
#include "slurmd/daemon/stepds.h"

namespace muster::slurmd {

node_rpc::Load node_load();  // without energy
// Whether the node's own samples of power or a step that runs need the GPUs looked at. Steps that an earlier slurmd started count, too.
bool wants_gpu_samples(const Setup& setup, const Stepds& stepds);
// As often as tasks are looked at, and every five seconds at least: what a short step used is seen, too.
Duration gpu_sample_interval(const Setup& setup);

}  // namespace muster::slurmd
