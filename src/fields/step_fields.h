// The facts of a step (fact.h), in the order that each form of output has them. Its columns are in field_table.h.
#pragma once

#include <span>

#include "fields/fact.h"

namespace muster::fields {

ShownRecord<StepView> step_record();     // scontrol show step: by line, and by place in the line
DocumentObject<StepView> step_object();  // --json

}  // namespace muster::fields
