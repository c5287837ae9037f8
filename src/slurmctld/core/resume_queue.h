// ResumeQueue: powered-down nodes that jobs have got, until ResumeProgram is told of them. slurm.conf(5) ResumeRate; guide power_save.
//
// A start only marks such a node as POWERING_UP without a deadline: it waits here. A job's nodes are told together, in the order in which
// jobs started, as soon as ResumeRate leaves room for all of them; nobody overtakes, so a large job is not kept waiting by small ones. A
// job with more such nodes than ResumeRate gets them a minute's worth at a time: the rate is there for such jobs. ResumeTimeout counts from
// when the program is told. A node whose job is gone by then goes back to being powered down, and nobody is told.
//
// What `scontrol power up` asks for does not come here. Who waits is in the state of the nodes; the minute is not, and begins anew after a
// restart. Cost: look() O(nodes), only while nodes wait.
#pragma once

#include "slurmctld/core/decide.h"
#include "slurmctld/core/minute_rate.h"

namespace muster::slurmctld {

class ResumeQueue {
 public:
  static bool waits(const Node& node) { return (node.flags & kNodePoweringUp) && node.resume_deadline == kTimeUnset; }
  // Tells of those whose turn it is. Returns when to look again; kTimeInfinite: nobody waits.
  Time look(const View& view, Events& out);

 private:
  MinuteRate rate_;
};

}  // namespace muster::slurmctld
