// Records at a Kafka cluster: librdkafka's own stand-in for one, which speaks the protocol over the loopback network.
#include "slurmctld/daemon/kafka_producer.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <fstream>
#include <thread>

#include "net/test_support.h"
#include "slurmctld/daemon/completion_senders.h"

namespace muster::slurmctld {
namespace {

template <class F>
F* function(const char* name) {
  static void* const file = dlopen("librdkafka.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F*>(file ? dlsym(file, name) : nullptr);
}
#define KAFKA(name) function<decltype(::name)>(#name)

TEST(KafkaProperties, Lines) {
  const auto read = read_kafka_properties("# ours\n\nbootstrap.servers = a:9092,b:9092\nlinger.ms=400\nsasl.password=a=b\n");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, (KafkaProperties{{"bootstrap.servers", "a:9092,b:9092"}, {"linger.ms", "400"}, {"sasl.password", "a=b"}}));
  EXPECT_NE(read_kafka_properties("a=b\nlinger\n").error().message().find("line 2: 'linger'"), std::string_view::npos);
  EXPECT_NE(read_kafka_properties("linger.ms=1\n").error().message().find("bootstrap.servers is missing"), std::string_view::npos);
}

struct Kafka : testing::Test {
  void SetUp() override {
    if (!KAFKA(rd_kafka_new)) GTEST_SKIP() << "librdkafka1 is not installed (tools/install-packages)";
    os::LogOptions options;
    options.program = "slurmctld";
    options.file = dir.path() + "/log";
    log = std::move(*os::Log::open(options));
    client = KAFKA(rd_kafka_new)(RD_KAFKA_PRODUCER, KAFKA(rd_kafka_conf_new)(), nullptr, 0);
    cluster = KAFKA(rd_kafka_mock_cluster_new)(client, 1);
    for (const char* topic : {"ends", "starts"}) KAFKA(rd_kafka_mock_topic_create)(cluster, topic, 1, 1);
    place = {dir.path() + "/kafka.conf", "ends", "starts", milliseconds(500)};
    configure("");
  }
  void TearDown() override {
    if (cluster) KAFKA(rd_kafka_mock_cluster_destroy)(cluster);
    if (client) KAFKA(rd_kafka_destroy)(client);
  }
  void configure(const std::string& more) {
    std::ofstream(place.properties) << "bootstrap.servers=" << KAFKA(rd_kafka_mock_cluster_bootstraps)(cluster) << "\nlinger.ms=5\n"
                                    << more;
  }
  // What a topic has, once it has so much.
  std::vector<std::string> read(const char* topic, size_t count) {
    rd_kafka_conf_t* conf = KAFKA(rd_kafka_conf_new)();
    KAFKA(rd_kafka_conf_set)(conf, "bootstrap.servers", KAFKA(rd_kafka_mock_cluster_bootstraps)(cluster), nullptr, 0);
    KAFKA(rd_kafka_conf_set)(conf, "group.id", "test", nullptr, 0);
    rd_kafka_t* consumer = KAFKA(rd_kafka_new)(RD_KAFKA_CONSUMER, conf, nullptr, 0);
    rd_kafka_topic_partition_list_t* all = KAFKA(rd_kafka_topic_partition_list_new)(1);
    KAFKA(rd_kafka_topic_partition_list_add)(all, topic, 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    KAFKA(rd_kafka_assign)(consumer, all);
    KAFKA(rd_kafka_topic_partition_list_destroy)(all);
    std::vector<std::string> out;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (out.size() < count && std::chrono::steady_clock::now() < until) {
      rd_kafka_message_t* message = KAFKA(rd_kafka_consumer_poll)(consumer, 100);
      if (!message) continue;
      if (!message->err) out.emplace_back(static_cast<const char*>(message->payload), message->len);
      KAFKA(rd_kafka_message_destroy)(message);
    }
    KAFKA(rd_kafka_consumer_close)(consumer);
    KAFKA(rd_kafka_destroy)(consumer);
    return out;
  }

  net::test::TempDir dir;
  std::unique_ptr<os::Log> log;
  std::atomic<bool> stopping{false};
  KafkaPlace place;
  rd_kafka_t* client = nullptr;
  rd_kafka_mock_cluster_t* cluster = nullptr;
};

TEST_F(Kafka, EachDocumentIsTakenByItsTopicOnce) {
  auto sender = kafka_sender(place, *log, stopping);
  const Waiting documents{{7, for_kafka(true, "{\"a\":1}")}, {8, for_kafka(false, "{\"a\":2}")}, {9, for_kafka(false, "{}")}};
  const auto taken = sender->send(documents);
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_EQ(*taken, 3u);
  const auto again = sender->send({documents[1], documents[2]});  // the outbox could not note that they were
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, 2u);
  EXPECT_EQ(read("starts", 1), std::vector<std::string>{"{\"a\":1}"});
  EXPECT_EQ(read("ends", 2), (std::vector<std::string>{"{\"a\":2}", "{}"}));
}

TEST_F(Kafka, ABrokerThatIsAwayGetsThemLater) {
  KAFKA(rd_kafka_mock_broker_set_down)(cluster, 1);
  configure("message.timeout.ms=300\nreconnect.backoff.max.ms=200\n");
  auto sender = kafka_sender(place, *log, stopping);
  const Waiting documents{{1, for_kafka(false, "{}")}};
  const auto none = sender->send(documents);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("timed out"), std::string_view::npos) << none.error().message();
  KAFKA(rd_kafka_mock_broker_set_up)(cluster, 1);
  Result<size_t> taken = size_t{0};
  for (int i = 0; i < 60 && !(taken = sender->send(documents)); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_EQ(*taken, 1u);
  EXPECT_EQ(read("ends", 1), std::vector<std::string>{"{}"});
}

TEST_F(Kafka, WhatIsTooLargeIsLeft) {
  configure("message.max.bytes=1000\n");
  auto sender = kafka_sender(place, *log, stopping);
  const auto taken = sender->send({{1, for_kafka(false, std::string(2000, 'x'))}, {2, for_kafka(false, "{}")}});
  ASSERT_TRUE(taken) << taken.error().message();
  EXPECT_EQ(*taken, 2u);
  EXPECT_EQ(read("ends", 1), std::vector<std::string>{"{}"});
}

TEST_F(Kafka, AQueueThatIsTooShortForAllEmptiesAllTheSame) {
  configure("queue.buffering.max.messages=2\n");
  auto sender = kafka_sender(place, *log, stopping);
  Waiting documents;
  for (int64_t n = 1; n <= 5; ++n) documents.push_back({n, for_kafka(false, std::to_string(n))});
  while (!documents.empty()) {
    const auto taken = sender->send(documents);
    ASSERT_TRUE(taken) << taken.error().message();
    documents.erase(documents.begin(), documents.begin() + static_cast<ptrdiff_t>(*taken));
  }
  EXPECT_EQ(read("ends", 5), (std::vector<std::string>{"1", "2", "3", "4", "5"}));
}

TEST_F(Kafka, StartsThatAreNotToldAnyMoreAreLeft) {
  place.start_topic.clear();
  auto sender = kafka_sender(place, *log, stopping);
  EXPECT_EQ(sender->send({{1, for_kafka(true, "{}")}}).value_or(0), 1u);
}

TEST_F(Kafka, AControllerThatEndsDoesNotWaitForLong) {
  KAFKA(rd_kafka_mock_broker_set_down)(cluster, 1);
  auto sender = kafka_sender(place, *log, stopping);
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stopping = true;
  });
  EXPECT_FALSE(sender->send({{1, for_kafka(false, "{}")}}));
  sender.reset();
  ends.join();
}

TEST_F(Kafka, WrongPropertiesAreNamed) {
  configure("lingerms=3\n");
  EXPECT_NE(kafka_sender(place, *log, stopping)->send({{1, for_kafka(false, "{}")}}).error().message().find("lingerms"),
            std::string_view::npos);
  place.properties += ".not";
  EXPECT_NE(kafka_sender(place, *log, stopping)->send({{1, for_kafka(false, "{}")}}).error().message().find("cannot be read"),
            std::string_view::npos);
}

}  // namespace
}  // namespace muster::slurmctld
