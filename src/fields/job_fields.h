// The facts of a job (job_fact.h), in the order that each form of output has them.
#pragma once

#include <span>

#include "fields/job_fact.h"

namespace muster::fields {

std::span<const JobField> job_columns();                   // of squeue, as -O help lists them
ShownRecord<JobView> job_record();                         // scontrol show job: by line, and by place in the line
DocumentObject<JobView> job_object();                      // --json
std::span<const std::span<const JobFact>> job_subjects();  // all facts, by subject

}  // namespace muster::fields
