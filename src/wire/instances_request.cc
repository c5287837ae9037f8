#include "wire/instances.h"

namespace muster::wire {
template void write_body<JobRequest>(Writer&, const JobRequest&, const JobRequest&);
template void read_body<JobRequest>(Reader&, JobRequest&);
template void write_body<RequestBody>(Writer&, const RequestBody&, const RequestBody&);
template void read_body<RequestBody>(Reader&, RequestBody&);
template void write_body<RequestOwn>(Writer&, const RequestOwn&, const RequestOwn&);
template void read_body<RequestOwn>(Reader&, RequestOwn&);
template void write_body<StepRequest>(Writer&, const StepRequest&, const StepRequest&);
template void read_body<StepRequest>(Reader&, StepRequest&);
}  // namespace muster::wire
