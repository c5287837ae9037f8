#include "fields/priority_fields.h"

#include <algorithm>
#include <cmath>

#include "fields/values.h"
#include "model/sluid.h"

namespace muster::fields {
namespace {

using V = const PriorityView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;
constexpr int kFactorDigits = 7, kTresDigits = 2, kPriorityDigits = 14;
constexpr double kPriorities = 4294967296.0;  // a priority has 32 bits
constexpr double kSortedSteps = 1e9;          // how finely factors are told apart when lines are sorted

using Member = FactorRow PriorityRow::*;

struct WeightedLetters {
  std::string_view letters;
  Member factor;
};
constexpr WeightedLetters kWeighted[] = {
    {"aA", &PriorityRow::age},      {"bB", &PriorityRow::association},      {"fF", &PriorityRow::fair_share},
    {"jJ", &PriorityRow::job_size}, {"pP", &PriorityRow::partition_factor}, {"qQ", &PriorityRow::qos_factor},
};

// Points are whole. Each factor is rounded by itself, the priority is the sum without its fraction: the two can differ by a few.
int64_t points(const FactorRow& f) { return whole_part(std::round(f.weighted)); }

template <Member M>
void weighted(V v, S o) {
  put_number(o, points(v.row.*M));
}
// The weights have no normalized form: they are what the factor is taken times.
template <Member M>
void normal(V v, S o) {
  if (v.weights) weighted<M>(v, o);
  else put_fixed(o, (v.row.*M).normal, kFactorDigits);
}
template <Member M>
int64_t weighted_order(V v) {
  return points(v.row.*M);
}
template <Member M>
int64_t normal_order(V v) {
  return whole_part((v.row.*M).normal * kSortedSteps);
}

// A TRES that is not asked for is left out; weights have no normalized form.
void put_tres(V v, S o, bool normalized) {
  if (normalized && v.weights) return;
  const size_t start = o.size();
  for (const FactorRow& f : v.row.tres) {
    if (f.weighted == 0) continue;
    if (o.size() > start) o += ',';
    put(o, f.name);
    o += '=';
    if (normalized) put_fixed(o, f.normal, kTresDigits);
    else put_number(o, points(f));
  }
}

// The priority before its fraction went. One that was set by hand is not made of factors.
double exact_priority(const PriorityRow& row) {
  double sum = static_cast<double>(row.site - row.nice);
  for (const WeightedLetters& w : kWeighted) sum += (row.*w.factor).weighted;
  for (const FactorRow& f : row.tres) sum += f.weighted;
  const bool made_of_factors = sum >= row.priority && sum < row.priority + 1.0;
  return made_of_factors ? sum : row.priority;
}

// Of a job only: the row of weights leaves the cell empty.
template <class Put>
void of_job(V v, Put&& put_value) {
  if (!v.weights) put_value();
}

void job_id(V v, S o) {
  if (v.weights) o += "Weights";
  else put_number(o, v.row.job.value);
}
void site(V v, S o) {
  // It counts as it is, so its weight is 1.
  if (v.weights) o += '1';
  else put_number(o, v.row.site);
}

constexpr PriorityField kFields[] = {
    {'a', "", "", "AGE", kCutAll, kWorks, "How long it has waited, from 0 to 1", normal<&PriorityRow::age>,
     normal_order<&PriorityRow::age>},
    {'A', "", "", "AGE", kCutAll, kWorks, "How long it has waited, weighted", weighted<&PriorityRow::age>,
     weighted_order<&PriorityRow::age>},
    {'b', "", "", "ASSOC", kCutAll, kWorks, "Priority of its association, from 0 to 1", normal<&PriorityRow::association>,
     normal_order<&PriorityRow::association>},
    {'B', "", "", "ASSOC", kCutAll, kWorks, "Priority of its association, weighted", weighted<&PriorityRow::association>,
     weighted_order<&PriorityRow::association>},
    {'c', "", "", "CLUSTER", kCutAll, kWorks, "The cluster", [](V v, S o) { put(o, v.env.cluster); }},
    {'f', "", "", "FAIRSHARE", kCutAll, kWorks, "Fair share of its association, from 0 to 1", normal<&PriorityRow::fair_share>,
     normal_order<&PriorityRow::fair_share>},
    {'F', "", "", "FAIRSHARE", kCutAll, kWorks, "Fair share of its association, weighted", weighted<&PriorityRow::fair_share>,
     weighted_order<&PriorityRow::fair_share>},
    {'i', "", "", "JOBID", kCutAll, kWorks, "The number of the job", job_id, [](V v) -> int64_t { return v.row.job.value; }},
    {'j', "", "", "JOBSIZE", kCutAll, kWorks, "Its size, from 0 to 1", normal<&PriorityRow::job_size>,
     normal_order<&PriorityRow::job_size>},
    {'J', "", "", "JOBSIZE", kCutAll, kWorks, "Its size, weighted", weighted<&PriorityRow::job_size>,
     weighted_order<&PriorityRow::job_size>},
    {'n', "", "", "QOSNAME", kCutAll, kWorks, "The name of its quality of service", [](V v, S o) { put(o, v.row.qos); }},
    {'N', "", "", "NICE", kCutAll, kWorks, "What its user gives up", [](V v, S o) { of_job(v, [&] { put_number(o, v.row.nice); }); },
     [](V v) -> int64_t { return v.row.nice; }},
    {'o', "", "", "ACCOUNT", kCutAll, kWorks, "The account", [](V v, S o) { put(o, v.row.account); }},
    {'p', "", "", "PARTITION", kCutAll, kWorks, "Priority of the partition, from 0 to 1", normal<&PriorityRow::partition_factor>,
     normal_order<&PriorityRow::partition_factor>},
    {'P', "", "", "PARTITION", kCutAll, kWorks, "Priority of the partition, weighted", weighted<&PriorityRow::partition_factor>,
     weighted_order<&PriorityRow::partition_factor>},
    {'q', "", "", "QOS", kCutAll, kWorks, "Priority of its quality of service, from 0 to 1", normal<&PriorityRow::qos_factor>,
     normal_order<&PriorityRow::qos_factor>},
    {'Q', "", "", "QOS", kCutAll, kWorks, "Priority of its quality of service, weighted", weighted<&PriorityRow::qos_factor>,
     weighted_order<&PriorityRow::qos_factor>},
    {'r', "", "", "PARTITION", kCutAll, kWorks, "The partition", [](V v, S o) { put(o, v.row.partition); }},
    {'s', "", "", "SLUID", kCutAll, kWorks, "The SLUID of the job", [](V v, S o) { of_job(v, [&] { o += sluid_text(v.row.sluid); }); }},
    {'S', "", "", "SITE", kCutAll, kWorks, "What an administrator gave it", site, [](V v) -> int64_t { return v.row.site; }},
    {'t', "", "", "TRES", kCutAll, kWorks, "What it asks for of each TRES, from 0 to 1", [](V v, S o) { put_tres(v, o, true); }},
    {'T', "", "", "TRES", kCutAll, kWorks, "What it asks for of each TRES, weighted", [](V v, S o) { put_tres(v, o, false); }},
    {'u', "", "", "USER", kCutAll, kWorks, "The name of the user",
     [](V v, S o) { of_job(v, [&] { put_user(o, v.row.user, "", v.env); }); }},
    {'y', "", "", "PRIORITY", kCutAll, kWorks, "The priority as part of the highest there can be",
     [](V v, S o) { of_job(v, [&] { put_fixed(o, exact_priority(v.row) / kPriorities, kPriorityDigits); }); },
     [](V v) -> int64_t { return v.row.priority; }},
    {'Y', "", "", "PRIORITY", kCutAll, kWorks, "The priority", [](V v, S o) { of_job(v, [&] { put_number(o, v.row.priority); }); },
     [](V v) -> int64_t { return v.row.priority; }},
};

}  // namespace

std::span<const PriorityField> priority_fields() { return kFields; }

bool has_weight(char letter, const PriorityRow& weights) {
  if (letter == 't' || letter == 'T') return std::ranges::any_of(weights.tres, [](const FactorRow& f) { return f.weighted != 0; });
  for (const WeightedLetters& w : kWeighted)
    if (w.letters.find(letter) != std::string_view::npos) return (weights.*w.factor).weighted != 0;
  return true;
}

}  // namespace muster::fields
