#include "base/apart.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/describe.h"
#include "base/equal_fields.h"

namespace muster {
namespace {

struct Trip {
  std::string to = "home";
  uint32_t km = 0;
  bool operator==(const Trip&) const = default;
};

struct Car {
  uint32_t id = 0;
  Apart<Trip> trip;
  std::shared_ptr<const std::string> owner;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    auto trip = described_part(field, self.trip);
    field(1, "id", self.id);
    trip(2, "to", &Trip::to);
    trip(3, "km", &Trip::km);
    field(4, "owner", self.owner);
  }
};

TEST(Apart, ReadsAsAFreshPartUntilItIsEdited) {
  Car car;
  EXPECT_FALSE(car.trip.is_there());
  EXPECT_EQ(car.trip->to, "home");
  car.trip.edit().km = 7;
  EXPECT_TRUE(car.trip.is_there());
  EXPECT_EQ(car.trip->km, 7u);
  car.trip.drop();
  EXPECT_EQ(car.trip->km, 0u);
}

TEST(Apart, CopiesAreDeep) {
  Car car;
  car.trip.edit().km = 7;
  Car other = car;
  other.trip.edit().km = 8;
  EXPECT_EQ(car.trip->km, 7u);
  other = Car();
  EXPECT_FALSE(other.trip.is_there());
}

TEST(Apart, APartThatSaysNothingNewEqualsNone) {
  Car car, other;
  car.trip.edit();
  EXPECT_TRUE(car.trip == other.trip);
  car.trip.edit().km = 1;
  EXPECT_FALSE(car.trip == other.trip);
}

// A visitor that knows nothing of parts: it is given members.
struct Names {
  std::vector<std::string> seen;
  template <class M>
  void operator()(unsigned number, const char* name, const M&) {
    seen.push_back(std::to_string(number) + name);
  }
};

TEST(Apart, ItsFieldsStandAmongThoseOfItsOwner) {
  const Car car;
  Names names;
  Car::describe(car, names);
  EXPECT_EQ(names.seen, (std::vector<std::string>{"1id", "2to", "3km", "4owner"}));
  EXPECT_FALSE(car.trip.is_there());
}

TEST(EqualFields, LooksAtMembersPartsAndWhatPointersPointTo) {
  Car a, b;
  EXPECT_TRUE(equal_fields(a, b));
  a.trip.edit();
  EXPECT_TRUE(equal_fields(a, b));
  a.trip.edit().to = "work";
  EXPECT_FALSE(equal_fields(a, b));
  EXPECT_FALSE(equal_fields(b, a));
  b.trip.edit().to = "work";
  EXPECT_TRUE(equal_fields(a, b));
  a.owner = std::make_shared<const std::string>("ann");
  EXPECT_FALSE(equal_fields(a, b));
  b.owner = std::make_shared<const std::string>("ann");
  EXPECT_TRUE(equal_fields(a, b));
  b.id = 1;
  EXPECT_FALSE(equal_fields(a, b));
}

}  // namespace
}  // namespace muster
