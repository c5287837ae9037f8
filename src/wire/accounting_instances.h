// The codecs of accounting records and of sacctmgr's nouns, compiled once. Include this header instead of codec.h where they are encoded.
#pragma once

#include "model/accounts.h"
#include "wire/instances.h"

#define MUSTER_ACCOUNTING_INSTANCES(F) \
  F(JobRecord)                         \
  F(StepRecord)                        \
  F(EventRecord)                       \
  F(ReservationRecord)                 \
  F(JobRecordFilter)                   \
  F(ClusterRecord)                     \
  F(AccountRecord)                     \
  F(UserRecord)                        \
  F(AssociationRecord)                 \
  F(QosRecord)                         \
  F(AccountChanges)                    \
  F(EntityFilter)                      \
  F(EntityChange)

namespace muster::wire {
using rpc::JobRecordFilter;
#define MUSTER_WIRE_EXTERN(T)                                      \
  extern template void write_body<T>(Writer&, const T&, const T&); \
  extern template void read_body<T>(Reader&, T&);
MUSTER_ACCOUNTING_INSTANCES(MUSTER_WIRE_EXTERN)
#undef MUSTER_WIRE_EXTERN
}  // namespace muster::wire
