// The numbers of messages.def as types: number_of<rpc::SubmitJob>, AnswerTo<rpc::SubmitJob>, PartOf<rpc::QueryJobs>.
// The node link uses kNodeReport and kNodeOrder for its Numbered<…> envelopes (model/node_rpc.h).
#pragma once

#include <cstdint>

#include "model/accounting.h"
#include "model/accounts.h"
#include "model/rpc.h"
#include "model/step_rpc.h"

namespace muster::wire {

template <class Request>
struct MessageTraits;

#define MUSTER_MESSAGE(number, request, answer, part)    \
  template <>                                            \
  struct MessageTraits<request> {                        \
    static constexpr uint16_t kNumber = number;          \
    static constexpr const char* kName = #request + 5;   \
    using Answer = answer;                               \
    using Part = part;                                   \
  };
#include "wire/messages.def"
#undef MUSTER_MESSAGE

template <class Request>
inline constexpr uint16_t number_of = MessageTraits<Request>::kNumber;
template <class Request>
using AnswerTo = typename MessageTraits<Request>::Answer;
template <class Request>
using PartOf = typename MessageTraits<Request>::Part;

inline constexpr uint16_t kNodeReport = 190;   // slurmd → slurmctld, a kNotice with Numbered<NodeReport>
inline constexpr uint16_t kNodeOrder = 191;    // slurmctld → slurmd, a kNotice with Numbered<NodeOrder>

}  // namespace muster::wire
