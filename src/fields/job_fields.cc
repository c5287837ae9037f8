#include "fields/job_fields.h"

#include <array>

#include "fields/job_absent_fields.h"
#include "fields/job_identity_fields.h"
#include "fields/job_request_fields.h"
#include "fields/job_resource_fields.h"
#include "fields/job_state_fields.h"
#include "fields/job_time_fields.h"

namespace muster::fields {
namespace {

constexpr std::array<std::span<const JobFact>, 6> kSubjects = {identity::kFacts, request::kFacts, resource::kFacts,
                                                               times::kFacts,    state::kFacts,   missing::kFacts};

constexpr auto kColumns = columns_of<kSubjects>();
constexpr auto kRecord = in_order<kSubjects, &JobFact::shown>();
constexpr auto kObject = in_order<kSubjects, &JobFact::member>();

}  // namespace

std::span<const JobField> job_columns() { return kColumns; }
ShownRecord<JobView> job_record() { return record_of<JobView, kRecord>(); }
DocumentObject<JobView> job_object() { return object_of<JobView, kObject>(); }
std::span<const std::span<const JobFact>> job_subjects() { return kSubjects; }

}  // namespace muster::fields
