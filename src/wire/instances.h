// The codecs of the big structs, compiled once (instances_*.cc). Include this header instead of codec.h where such structs are encoded.
#pragma once

#include "model/event.h"
#include "wire/codec.h"

#define MUSTER_WIRE_INSTANCES(F) \
  F(JobRequest)                  \
  F(AskedRequest)                \
  F(ShownRequest)                \
  F(ShownBody)                   \
  F(ShownOwn)                    \
  F(RequestBody)                 \
  F(RequestOwn)                  \
  F(StepRequest)                 \
  F(Job)                         \
  F(Step)                        \
  F(Node)                        \
  F(NodeSpec)                    \
  F(NodeHardware)                \
  F(Partition)                   \
  F(Allocation)

namespace muster::wire {
#define MUSTER_WIRE_EXTERN(T)                                      \
  extern template void write_body<T>(Writer&, const T&, const T&); \
  extern template void read_body<T>(Reader&, T&);
MUSTER_WIRE_INSTANCES(MUSTER_WIRE_EXTERN)
#undef MUSTER_WIRE_EXTERN
}  // namespace muster::wire
