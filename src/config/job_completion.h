// JobCompletion: where records of ended jobs go besides the accounting database. slurm.conf(5) JobCompType, JobCompLoc, JobCompParams.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::config {

struct Config;
struct Findings;

enum class CompletionKind : uint8_t { kNone, kFile, kScript, kElasticsearch, kKafka };

struct JobCompletion {
  CompletionKind kind = CompletionKind::kNone;
  std::string place;  // a file, a program, a URL, or the file with the properties of librdkafka
  bool send_comment = false, send_script = false;
  std::string topic, start_topic;              // of Kafka; start_topic "": starts of jobs are not told
  Duration flush_timeout = milliseconds(500);  // how long a controller that ends waits for brokers
  bool operator==(const JobCompletion&) const = default;
};

// As the keys say it; kNone also where they ask for what is not there, which the notices of the configuration say.
JobCompletion job_completion(const Config& config);
// The same of the texts of the three keys. An unknown or absent type is kNone. Kafka's topics are named after the cluster if they have no name.
JobCompletion job_completion(std::string_view type, std::string_view place, std::string_view params, std::string_view cluster = {});

// Tells of kinds that are not there, and of a JobCompLoc that is missing or is no path, which is an error.
void check_job_completion(const Config& config, Findings& findings);

}  // namespace muster::config
