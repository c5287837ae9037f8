#include "wire/accounting_instances.h"

namespace muster::wire {
#define MUSTER_WIRE_HERE(T)                                 \
  template void write_body<T>(Writer&, const T&, const T&); \
  template void read_body<T>(Reader&, T&);
MUSTER_ACCOUNTING_INSTANCES(MUSTER_WIRE_HERE)
}  // namespace muster::wire
