#include "fields/job_fields.h"

#include <algorithm>
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

consteval size_t count(auto has) {
  size_t n = 0;
  for (std::span<const JobFact> facts : kSubjects) n += static_cast<size_t>(std::ranges::count_if(facts, has));
  return n;
}

// Every fact's part of one form, sorted by where it stands in it. Two at one place are an error of compilation.
template <auto Part, size_t kCount>
consteval auto in_order() {
  using Form = std::remove_cvref_t<decltype(std::declval<JobFact>().*Part)>;
  std::array<const Form*, kCount> out{};
  size_t n = 0;
  for (std::span<const JobFact> facts : kSubjects)
    for (const JobFact& fact : facts)
      if ((fact.*Part).is_there()) out[n++] = &(fact.*Part);
  std::ranges::sort(out, {}, [](const Form* form) { return form->order(); });
  if (std::ranges::adjacent_find(out, {}, [](const Form* form) { return form->order(); }) != out.end())
    throw "two facts stand at one place";
  return out;
}

consteval auto columns() {
  std::array<JobField, count(&JobFact::has_column)> out{};
  size_t n = 0;
  for (std::span<const JobFact> facts : kSubjects)
    for (const JobFact& fact : facts)
      if (fact.has_column()) out[n++] = fact.column;
  return out;
}

constexpr auto kColumns = columns();
constexpr auto kRecord = in_order<&JobFact::shown, count([](const JobFact& f) { return f.shown.is_there(); })>();
constexpr auto kObject = in_order<&JobFact::member, count([](const JobFact& f) { return f.member.is_there(); })>();

}  // namespace

std::span<const JobField> job_columns() { return kColumns; }
std::span<const ShownKey* const> job_record() { return kRecord; }
std::span<const ObjectMember* const> job_object() { return kObject; }
std::span<const std::span<const JobFact>> job_subjects() { return kSubjects; }

}  // namespace muster::fields
