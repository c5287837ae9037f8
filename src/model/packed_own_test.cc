#include "model/packed_own.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

RequestOwn sample() {
  RequestOwn own;
  own.name = "train";
  own.admin_comment = std::string(200, 'a');  // longer than one byte of length says
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
  using Text = std::string RequestOwn::*;
  for (Text text : {Text(&RequestOwn::name), Text(&RequestOwn::comment), Text(&RequestOwn::extra), Text(&RequestOwn::admin_comment),
                    Text(&RequestOwn::dependency), Text(&RequestOwn::work_dir), Text(&RequestOwn::std_in), Text(&RequestOwn::std_out),
                    Text(&RequestOwn::std_err), Text(&RequestOwn::submit_line)})
    EXPECT_EQ(packed.get(text), own.*text);
  EXPECT_EQ(PackedOwn().get(&RequestOwn::name), "");
}

TEST(PackedOwn, HashesTakeHalfAndComeBackAsTheyWere) {
  const std::string hash = "00ff" + std::string(59, 'a') + "9";
  ASSERT_EQ(hash.size(), 64u);
  for (const std::string& script : {hash, std::string(), std::string("short"), std::string(64, 'g'), std::string(64, 'A')}) {
    RequestOwn own = sample();
    own.script_hash = script;
    own.environment_hash = hash;
    const PackedOwn packed(own);
    EXPECT_EQ(packed.unpack(), own);
    EXPECT_EQ(packed.content_hashes().script_hash, script);
    EXPECT_EQ(packed.content_hashes().environment_hash, hash);
    EXPECT_EQ(packed.get(&RequestOwn::work_dir), own.work_dir);
    EXPECT_EQ(packed.get(&RequestOwn::submit_line), own.submit_line);
  }
  EXPECT_EQ(PackedOwn().content_hashes(), ContentHashes());
}

TEST(PackedOwn, TheKeyIsOfTheName) {
  RequestOwn one = sample(), other = sample();
  one.name = "train-resnet-00001";
  other.name = "train-resnet-00002";
  EXPECT_EQ(PackedOwn(one).name_key(), key_of_name("train-resnet-00001"));
  EXPECT_NE(PackedOwn(one).name_key(), PackedOwn(other).name_key());
  EXPECT_NE(key_of_name("a"), key_of_name("aa"));
  EXPECT_EQ(PackedOwn().name_key(), key_of_name(""));
  EXPECT_NE(key_of_name(""), 0);
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
