#include "fields/problem_view.h"

namespace muster::fields {
namespace {

using V = const ProblemView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

constexpr ProblemField kFields[] = {
    {"Account", "Account", 10, Fit::kMarked, kWorks, "The account", [](V v, S o) { o += v.account; }},
    {"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster, of what belongs to one", [](V v, S o) { o += v.cluster; }},
    {"Problem", "Problem", 40, Fit::kMarked, kWorks, "What is missing", [](V v, S o) { o += v.problem; }},
    {"User", "User", 10, Fit::kMarked, kWorks, "The user", [](V v, S o) { o += v.user; }},
};

}  // namespace

std::span<const ProblemField> problem_fields() { return kFields; }

}  // namespace muster::fields
