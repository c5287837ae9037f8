// The answer of a query as frames: what core/query.h says, encoded part by part as they are asked for.
#pragma once

#include <memory>

#include "net/answer_streams.h"
#include "slurmctld/core/query.h"

namespace muster::slurmctld {

Result<std::unique_ptr<net::PartSource>> encoded_answer(const QueryContext& context, Query query);

}  // namespace muster::slurmctld
