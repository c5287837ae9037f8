// The table of messages.def at compile time: number_of<rpc::SubmitJob>, AnswerTo<rpc::SubmitJob>, PartOf<rpc::QueryJobs>.
#pragma once

#include <cstdint>

#include "model/accounting.h"
#include "model/accounts.h"
#include "model/archive.h"
#include "model/assoc_mgr.h"
#include "model/config_rpc.h"
#include "model/crontab.h"
#include "model/database_statistics.h"
#include "model/job_content.h"
#include "model/join_rpc.h"
#include "model/maintenance.h"
#include "model/node_rpc.h"
#include "model/rpc.h"
#include "model/step_rpc.h"
#include "model/token_rpc.h"
#include "model/trigger.h"
#include "model/usage_report.h"

namespace muster {

template <class Request>
struct MessageTraits;

#define MUSTER_MESSAGE(number, size, request, answer, part) \
  template <>                                               \
  struct MessageTraits<request> {                           \
    static constexpr uint16_t kNumber = number;             \
    static constexpr const char* kName = &#request[5];      \
    using Answer = answer;                                  \
    using Part = part;                                      \
  };
#include "model/messages.def"
#undef MUSTER_MESSAGE

template <class Request>
inline constexpr uint16_t number_of = MessageTraits<Request>::kNumber;
template <class Request>
using AnswerTo = typename MessageTraits<Request>::Answer;
template <class Request>
using PartOf = typename MessageTraits<Request>::Part;

}  // namespace muster
