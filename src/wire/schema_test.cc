// The schema is checked by the real Protocol Buffers library: it compiles, our bytes parse by it with nothing
// unknown left over, and what that library writes is read back here as the same value.
#include "wire/schema.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "wire/accounting_instances.h"
#include "wire/event_codec.h"
#include "wire/instances.h"
#include "wire/sample_test.h"

namespace muster {
namespace {
namespace pb = google::protobuf;

class Errors : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string&, const std::string& element, const pb::Message*, pb::DescriptorPool::ErrorCollector::ErrorLocation,
                const std::string& message) override {
    text += element + ": " + message + "\n";
  }
  std::string text;
};

class Schema : public testing::Test {
 protected:
  // The build had protoc compile muster.proto into a descriptor set.
  void SetUp() override {
    std::ifstream in(MUSTER_WIRE_DESCRIPTOR_SET, std::ios::binary);
    pb::FileDescriptorSet set;
    ASSERT_TRUE(set.ParseFromIstream(&in)) << MUSTER_WIRE_DESCRIPTOR_SET;
    ASSERT_EQ(set.file_size(), 1);
    Errors errors;
    file_ = pool_.BuildFileCollectingErrors(set.file(0), &errors);
    ASSERT_NE(file_, nullptr) << errors.text;
  }

  std::unique_ptr<pb::Message> message(const std::string& type) {
    const pb::Descriptor* d = file_->FindMessageTypeByName(type);
    EXPECT_NE(d, nullptr) << type;
    return std::unique_ptr<pb::Message>(factory_.GetPrototype(d)->New());
  }

  pb::DescriptorPool pool_;
  pb::DynamicMessageFactory factory_{&pool_};
  const pb::FileDescriptor* file_ = nullptr;
};

// The path of the first message that holds fields its schema does not have; "" if none does.
std::string unknown_in(const pb::Message& m) {
  const pb::Reflection* r = m.GetReflection();
  if (r->GetUnknownFields(m).field_count() > 0)
    return m.GetDescriptor()->name() + "." + std::to_string(r->GetUnknownFields(m).field(0).number());
  std::vector<const pb::FieldDescriptor*> fields;
  r->ListFields(m, &fields);
  for (const pb::FieldDescriptor* f : fields) {
    if (f->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    const int n = f->is_repeated() ? r->FieldSize(m, f) : 1;
    for (int i = 0; i < n; ++i)
      if (auto at = unknown_in(f->is_repeated() ? r->GetRepeatedMessage(m, f, i) : r->GetMessage(m, f)); !at.empty()) return at;
  }
  return "";
}

TEST_F(Schema, RealProtobufReadsAndWritesOurEvents) {
  wire::Random rng(11);
  wire::for_each_kind(std::type_identity<Event>{}, [&](auto kind) {
    for (int i = 0; i < 60; ++i) {
      auto e = kind;
      if (i) wire::fill(rng, e);
      const Event event = std::move(e);
      auto m = message("Event");
      ASSERT_TRUE(m->ParseFromString(encode_event(event))) << kind.kName;
      ASSERT_EQ(unknown_in(*m), "") << kind.kName;
      auto back = decode_event(m->SerializeAsString());
      ASSERT_TRUE(back) << back.error().message();
      ASSERT_TRUE(wire::equal(event, *back)) << kind.kName;
    }
  });
}

template <class T>
void through(std::unique_ptr<pb::Message> m, uint64_t seed) {
  wire::Random rng(seed);
  for (int i = 0; i < 100; ++i) {
    T value{}, back{};
    if (i) wire::fill(rng, value);
    std::string bytes;
    wire::encode(value, bytes);
    ASSERT_TRUE(m->ParseFromString(bytes));
    ASSERT_EQ(unknown_in(*m), "");
    auto ok = wire::decode(m->SerializeAsString(), back);
    ASSERT_TRUE(ok) << ok.error().message();
    ASSERT_TRUE(wire::equal(value, back));
  }
}

TEST_F(Schema, RealProtobufReadsAndWritesSnapshotRecords) {
  through<Job>(message("Job"), 12);
  through<Node>(message("Node"), 13);
  through<Partition>(message("Partition"), 14);
  through<JobRequest>(message("JobRequest"), 15);
}

TEST_F(Schema, RealProtobufSeesTheValues) {
  auto m = message("Event");
  event::JobStarted e;
  e.job = JobId(77);
  e.time = Time(Duration(-5));
  ASSERT_TRUE(m->ParseFromString(encode_event(e)));
  const auto* field = m->GetDescriptor()->FindFieldByName("job_started");
  ASSERT_NE(field, nullptr);
  EXPECT_EQ(field->number(), 13);
  const pb::Message& started = m->GetReflection()->GetMessage(*m, field);
  const auto* d = started.GetDescriptor();
  EXPECT_EQ(started.GetReflection()->GetUInt32(started, d->FindFieldByName("job")), 77u);
  EXPECT_EQ(started.GetReflection()->GetInt64(started, d->FindFieldByName("time")), -5);
}

// The committed text shows every change of a number in review. MUSTER_UPDATE=1 writes it anew.
TEST(SchemaFile, IsTheCommittedOne) {
  const char* path = "src/wire/muster.proto";
  if (getenv("MUSTER_UPDATE")) std::ofstream(path) << proto_schema();
  std::ifstream file(path);
  ASSERT_TRUE(file) << path << " (tests run in the repository's root)";
  std::stringstream now(proto_schema());
  std::string committed, ours;
  for (int line = 1;; ++line) {
    const bool more = static_cast<bool>(std::getline(file, committed));
    ASSERT_EQ(more, static_cast<bool>(std::getline(now, ours))) << "one is longer, at line " << line;
    if (!more) break;
    ASSERT_EQ(committed, ours) << path << ":" << line << ": a description changed; if that was meant:\n"
                               << "  MUSTER_UPDATE=1 wire_test --gtest_filter='SchemaFile*'";
  }
}

// The decoder walks a description once, so a field whose number is below the one before it would be passed over as unknown.
TEST_F(Schema, FieldsStandInTheOrderOfTheirNumbers) {
  ASSERT_GT(file_->message_type_count(), 50);
  for (int i = 0; i < file_->message_type_count(); ++i) {
    const pb::Descriptor* d = file_->message_type(i);
    for (int f = 1; f < d->field_count(); ++f) {
      if (d->field(f)->containing_oneof()) continue;
      EXPECT_LT(d->field(f - 1)->number(), d->field(f)->number()) << d->field(f)->full_name();
    }
  }
}

}  // namespace
}  // namespace muster
