#include "cli/common/request_table.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

rpc::JobRows part_with(uint32_t number, const char* name) {
  ShownRequest request;
  request.name = name;
  rpc::JobRows part;
  part.requests.push_back({RequestId(number), std::make_shared<const ShownRequest>(request)});
  return part;
}
JobRow row_of(uint32_t number) {
  JobRow row;
  row.request = RequestId(number);
  return row;
}

TEST(RequestTable, KeepsWhatEarlierPartsBroughtUntilToldToForget) {
  RequestTable table;
  rpc::JobRows first = part_with(1, "one"), second = part_with(2, "two"), third = part_with(3, "three");
  table.add(first);
  std::shared_ptr<const ShownRequest> kept = table.share(row_of(1));
  table.add(second);
  EXPECT_EQ(table.of(row_of(1)).name, "one");
  EXPECT_EQ(table.of(row_of(2)).name, "two");
  third.afresh = true;
  table.add(third);
  EXPECT_EQ(table.of(row_of(3)).name, "three");
  EXPECT_EQ(table.of(row_of(1)).name, "");
  EXPECT_EQ(kept->name, "one");
}

TEST(RequestTable, WhatWasNotSentIsEmpty) {
  RequestTable table;
  rpc::JobRows part;
  part.requests.push_back({RequestId(7), {}});  // as a peer may send it
  table.add(part);
  EXPECT_EQ(table.of(row_of(7)).name, "");
  EXPECT_EQ(table.of(row_of(8)).name, "");
}

}  // namespace
}  // namespace muster::cli
