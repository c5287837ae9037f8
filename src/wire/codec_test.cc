#include "wire/codec.h"

#include <gtest/gtest.h>

#include "wire/accounting_instances.h"

namespace muster::wire {
namespace {

enum class Colour : uint8_t { kRed, kGreen };

struct Inner {
  uint32_t a = 0;
  std::string s;
  bool operator==(const Inner&) const = default;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "a", self.a);
    field(2, "s", self.s);
  }
};

struct Outer {
  uint32_t n = 0;
  int32_t i = 0;
  bool b = false;
  Colour colour = Colour::kRed;
  double d = 0;
  std::string text;
  JobId job{};
  Time time{};
  Duration span{};
  Bitmap bits;
  Inner inner;
  std::optional<uint32_t> maybe;
  std::vector<uint32_t> numbers;
  std::vector<std::string> words;
  std::vector<Inner> inners;
  std::shared_ptr<const Inner> pointer;
  uint32_t mask = 022;  // a default that is not zero
  uint16_t small = 0;
  bool operator==(const Outer& o) const {
    return n == o.n && i == o.i && b == o.b && colour == o.colour && d == o.d && text == o.text && job == o.job && time == o.time &&
           span == o.span && bits == o.bits && inner == o.inner && maybe == o.maybe && numbers == o.numbers && words == o.words &&
           inners == o.inners && !pointer == !o.pointer && (!pointer || *pointer == *o.pointer) && mask == o.mask && small == o.small;
  }
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "n", self.n);
    field(2, "i", self.i);
    field(3, "b", self.b);
    field(4, "colour", self.colour);
    field(5, "d", self.d);
    field(6, "text", self.text);
    field(7, "job", self.job);
    field(8, "time", self.time);
    field(9, "span", self.span);
    field(10, "bits", self.bits);
    field(11, "inner", self.inner);
    field(12, "maybe", self.maybe);
    field(13, "numbers", self.numbers);
    field(14, "words", self.words);
    field(15, "inners", self.inners);
    field(16, "pointer", self.pointer);
    field(17, "mask", self.mask);
    field(18, "small", self.small);
  }
};

// The same fields as Parted, all in one piece.
struct Flat {
  uint32_t a = 0, b = 5, c = 0;
  std::string text;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "a", self.a);
    field(2, "b", self.b);
    field(3, "text", self.text);
    field(4, "c", self.c);
  }
};

struct Rest {
  uint32_t b = 5;
  std::string text;
  bool operator==(const Rest&) const = default;
};

struct Parted {
  uint32_t a = 0, c = 0;
  Apart<Rest> rest;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    auto rest = described_part(field, self.rest);
    field(1, "a", self.a);
    rest(2, "b", &Rest::b);
    rest(3, "text", &Rest::text);
    field(4, "c", self.c);
  }
};

struct Nest {
  std::vector<Nest> inside;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "inside", self.inside);
  }
};

std::string bytes(std::initializer_list<int> list) {
  std::string out;
  for (int b : list) out += static_cast<char>(b);
  return out;
}

Outer decoded(std::string_view in) {
  Outer out;
  auto ok = decode(in, out);
  EXPECT_TRUE(ok) << ok.error().message();
  return out;
}

std::string error_of(std::string_view in) {
  Outer out;
  auto ok = decode(in, out);
  if (ok) return "decoded";
  EXPECT_EQ(ok.error().code, Errc::kFrameMalformed);
  return std::string(ok.error().message());
}

TEST(Codec, APartIsWrittenAsIfItStoodWithTheRest) {
  const Flat flat{1, 5, 3, "text"};
  Parted parted;
  parted.a = 1;
  parted.c = 3;
  parted.rest.edit().text = "text";
  EXPECT_EQ(encoded(parted), encoded(flat));
  Parted back;
  ASSERT_TRUE(decode(encoded(flat), back));
  EXPECT_EQ(back.rest->text, "text");
  EXPECT_EQ(back.rest->b, 5u);
  EXPECT_EQ(back.c, 3u);
}

TEST(Codec, APartOfWhichNothingWasWrittenIsNotMade) {
  Parted back, parted;
  parted.a = 1;
  parted.c = 3;
  EXPECT_EQ(encoded(parted), encoded(Flat{1, 5, 3, {}}));
  ASSERT_TRUE(decode(encoded(parted), back));
  EXPECT_FALSE(back.rest.is_there());
  EXPECT_EQ(back.c, 3u);
}

TEST(Codec, WritesTheBytesOfProtocolBuffers) {
  EXPECT_EQ(encoded(Outer{}), "");
  EXPECT_EQ(encoded(Outer{.n = 150}), bytes({0x08, 0x96, 0x01}));
  EXPECT_EQ(encoded(Outer{.i = -1}), bytes({0x10, 0x01}));
  EXPECT_EQ(encoded(Outer{.b = true, .colour = Colour::kGreen}), bytes({0x18, 0x01, 0x20, 0x01}));
  EXPECT_EQ(encoded(Outer{.d = 1.0}), bytes({0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f}));
  EXPECT_EQ(encoded(Outer{.text = "hi"}), bytes({0x32, 2, 'h', 'i'}));
  EXPECT_EQ(encoded(Outer{.job = JobId(7), .time = Time(Duration(1)), .span = Duration(-2)}), bytes({0x38, 7, 0x40, 2, 0x48, 3}));
  Bitmap bits(9);
  bits.set(0);
  bits.set(8);
  EXPECT_EQ(encoded(Outer{.bits = bits}), bytes({0x52, 9, 9, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(encoded(Outer{.inner = {.a = 1}}), bytes({0x5a, 2, 0x08, 1}));
  EXPECT_EQ(encoded(Outer{.maybe = 0}), bytes({0x60, 0}));
  EXPECT_EQ(encoded(Outer{.numbers = {1, 300}}), bytes({0x6a, 3, 1, 0xac, 2}));
  EXPECT_EQ(encoded(Outer{.words = {"a", ""}}), bytes({0x72, 1, 'a', 0x72, 0}));
  EXPECT_EQ(encoded(Outer{.inners = {{}, {.a = 2}}}), bytes({0x7a, 0, 0x7a, 2, 0x08, 2}));
  EXPECT_EQ(encoded(Outer{.pointer = std::make_shared<Inner>()}), bytes({0x82, 1, 0}));
}

TEST(Codec, ZeroIsWrittenWhereItIsNotTheDefault) {
  EXPECT_EQ(encoded(Outer{.mask = 0}), bytes({0x88, 1, 0}));
  EXPECT_EQ(decoded(encoded(Outer{.mask = 0})).mask, 0u);
  EXPECT_EQ(decoded("").mask, 022u);
}

TEST(Codec, MovesALongNestedMessageForItsLength) {
  for (size_t size : {0, 100, 127, 128, 129, 16383, 16384, 3'000'000}) {
    Outer v{.inner = {.a = 3, .s = std::string(size, 'x')}, .maybe = 9, .inners = {{.s = std::string(size, 'y')}}};
    EXPECT_EQ(decoded(encoded(v)), v) << size;
  }
}

TEST(Codec, AppendsToWhatIsThere) {
  std::string out = "head";
  encode(Outer{.n = 1}, out);
  EXPECT_EQ(out, "head" + bytes({0x08, 1}));
}

TEST(Codec, DecodeForgetsWhatTheObjectHeld) {
  Outer out{.n = 5, .text = "old", .numbers = {1}, .pointer = std::make_shared<Inner>()};
  ASSERT_TRUE(decode(bytes({0x18, 1}), out));
  EXPECT_EQ(out, (Outer{.b = true}));
}

TEST(Codec, TakesExtremes) {
  Outer v{.n = 0xffffffffu, .i = INT32_MIN, .time = kTimeInfinite, .span = Duration(INT64_MIN), .small = 0xffff};
  EXPECT_EQ(decoded(encoded(v)), v);
}

TEST(Codec, SkipsUnknownFieldsOfEveryWireType) {
  std::string in = bytes({0x08, 1});
  in += bytes({0xa0, 0x06, 0x96, 0x01});              // 100: varint
  in += bytes({0xa9, 0x06, 1, 2, 3, 4, 5, 6, 7, 8});  // 101: fixed64
  in += bytes({0xb2, 0x06, 2, 'h', 'i'});             // 102: bytes
  in += bytes({0xbd, 0x06, 1, 2, 3, 4});              // 103: fixed32
  EXPECT_EQ(decoded(in), (Outer{.n = 1}));
  // Inner knows 1 and 2; a 3 between two fields of Outer.
  EXPECT_EQ(decoded(bytes({0x5a, 4, 0x08, 1, 0x18, 9, 0x60, 4})), (Outer{.inner = {.a = 1}, .maybe = 4}));
}

TEST(Codec, TakesFieldsInAnyOrderAndTheLastOfSeveral) {
  EXPECT_EQ(decoded(bytes({0x32, 1, 'x', 0x08, 1, 0xa0, 0x06, 1, 0x18, 1, 0x08, 2, 0x32, 1, 'y'})),
            (Outer{.n = 2, .b = true, .text = "y"}));
  EXPECT_EQ(decoded(bytes({0x6a, 1, 1, 0x68, 2, 0x08, 1, 0x6a, 2, 3, 4})), (Outer{.n = 1, .numbers = {1, 2, 3, 4}}));
}

TEST(Codec, RefusesMalformedInputAndNamesTheField) {
  EXPECT_EQ(error_of(bytes({0x08, 0x96})), "Message malformed: Outer, field n: ends within a number");
  EXPECT_EQ(error_of(bytes({0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02})),
            "Message malformed: Outer, field n: a number of more than 64 bits");
  EXPECT_EQ(error_of(bytes({0x08, 0x80, 0x80, 0x80, 0x80, 0x10})), "Message malformed: Outer, field n: a number out of the field's range");
  EXPECT_EQ(error_of(bytes({0x90, 1, 0x80, 0x80, 4})), "Message malformed: Outer, field small: a number out of the field's range");
  EXPECT_EQ(error_of(bytes({0x20, 0x80, 2})), "Message malformed: Outer, field colour: a number out of the field's range");
  EXPECT_EQ(error_of(bytes({0x32, 5, 'h', 'i'})), "Message malformed: Outer, field text: a length beyond the end");
  EXPECT_EQ(error_of(bytes({0x30, 5})), "Message malformed: Outer, field text: a length and bytes are expected");
  EXPECT_EQ(error_of(bytes({0x29, 1, 2})), "Message malformed: Outer, field d: ends within a fixed number");
  EXPECT_EQ(error_of(bytes({0x5a, 3, 0x12, 2, 'a'})), "Message malformed: Outer, field s: a length beyond the end");
  EXPECT_EQ(error_of(bytes({0x00, 1})), "Message malformed: Outer: an impossible field number");
  EXPECT_EQ(error_of(bytes({0x0b})), "Message malformed: Outer, field n: a number is expected");
  EXPECT_EQ(error_of(bytes({0xa3, 0x06})), "Message malformed: Outer: an unknown wire type");
  EXPECT_EQ(error_of(bytes({0x52, 9, 65, 1, 0, 0, 0, 0, 0, 0, 0})),
            "Message malformed: Outer, field bits: a bitmap whose words do not match its size");
  EXPECT_EQ(error_of(bytes({0x52, 10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})),
            "Message malformed: Outer, field bits: a bitmap whose words do not match its size");
}

std::string nested(int levels) {
  std::string out;
  for (int i = 0; i < levels; ++i) {
    std::string in;
    Writer(in).bytes(1, out);
    out = in;
  }
  return out;
}

TEST(Codec, BoundsNesting) {
  Nest out;
  EXPECT_TRUE(decode(nested(Reader::kMaxDepth), out));
  auto deeper = decode(nested(Reader::kMaxDepth + 1), out);
  ASSERT_FALSE(deeper);
  EXPECT_EQ(deeper.error().message(), "Message malformed: Nest, field inside: nested too deeply");
  EXPECT_FALSE(decode(nested(5000), out));
}

struct Fat {
  std::vector<Outer> list;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "list", self.list);
  }
};

TEST(Codec, BoundsMemoryByTheInputsSize) {
  std::string in;
  for (int i = 0; i < 100'000; ++i) in += bytes({0x0a, 0});
  Fat out;
  auto result = decode(in, out);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "Message malformed: Fat, field list: too many elements for the message's size");
  EXPECT_LE(out.list.capacity() * sizeof(Outer), kOfAnyone.of(in.size()));
  EXPECT_TRUE(decode(in, out, {0, sizeof(Outer) / 2 + 1})) << "a list takes what its elements need, and no more";
}

// What makes a request large is its texts; many short elements are no reason to take 24 times a large frame.
TEST(Codec, ALargeRequestTakesLessForEachByte) {
  EXPECT_EQ(kOfAnyone.of(1u << 20), kOfAnyone.base + (24u << 20));
  EXPECT_EQ(kOfAnyone.of(9u << 20), kOfAnyone.base + (24u << 20) + (32u << 20));
  EXPECT_EQ(kOfOurOwn.of(9u << 20), kOfOurOwn.base + 64u * (9u << 20));
}

// Room is made for what really follows: neither doubling nor numbers that are not there count.
TEST(Codec, RoomForAListIsMadeOnce) {
  Fat out;
  std::string in;
  for (int i = 0; i < 1000; ++i) in += bytes({0x0a, 0});
  ASSERT_TRUE(decode(in, out));
  EXPECT_EQ(out.list.size(), 1000u);
  EXPECT_EQ(out.list.capacity(), 1000u);
}

struct Numbers {
  std::vector<uint64_t> list;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(1, "list", self.list);
  }
};

TEST(Codec, BoundsMemoryOfPackedNumbers) {
  std::string in, body(1'000'000, '\x01');
  Writer(in).bytes(1, body);
  Numbers out;
  EXPECT_TRUE(decode(in, out));
  EXPECT_EQ(out.list.capacity(), body.size());
  EXPECT_FALSE(decode(in, out, {0, 4}));
  EXPECT_TRUE(out.list.empty());
}

// A list between the parts of which another field comes again and again is not moved for each.
TEST(Codec, AListInPiecesGrowsByDoubling) {
  std::string in;
  for (int i = 0; i < 2'000; ++i) in += bytes({0x0a, 0, 0x10, 0});
  Fat out;
  ASSERT_TRUE(decode(in, out, kOfOurOwn));
  EXPECT_EQ(out.list.size(), 2'000u);
  EXPECT_GE(out.list.capacity(), 2'000u);
  EXPECT_LE(out.list.capacity(), 4'000u);
}

TEST(Codec, BoundsFieldsOutOfOrder) {
  std::string in;
  for (int i = 0; i < 100'000; ++i) in += bytes({0x18, 1, 0x08, 1});
  EXPECT_EQ(error_of(in), "Message malformed: Outer, field b: too many fields out of order");
}

TEST(Codec, NamesTypes) {
  EXPECT_EQ(type_name<Outer>(), "Outer");
  EXPECT_EQ(type_name<Bitmap>(), "Bitmap");
}

// A record as it was when amounts of TRES were texts.
struct OldRecord {
  std::string requested, allocated;
  uint32_t nodes = 0;
  template <class S, class V>
  static void describe(S& self, V&& field) {
    field(45, "nodes", self.nodes);
    field(49, "tres_requested", self.requested);
    field(50, "tres_allocated", self.allocated);
  }
};

TEST(Codec, AFieldThatWasATextIsReadAsItsValue) {
  const OldRecord old{"cpu=2,mem=4G", "cpu=4,gres/gpu:h100=2", 7};
  JobRecord now;
  ASSERT_TRUE(wire::decode(wire::encoded(old), now));
  EXPECT_EQ(tres_text(now.tres_requested), old.requested);
  EXPECT_EQ(tres_text(now.tres_allocated), old.allocated);
  EXPECT_EQ(now.nodes, 7u);
  OldRecord back;  // nothing writes the text again
  ASSERT_TRUE(wire::decode(wire::encoded(now), back));
  EXPECT_EQ(back.allocated, "");
  EXPECT_FALSE(wire::decode(std::string("\x92\x03\x7f", 3), now)) << "a text that is cut off";
}

}  // namespace
}  // namespace muster::wire
