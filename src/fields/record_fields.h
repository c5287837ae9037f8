// The facts of a job's record and of a step's (record_fields.cc) as the members of sacct --json that they are. sacct's columns are
// record_fields() of record_view.h.
#pragma once

#include <span>

#include "fields/fact.h"
#include "fields/record_view.h"

namespace muster::fields {

DocumentObject<RecordView> job_record_object();   // of a view without a step
DocumentObject<RecordView> step_record_object();  // of one with a step

}  // namespace muster::fields
