#include "base/same_fields.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

struct Word {
  static Result<Word> parse(std::string_view) { return Word{}; }
};

struct Record {
  uint32_t id = 0;
  std::string name = "none";
  Parsed<Word> list;
  uint64_t count = 0;
  bool only_here = true;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "id", self.id);
    field(2, "name", self.name);
    field(3, "list", self.list);
    field(4, "count", self.count);
    field(5, "only_here", self.only_here);
  }
};

struct Row {
  std::string list, name, text;
  uint32_t count = 7;  // of another type there
  uint32_t id = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "list", self.list);
    field(2, "name", self.name);
    field(3, "count", self.count);
    field(4, "id", self.id);
    field(9, "text", self.text);
  }
};

TEST(SameFields, WhatIsCalledAlikeAndIsAlikeIsCopied) {
  EXPECT_EQ((same_field_names<Record, Row>()), "list name id");
  Row row;
  row.text = "as it was";
  copy_same_fields(Record{3, "a", "x,y", 5, false}, row);
  EXPECT_EQ(row.id, 3u);
  EXPECT_EQ(row.name, "a");
  EXPECT_EQ(row.list, "x,y");
  EXPECT_EQ(row.count, 7u);
  EXPECT_EQ(row.text, "as it was");
}

struct Rest {
  std::string text;
  bool operator==(const Rest&) const = default;
};

struct Parted {
  uint32_t id = 0;
  Apart<Rest> rest;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    auto rest = described_part(field, self.rest);
    field(1, "id", self.id);
    rest(2, "text", &Rest::text);
  }
};

TEST(SameFields, AFieldOfAPartIsCopiedFromItsPlace) {
  EXPECT_EQ((same_field_names<Parted, Row>()), "id text");
  Parted from;
  from.id = 4;
  Row row;
  row.text = "old";
  copy_same_fields(from, row);
  EXPECT_EQ(row.id, 4u);
  EXPECT_EQ(row.text, "");
  from.rest.edit().text = "new";
  copy_same_fields(from, row);
  EXPECT_EQ(row.text, "new");
}

TEST(SameFields, NothingIsCopiedIntoAPart) {
  EXPECT_EQ((same_field_names<Row, Parted>()), "id");
  Row row;
  row.id = 4;
  row.text = "stays there";
  Parted to;
  copy_same_fields(row, to);
  EXPECT_EQ(to.id, 4u);
  EXPECT_FALSE(to.rest.is_there());
}

}  // namespace
}  // namespace muster
