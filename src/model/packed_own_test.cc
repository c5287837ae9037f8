#include "model/packed_own.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

RequestOwn sample() {
  RequestOwn own;
  own.name = "train";
  own.admin_comment = std::string(200, 'a');   // longer than one byte of length says
  own.argv = {"/home/ann/train.sh", "", "--seed=3"};
  own.work_dir = "/home/ann";
  own.std_out = std::string("a\0b", 3);
  own.submit_line = std::string(70000, 'l');
  own.alloc_sid = 4'000'000'000;
  return own;
}

TEST(PackedOwn, ComesBackAsItWas) {
  EXPECT_EQ(PackedOwn(sample()).unpack(), sample());
  EXPECT_EQ(PackedOwn(RequestOwn{}).unpack(), RequestOwn{});
}

TEST(PackedOwn, EachTextIsFoundAlone) {
  const RequestOwn own = sample();
  const PackedOwn packed(own);
  for (auto text : {&RequestOwn::name, &RequestOwn::comment, &RequestOwn::extra, &RequestOwn::admin_comment, &RequestOwn::dependency,
                    &RequestOwn::script_hash, &RequestOwn::environment_hash, &RequestOwn::work_dir, &RequestOwn::std_in,
                    &RequestOwn::std_out, &RequestOwn::std_err, &RequestOwn::submit_line})
    EXPECT_EQ(packed.get(text), own.*text);
  EXPECT_EQ(PackedOwn().get(&RequestOwn::name), "");
}

TEST(PackedOwn, IsEqualAsItsContentsAre) {
  RequestOwn other = sample();
  EXPECT_EQ(PackedOwn(sample()), PackedOwn(other));
  EXPECT_EQ(PackedOwn(sample()).hash(), PackedOwn(other).hash());
  other.std_err = "e";
  EXPECT_FALSE(PackedOwn(sample()) == PackedOwn(other));
  EXPECT_FALSE(PackedOwn(sample()) == PackedOwn());
  EXPECT_EQ(PackedOwn(RequestOwn{}), PackedOwn());
}

TEST(PackedOwn, WholeRequestHasBothParts) {
  JobRequest r;
  r.min_nodes = 3;
  r.name = "both";
  EXPECT_EQ(whole_request(r, PackedOwn(r)), r);
}

}  // namespace
}  // namespace muster
