#include <algorithm>
#include <array>

#include "fields/listed_fact.h"
#include "fields/listed_objects.h"
#include "fields/record_kinds.h"
#include "fields/values.h"
#include "model/reservation.h"

namespace muster::fields {
namespace {

using V = const HeldView&;
using S = std::string&;
constexpr FieldStatus kWorks = FieldStatus::kWorks;

template <class K = SameAsField, auto Get = SameAsField{}>
constexpr auto member(std::string_view key, uint16_t place) {
  return member_of<ListedFact<HeldView>, K, Get>(key, place);
}
constexpr ListedFact<HeldView> row(HeldField column, auto... members) { return listed<HeldView>(column, members...); }

const ReservationRecord& of(V v) { return v.held.reservation; }
template <auto Field>
const auto& of_held(V v) {
  return of(v).*Field;
}
std::string_view associations(V v) { return v.associations; }
std::vector<std::string> flag_names(V v) {
  const std::vector<std::string_view> names = reservation_flag_names(of(v).flags);
  return {names.begin(), names.end()};
}
void json_unused(V v, std::string_view key, Members& members) {
  members.sink().key(key);
  members.sink().real(unused_seconds(v.held, v.env.now));
}

constexpr ListedFact<HeldView> kFields[] = {
    row({"Associations", "Assocs", 10, Fit::kMarked, kWorks, "The associations that may run in it", [](V v, S o) { o += v.associations; }},
        member<Words, associations>("associations", 110)),
    row({"Cluster", "Cluster", 10, Fit::kMarked, kWorks, "The cluster", [](V v, S o) { o += of(v).cluster; }},
        member<Text, of_held<&ReservationRecord::cluster>>("cluster", 20)),
    row({"End", "TimeEnd", 19, Fit::kCut, kWorks, "Its end", [](V v, S o) { o += format_time(of(v).ended, "Unknown"); }, "TimeEnd"},
        member<RecordTime, of_held<&ReservationRecord::ended>>("time.end", 50)),
    row({"Flags", "Flags", 20, Fit::kMarked, kWorks, "Its flags", [](V v, S o) { o += reservation_flags_text(of(v).flags, {}); }},
        member<List, flag_names>("flags", 70)),
    row({"ID", "ID", 6, Fit::kWhole, kWorks, "Its number", [](V v, S o) { put_number(o, of(v).id); }},
        member<Number, of_held<&ReservationRecord::id>>("id", 10)),
    row({"Name", "Name", 15, Fit::kMarked, kWorks, "Its name", [](V v, S o) { o += of(v).name; }},
        member<Text, of_held<&ReservationRecord::name>>("name", 30)),
    row({"NodeNames", "NodeNames", 20, Fit::kMarked, kWorks, "Its nodes", [](V v, S o) { o += of(v).nodes; }},
        member<Text, of_held<&ReservationRecord::nodes>>("nodes", 80)),
    row({"Start", "TimeStart", 19, Fit::kCut, kWorks, "Its begin", [](V v, S o) { o += format_time(of(v).started, "Unknown"); },
         "TimeStart"},
        member<RecordTime, of_held<&ReservationRecord::started>>("time.start", 40)),
    row({"TRES", "TRES", 30, Fit::kMarked, kWorks, "What it holds", [](V v, S o) { o += tres_text(of(v).tres); }},
        member<TresList, of_held<&ReservationRecord::tres>>("tres", 90)),
    row({"UnusedWall", "UnusedWall", 10, Fit::kWhole, kWorks, "The seconds that no job used",
         [](V v, S o) { put_fixed(o, unused_seconds(v.held, v.env.now), 6); }},
        member("unused_wall", 60).written(Shape::kReal, json_unused)),
    unlisted<HeldView>(member<Words, of_held<&ReservationRecord::users>>("users", 120)),
    unlisted<HeldView>(member<Words, of_held<&ReservationRecord::accounts>>("accounts", 130)),
    unlisted<HeldView>(member<Text, of_held<&ReservationRecord::comment>>("comment", 140)),
};

constexpr std::array<std::span<const ListedFact<HeldView>>, 1> kFacts = {kFields};
constexpr auto kColumns = columns_of<kFacts>();
constexpr auto kObject = in_order<kFacts, &ListedFact<HeldView>::member>();

}  // namespace

std::span<const HeldField> held_fields() { return kColumns; }
DocumentObject<HeldView> held_object() { return object_of<HeldView, kObject>(); }

double unused_seconds(const rpc::ReservationUsage& held, Time now) {
  const Duration lasted = std::min(held.reservation.ended, now) - held.reservation.started;
  const double all = std::max<double>(0, static_cast<double>(to_seconds(lasted)));
  const auto cpus = static_cast<double>(held.reservation.tres.cpus.value_or(0));
  if (cpus == 0) return all;
  return std::max(0.0, all - static_cast<double>(held.allocated.cpus.value_or(0)) / cpus);
}

}  // namespace muster::fields
