// Everything that is stored or sent, with random contents: back as it was, and no input of any shape does
// harm.
#include <gtest/gtest.h>

#include "wire/accounting_instances.h"
#include "wire/event_codec.h"
#include "wire/instances.h"
#include "wire/sample_test.h"

namespace muster::wire {
namespace {

std::vector<Event> random_events(uint64_t seed, int of_each) {
  Random rng(seed);
  std::vector<Event> out;
  for_each_kind(std::type_identity<Event>{}, [&](auto kind) {
    for (int i = 0; i < of_each; ++i) {
      auto e = kind;
      if (i) fill(rng, e);  // the first of each kind stays as constructed
      out.emplace_back(std::move(e));
    }
  });
  return out;
}

TEST(Property, EveryEventComesBackAsItWas) {
  for (const Event& e : random_events(1, 200)) {
    const std::string bytes = encode_event(e);
    auto back = decode_event(bytes);
    ASSERT_TRUE(back) << back.error().message();
    ASSERT_TRUE(equal(e, *back)) << "kind " << e.index();
    ASSERT_EQ(encode_event(*back), bytes);
  }
}

template <class T>
void round_trip(uint64_t seed) {
  Random rng(seed);
  for (int i = 0; i < 300; ++i) {
    T value{};
    fill(rng, value);
    std::string bytes;
    encode(value, bytes);
    T back{};
    auto ok = decode(bytes, back);
    ASSERT_TRUE(ok) << ok.error().message();
    ASSERT_TRUE(equal(value, back));
    ASSERT_TRUE(back == value);  // the type's own equality agrees
    std::string again;
    encode(back, again);
    ASSERT_EQ(again, bytes);
  }
}

TEST(Property, JobRequest) { round_trip<JobRequest>(2); }
TEST(Property, StepRequest) { round_trip<StepRequest>(3); }
TEST(Property, Job) { round_trip<Job>(4); }
TEST(Property, Node) { round_trip<Node>(5); }
TEST(Property, Partition) { round_trip<Partition>(6); }

TEST(Property, OneChangedMemberIsSeenByEqual) {
  JobRequest a, b;
  b.spank_env = {"X=1"};
  EXPECT_FALSE(equal(a, b));
  EXPECT_TRUE(equal(a, a));
}

TEST(Property, EveryTruncationIsAnErrorOrAWholeMessage) {
  for (const Event& e : random_events(7, 6)) {
    const std::string bytes = encode_event(e);
    // An event is one field: cut anywhere, its length or its tag is not what it says.
    for (size_t n = 0; n < bytes.size(); ++n) {
      auto back = decode_event(std::string_view(bytes).substr(0, n));
      ASSERT_FALSE(back) << "kind " << e.index() << " cut to " << n << " of " << bytes.size();
      ASSERT_EQ(back.error().code, Errc::kFrameMalformed);
    }
  }
}

TEST(Property, CorruptionNeverDoesHarm) {
  Random rng(8);
  auto events = random_events(9, 4);
  std::vector<std::string> encoded;
  for (const Event& e : events) encoded.push_back(encode_event(e));
  int refused = 0, taken = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = encoded[rng.next() % encoded.size()];
    for (uint64_t n = 1 + rng.next() % 4; n > 0 && !bytes.empty(); --n) {
      const size_t at = rng.next() % bytes.size();
      switch (rng.next() % 4) {
        case 0: bytes[at] = static_cast<char>(rng.next()); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ 1 << rng.next() % 8); break;
        case 2: bytes.insert(at, 1, static_cast<char>(rng.next())); break;
        default: bytes.erase(at, 1 + rng.next() % 3);
      }
    }
    auto back = decode_event(bytes);
    if (!back) {
      ++refused;
      ASSERT_EQ(back.error().code, Errc::kFrameMalformed);
      continue;
    }
    ++taken;  // still well formed: then it must survive another turn
    auto again = decode_event(encode_event(*back));
    ASSERT_TRUE(again) << again.error().message();
    ASSERT_TRUE(equal(*back, *again));
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 100);
}

TEST(EventCodec, RefusesAKindItDoesNotKnow) {
  std::string bytes;
  Writer(bytes).bytes(4711, "");
  auto back = decode_event(bytes);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().message(), "Message malformed: Event: of a kind that is not known");
  EXPECT_FALSE(decode_event(""));
}

TEST(EventCodec, NamesEventAndField) {
  std::string bytes;
  Writer(bytes).bytes(event::JobSubmitted::kNumber, "\x08");
  auto back = decode_event(bytes);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().message(), "Message malformed: JobSubmitted, field job: ends within a number");
}

TEST(EventCodec, SkipsFieldsOfALaterVersion) {
  std::string body, bytes;
  {
    Writer w(body);
    w.varint(1, 12);
    w.varint(900, 5);
    w.bytes(901, "later");
  }
  Writer(bytes).bytes(event::JobWarned::kNumber, body);
  auto back = decode_event(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<event::JobWarned>(*back).job, JobId(12));
}

}  // namespace
}  // namespace muster::wire
