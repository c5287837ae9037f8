#include <array>

#include "fields/listed_fact.h"
#include "fields/listed_objects.h"

namespace muster::fields {
namespace {

using V = const ProblemView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

constexpr auto member(std::string_view key, uint16_t place) { return member_of<ListedFact<ProblemView>>(key, place); }
constexpr ListedFact<ProblemView> row(ProblemField column, auto... members) { return listed<ProblemView>(column, members...); }

constexpr ListedFact<ProblemView> kFields[] = {
    row({"Account", "Account", 10, Fit::kMarked, kWorks, "The account", [](V v, S o) { o += v.account; }},
        member("account", 20).written(Shape::kText, [](V v, std::string_view key, Members& m) { m.text(key, v.account); })),
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster, of what belongs to one", [](V v, S o) { o += v.cluster; }},
        member("cluster", 10).written(Shape::kText, [](V v, std::string_view key, Members& m) { m.text(key, v.cluster); })),
    row({"Problem", "Problem", 40, Fit::kMarked, kWorks, "What is missing", [](V v, S o) { o += v.problem; }},
        member("problem", 40).written(Shape::kText, [](V v, std::string_view key, Members& m) { m.text(key, v.problem); })),
    row({"User", "User", 10, Fit::kMarked, kWorks, "The user", [](V v, S o) { o += v.user; }},
        member("user", 30).written(Shape::kText, [](V v, std::string_view key, Members& m) { m.text(key, v.user); })),
};

constexpr std::array<std::span<const ListedFact<ProblemView>>, 1> kFacts = {kFields};
constexpr auto kColumns = columns_of<kFacts>();
constexpr auto kObject = in_order<kFacts, &ListedFact<ProblemView>::member>();

}  // namespace

std::span<const ProblemField> problem_fields() { return kColumns; }
DocumentObject<ProblemView> problem_object() { return object_of<ProblemView, kObject>(); }

}  // namespace muster::fields
