#include "wire/instances.h"

namespace muster::wire {
template void write_body<JobRequest>(Writer&, const JobRequest&, const JobRequest&);
template void read_body<JobRequest>(Reader&, JobRequest&);
template void write_body<RequestBody>(Writer&, const RequestBody&, const RequestBody&);
template void read_body<RequestBody>(Reader&, RequestBody&);
template void write_body<RequestOwn>(Writer&, const RequestOwn&, const RequestOwn&);
template void read_body<RequestOwn>(Reader&, RequestOwn&);
template void write_body<AskedRequest>(Writer&, const AskedRequest&, const AskedRequest&);
template void read_body<AskedRequest>(Reader&, AskedRequest&);
template void write_body<ShownRequest>(Writer&, const ShownRequest&, const ShownRequest&);
template void read_body<ShownRequest>(Reader&, ShownRequest&);
template void write_body<ShownBody>(Writer&, const ShownBody&, const ShownBody&);
template void read_body<ShownBody>(Reader&, ShownBody&);
template void write_body<ShownOwn>(Writer&, const ShownOwn&, const ShownOwn&);
template void read_body<ShownOwn>(Reader&, ShownOwn&);
template void write_body<StepRequest>(Writer&, const StepRequest&, const StepRequest&);
template void read_body<StepRequest>(Reader&, StepRequest&);
}  // namespace muster::wire
