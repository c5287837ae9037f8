#include "wire/instances.h"

namespace muster::wire {
template void write_body<JobRequest>(Writer&, const JobRequest&, const JobRequest&);
template void read_body<JobRequest>(Reader&, JobRequest&);
template void write_body<StepRequest>(Writer&, const StepRequest&, const StepRequest&);
template void read_body<StepRequest>(Reader&, StepRequest&);
}  // namespace muster::wire
