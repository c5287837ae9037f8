// The messages (model/messages.h) on a connection, and how large each may be. The node link uses kNodeReport and kNodeOrder for its
// Numbered<…> envelopes (model/node_rpc.h).
#pragma once

#include <cstdint>

#include "model/messages.h"
#include "model/node_rpc.h"

namespace muster::wire {

// How large a request of an ordinary user may be, checked at its header, before the rest of it is read. kTexts: names, lists and texts.
// kJob: a job or a step with its script, environment and arguments. kFile: a block of a file.
enum class RequestSize : uint8_t { kTexts, kJob, kFile };

using muster::AnswerTo;
using muster::number_of;
using muster::PartOf;

// Whether a request is answered only once something has happened to a job, and waits until then just for its caller. A node daemon that
// passes one on names the caller, so that the request is forgotten when the caller goes (rpc::AskerGone). slurmctld lets no other
// request wait.
template <class Request>
inline constexpr bool kWaits = false;
template <>
inline constexpr bool kWaits<rpc::Allocate> = true;
template <>
inline constexpr bool kWaits<rpc::AllocateHetJob> = true;
template <>
inline constexpr bool kWaits<rpc::WaitJob> = true;
template <>
inline constexpr bool kWaits<rpc::WaitSteps> = true;
template <>
inline constexpr bool kWaits<rpc::WaitRecords> = true;
template <>
inline constexpr bool kWaits<rpc::AskDatabase> = true;  // for slurmdbd, which may be long in finding the answer

constexpr bool waits(uint16_t number_off_the_wire) {
  switch (number_off_the_wire) {
#define MUSTER_MESSAGE(number, size, request, answer, part) \
  case number:                                              \
    return kWaits<request>;
#include "model/messages.def"
#undef MUSTER_MESSAGE
    default: return false;
  }
}

// The bound in bytes, for a message number off the wire; `most_script` is SchedulerParameters=max_script_size.
size_t largest_request(uint16_t number, size_t most_script);

inline constexpr uint16_t kNodeReport = 190;  // slurmd → slurmctld, a kNotice with Numbered<NodeReport>
inline constexpr uint16_t kNodeOrder = 191;   // slurmctld → slurmd, a kNotice with Numbered<NodeOrder>

}  // namespace muster::wire
