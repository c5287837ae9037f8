// KafkaProducer: hands messages to the brokers of a Kafka cluster by librdkafka, which is loaded when it is first needed, so a controller that
// tells Kafka nothing runs without it (ADR 24). One thread at a time; the library has threads of its own.
//
// What it is told about the cluster is a file with a line name=value for each property of librdkafka (slurm.conf(5) JobCompLoc, guide jobcomp_kafka);
// bootstrap.servers has to be among them. What the library logs goes to our log, errors at most once a minute.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/log.h"

namespace muster::slurmctld {

using KafkaProperties = std::vector<std::pair<std::string, std::string>>;
// Of the text of such a file. Lines that are empty or begin with # are none. kConfig: with the number of the line.
Result<KafkaProperties> read_kafka_properties(std::string_view text);

class KafkaProducer {
 public:
  // kUnsupported: there is no librdkafka. kConfig: it refuses a property, which is named.
  static Result<std::unique_ptr<KafkaProducer>> load(const KafkaProperties& properties, os::Log& log);
  ~KafkaProducer();  // forgets what is under way
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  // What became of a message, by the number that it was given. The library sends again by itself what it may (message.timeout.ms, retries).
  struct Told {
    int64_t number = 0;
    std::string error;     // "": a broker has taken it
    bool refused = false;  // for its own sake: it would be refused again
  };
  // An error: it is not on its way, and nothing is told about it.
  Result<> send(const std::string& topic, std::string_view message, int64_t number);
  // What was told meanwhile; waits so long for the first of it.
  std::vector<Told> told(Duration most);

 private:
  struct Library;
  explicit KafkaProducer(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace muster::slurmctld
