#include <algorithm>
#include <set>

#include "base/plain_text.h"
#include "net/loop.h"
#include "os/files.h"
#include "slurmctld/daemon/completion_senders.h"
#include "slurmctld/daemon/kafka_producer.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kAtOnce = 256;
constexpr Duration kLook = milliseconds(100), kMostWait = seconds(30);
constexpr size_t kMostProperties = size_t{64} << 10;
constexpr char kStart = 's', kEnd = 'e';  // before the document

class KafkaSender final : public CompletionSender {
 public:
  KafkaSender(KafkaPlace place, os::Log& log, const std::atomic<bool>& stopping)
      : place_(std::move(place)), log_(log), stopping_(stopping) {}

  size_t at_once() const override { return kAtOnce; }

  Result<size_t> send(const Waiting& documents) override {
    if (documents.empty()) return size_t{0};
    MUSTER_TRY_VOID(load());
    std::erase_if(taken_, [&](int64_t number) { return number < documents.front().number; });
    error_.clear();
    for (const auto& d : documents) {
      if (stopping_ || taken_.contains(d.number) || under_way_.contains(d.number)) continue;
      if (const auto ok = begin(d); ok) continue;
      else error_ = ok.error().message();
      break;  // what is under way is waited for: it may be what takes the room
    }
    await();
    size_t taken = 0;
    while (taken < documents.size() && taken_.contains(documents[taken].number)) ++taken;
    if (taken > 0) return taken;
    return fail(Errc::kError, error_.empty() ? "no broker has answered yet" : error_);
  }

 private:
  Result<> load() {
    if (producer_) return {};
    const auto text = os::read_file(place_.properties, kMostProperties);
    if (!text) return fail(Errc::kConfig, place_.properties + " cannot be read: " + std::string(text.error().message()));
    auto properties = read_kafka_properties(*text);
    if (!properties) return fail(properties.error().code, place_.properties + ": " + std::string(properties.error().message()));
    MUSTER_TRY(loaded, KafkaProducer::load(*properties, log_));
    producer_ = std::move(loaded);
    return {};
  }

  Result<> begin(const store::Outbox::Waiting& document) {
    const std::string_view body = document.body;
    const bool start = !body.empty() && body[0] == kStart;
    if (body.empty() || (start && place_.start_topic.empty())) {  // starts are not told any more
      taken_.insert(document.number);
      return {};
    }
    MUSTER_TRY_VOID(producer_->send(start ? place_.start_topic : place_.topic, body.substr(1), document.number));
    under_way_.insert(document.number);
    return {};
  }

  // Until all that are under way are decided. A controller that ends waits for flush_timeout.
  void await() {
    const Duration began = net::Loop::monotonic();
    std::optional<Duration> ending;
    while (!under_way_.empty()) {
      for (const KafkaProducer::Told& each : producer_->told(kLook)) decide(each);
      const Duration now = net::Loop::monotonic();
      if (stopping_ && !ending) ending = now;
      if (ending ? now - *ending >= place_.flush_timeout : now - began >= kMostWait) return;
    }
  }

  void decide(const KafkaProducer::Told& told) {
    under_way_.erase(told.number);
    if (told.refused) log_.error("JobCompLoc: a job's record is refused by Kafka and left out: {}", told.error);
    if (told.error.empty() || told.refused) taken_.insert(told.number);
    else error_ = told.error;
  }

  KafkaPlace place_;
  os::Log& log_;
  const std::atomic<bool>& stopping_;
  std::unique_ptr<KafkaProducer> producer_;
  std::set<int64_t> under_way_, taken_;  // numbers of documents; taken_: those that the outbox still has
  std::string error_;                    // of the last one that was not taken
};

}  // namespace

std::unique_ptr<CompletionSender> kafka_sender(KafkaPlace place, os::Log& log, const std::atomic<bool>& stopping) {
  return std::make_unique<KafkaSender>(std::move(place), log, stopping);
}

std::string for_kafka(bool is_start, std::string document) { return (is_start ? kStart : kEnd) + std::move(document); }

}  // namespace muster::slurmctld
