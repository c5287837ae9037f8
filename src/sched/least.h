// What a job takes at least, before it has nodes (request/least_wanted.h works it out).
#pragma once

#include "model/tres_table.h"

namespace muster::sched {

struct Least {
  TresCounts all;
  TresCounts each_node;  // on the node where it takes the most
};

}  // namespace muster::sched
