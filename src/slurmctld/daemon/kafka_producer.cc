#include "slurmctld/daemon/kafka_producer.h"

#include <dlfcn.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <utility>

#include "base/plain_text.h"
#include "base/text.h"
#include "net/loop.h"
#include "net/pace.h"

#define MUSTER_KAFKA_FUNCTIONS(X) \
  X(rd_kafka_conf_new)            \
  X(rd_kafka_conf_set)            \
  X(rd_kafka_conf_destroy)        \
  X(rd_kafka_conf_set_opaque)     \
  X(rd_kafka_conf_set_dr_msg_cb)  \
  X(rd_kafka_conf_set_log_cb)     \
  X(rd_kafka_set_log_queue)       \
  X(rd_kafka_opaque) X(rd_kafka_new) X(rd_kafka_producev) X(rd_kafka_poll) X(rd_kafka_purge) X(rd_kafka_destroy) X(rd_kafka_err2str)

namespace muster::slurmctld {

struct KafkaProducer::Library {
#define X(name) decltype(&::name) name = nullptr;
  MUSTER_KAFKA_FUNCTIONS(X)
#undef X
  explicit Library(os::Log& logger) : log(logger) {}
  ~Library() {
    if (!handle) return;
    rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING);
    rd_kafka_destroy(handle);
  }
  void prepare(rd_kafka_conf_t* conf);
  void keep(const rd_kafka_message_t& message);
  void log_line(int level, const char* facility, const char* text);

  os::Log& log;
  net::Pace log_pace{minutes(1)};
  rd_kafka_t* handle = nullptr;
  std::vector<Told> told;
};

namespace {

constexpr size_t kMostLine = 4096;

constexpr int kWarning = 4;  // of syslog's levels

bool is_refused(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_INVALID_MSG ||
         code == RD_KAFKA_RESP_ERR_INVALID_RECORD || code == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE;
}

// The callbacks run in rd_kafka_poll(), on our thread. That for lines of the log is given no data but the handle.
decltype(&::rd_kafka_opaque) opaque_of = nullptr;

}  // namespace

void KafkaProducer::Library::prepare(rd_kafka_conf_t* conf) {
  opaque_of = rd_kafka_opaque;
  rd_kafka_conf_set(conf, "log.queue", "true", nullptr, 0);
  rd_kafka_conf_set_opaque(conf, this);
  rd_kafka_conf_set_dr_msg_cb(
      conf, [](rd_kafka_t*, const rd_kafka_message_t* message, void* library) { static_cast<Library*>(library)->keep(*message); });
  rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t* handle, int level, const char* facility, const char* text) {
    static_cast<Library*>(opaque_of(handle))->log_line(level, facility, text);
  });
}

void KafkaProducer::Library::keep(const rd_kafka_message_t& message) {
  const std::string error = message.err ? rd_kafka_err2str(message.err) : "";
  told.push_back({reinterpret_cast<intptr_t>(message._private), error, is_refused(message.err)});
}

void KafkaProducer::Library::log_line(int level, const char* facility, const char* text) {
  const std::string line = plain(text);
  if (level > kWarning) return log.info("librdkafka: {}: {}", facility, line);  // the properties debug and log_level ask for them
  if (auto untold = log_pace.tell(facility, net::Loop::monotonic())) log.error("librdkafka: {}{}", line, net::Pace::more(*untold));
}

Result<KafkaProperties> read_kafka_properties(std::string_view text) {
  KafkaProperties out;
  size_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || trim(line.substr(0, equals)).empty() || line.size() > kMostLine)
      return fail(Errc::kConfig, "line " + std::to_string(number) + ": '" + plain(line.substr(0, 64)) + "' is no name=value of librdkafka");
    out.emplace_back(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
  }
  for (const auto& [name, value] : out)
    if ((name == "bootstrap.servers" || name == "metadata.broker.list") && !value.empty()) return out;
  return fail(Errc::kConfig, "bootstrap.servers is missing", "bootstrap.servers=host:9092 says where the brokers are");
}

KafkaProducer::KafkaProducer(std::unique_ptr<Library> library) : library_(std::move(library)) {}
KafkaProducer::~KafkaProducer() = default;

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::load(const KafkaProperties& properties, os::Log& log) {
  void* file = dlopen("librdkafka.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!file) return fail(Errc::kUnsupported, "librdkafka is needed for JobCompType=jobcomp/kafka", dlerror());
  auto library = std::make_unique<Library>(log);
  bool all = true;
#define X(name) all = (library->name = reinterpret_cast<decltype(&::name)>(dlsym(file, #name))) && all;
  MUSTER_KAFKA_FUNCTIONS(X)
#undef X
  if (!all) return fail(Errc::kUnsupported, "librdkafka.so.1 lacks functions that are needed");
  rd_kafka_conf_t* conf = library->rd_kafka_conf_new();
  char why[512] = {};
  for (const auto& [name, value] : properties)
    if (library->rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) {
      library->rd_kafka_conf_destroy(conf);
      return fail(Errc::kConfig, name + ": " + why);
    }
  library->prepare(conf);
  library->handle = library->rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
  if (!library->handle) {
    library->rd_kafka_conf_destroy(conf);
    return fail(Errc::kConfig, why);
  }
  library->rd_kafka_set_log_queue(library->handle, nullptr);  // to rd_kafka_poll()
  return std::unique_ptr<KafkaProducer>(new KafkaProducer(std::move(library)));
}

Result<> KafkaProducer::send(const std::string& topic, std::string_view message, int64_t number) {
  Library& l = *library_;
  const rd_kafka_resp_err_t code = l.rd_kafka_producev(
      l.handle, RD_KAFKA_VTYPE_TOPIC, topic.c_str(), RD_KAFKA_VTYPE_MSGFLAGS, int{RD_KAFKA_MSG_F_COPY}, RD_KAFKA_VTYPE_VALUE,
      message.data(), message.size(), RD_KAFKA_VTYPE_OPAQUE, reinterpret_cast<void*>(static_cast<intptr_t>(number)), RD_KAFKA_VTYPE_END);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  if (!is_refused(code)) return fail(Errc::kError, "topic " + plain(topic) + ": " + l.rd_kafka_err2str(code));
  l.told.push_back({number, l.rd_kafka_err2str(code), true});
  return {};
}

std::vector<KafkaProducer::Told> KafkaProducer::told(Duration most) {
  const Duration until = net::Loop::monotonic() + most;
  Library& l = *library_;
  for (Duration left = most; l.told.empty(); left = until - net::Loop::monotonic()) {
    l.rd_kafka_poll(l.handle, static_cast<int>(std::max<int64_t>(0, left / milliseconds(1))));
    if (left <= Duration::zero()) break;
  }
  l.rd_kafka_poll(l.handle, 0);
  return std::exchange(l.told, {});
}

}  // namespace muster::slurmctld
