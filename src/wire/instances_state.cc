#include "wire/instances.h"

namespace muster::wire {
#define MUSTER_WIRE_HERE(T)                                 \
  template void write_body<T>(Writer&, const T&, const T&); \
  template void read_body<T>(Reader&, T&);
MUSTER_WIRE_HERE(Job)
MUSTER_WIRE_HERE(Step)
MUSTER_WIRE_HERE(Node)
MUSTER_WIRE_HERE(NodeSpec)
MUSTER_WIRE_HERE(NodeHardware)
MUSTER_WIRE_HERE(Partition)
MUSTER_WIRE_HERE(Allocation)
}  // namespace muster::wire
