// `scontrol show job`: one job as a block of Key=value lines, or one line. scontrol(1) JOBS - SPECIFICATIONS FOR SHOW. Cost: about 2 KiB
// and 5 µs a job, appended to the caller's buffer.
#pragma once

#include <string>

#include "fields/show.h"

namespace muster::fields {

// Appends the record with the '\n' that ends it (and, without oneliner, the empty line after it).
void show_job(const JobView& v, const ShowOptions& options, std::string& out);

}  // namespace muster::fields
