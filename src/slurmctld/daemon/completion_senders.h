// Where records of ended jobs go: each kind of JobCompType is a sender. It gets the oldest documents of the outbox (store/outbox.h) and says how
// many of them are taken, in order; the others are sent again. Senders block, on a thread that has nothing else to do (completions.h), and give up
// soon once `stopping` is true.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/job_completion.h"
#include "os/log.h"
#include "store/outbox.h"

namespace muster::slurmctld {

using Waiting = std::vector<store::Outbox::Waiting>;

// What a sender keeps for the time after a crash: store::Outbox::note.
struct SenderNotes {
  std::function<Result<std::string>()> read;
  std::function<Result<>(const std::string&)> write;  // durable when it returns
};

class CompletionSender {
 public:
  virtual ~CompletionSender() = default;
  // How many it takes at a time. Where a crash makes it send again what was not said to be taken, that is one.
  virtual size_t at_once() const { return 1; }
  // How many are taken before the first that is not; an error says why none was.
  virtual Result<size_t> send(const Waiting& documents) = 0;
};

// Appends lines to a file, each once also over a crash: before it writes, it notes where in which file; after a crash what stands there is
// compared with what it was to write, and the rest is written. The file may be moved away meanwhile (logrotate). `shared`: others may read it.
std::unique_ptr<CompletionSender> file_sender(std::string path, bool shared, SenderNotes notes);

// Runs a program once for each document, whose parts between bytes 0 are its environment. `run` starts it and calls back once it is over; a
// program that fails is logged and not started again. After a crash of the controller the one that ran is started again, for nobody knows how it
// ended; one that runs as the controller ends is left to itself.
using RunProgram =
    std::function<void(const std::string& path, std::vector<std::string> environment, std::function<void(std::string error)> over)>;
std::unique_ptr<CompletionSender> script_sender(std::string path, RunProgram run, os::Log& log, const std::atomic<bool>& stopping);

// Posts each document to a URL, until the server answers with 2xx. What it refuses for the document's sake (400, 413, 422) is logged and left.
std::unique_ptr<CompletionSender> http_sender(std::string url, os::Log& log, const std::atomic<bool>& stopping);

// Hands each document to a Kafka cluster (kafka_producer.h), to one topic or to that for starts, and waits until brokers have taken it. What they refuse for the document's
// sake is logged and left. A document of which it is not known at the end of the controller, after flush_timeout, whether it was taken is sent again.
struct KafkaPlace {
  std::string properties;  // the file with librdkafka's
  std::string topic, start_topic;
  Duration flush_timeout{};
};
std::unique_ptr<CompletionSender> kafka_sender(KafkaPlace place, os::Log& log, const std::atomic<bool>& stopping);
// As it waits in the outbox.
std::string for_kafka(bool is_start, std::string document);

// The texts between bytes 0, and back.
std::string packed_variables(const std::vector<std::string>& variables);
std::vector<std::string> unpacked_variables(std::string_view packed);

}  // namespace muster::slurmctld
