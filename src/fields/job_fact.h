// The forms of facts of jobs (fact.h), as the rows of job_*_fields.h write them.
#pragma once

#include "fields/fact.h"

namespace muster::fields {

using JobFact = Fact<JobView>;

template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto column(char letter, std::string_view name, std::string_view header) {
  return column_of<JobFact, K, Get>(letter, name, header);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto shown(std::string_view key, At place) {
  return shown_of<JobFact, K, Get>(key, place);
}
template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<JobFact, K, Get>(key, place);
}

}  // namespace muster::fields
