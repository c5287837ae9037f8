// The one translation unit that knows spdlog. Its six levels are not enough for Slurm's ten and its patterns do not have our times, so a
// line arrives finished; spdlog brings the queue, the writer thread and the sinks.
#include "os/log.h"

#include <spdlog/async.h>
#include <spdlog/details/file_helper.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "base/plain_text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/files.h"

#include <fcntl.h>

namespace muster::os {
namespace {

// A message's spdlog level says which sinks want it (a bit each) and its level of ours; both fit into the number.
constexpr int kFileBit = 16, kStderrBit = 32, kSyslogBit = 64;

class FdSink : public spdlog::sinks::sink {
 public:
  explicit FdSink(int bit) : bit_(bit) {}
  void log(const spdlog::details::log_msg& m) override {
    if (!(m.source.line & bit_)) return;
    std::lock_guard lock(mutex_);
    pending_.append(m.payload.data(), m.payload.size());
    pending_.push_back('\n');
    if (pending_.size() >= 1 << 16 || !buffered_) push();
  }
  void flush() override {
    std::lock_guard lock(mutex_);
    push();
  }
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 protected:
  virtual int target() const = 0;
  void push() {
    // A full disk must not end the daemon: what cannot be written is lost, the next lines are tried again.
    if (target() >= 0) (void)write_all(target(), pending_);
    pending_.clear();
  }
  std::mutex mutex_;
  std::string pending_;
  bool buffered_ = false;

 private:
  int bit_;
};

class FileSink final : public FdSink {
 public:
  explicit FileSink(std::string path) : FdSink(kFileBit), path_(std::move(path)) {}
  Result<> reopen() {
    Fd fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600));
    if (!fd) return fail_errno("log file " + path_);
    std::lock_guard lock(mutex_);
    push();
    fd_ = std::move(fd);
    return {};
  }

 private:
  int target() const override { return fd_.get(); }
  std::string path_;
  Fd fd_;
};

class StderrSink final : public FdSink {
 public:
  StderrSink() : FdSink(kStderrBit) {}

 private:
  int target() const override { return 2; }
};

int syslog_priority(int level) {
  switch (static_cast<LogLevel>(level)) {
    case LogLevel::kFatal: return LOG_CRIT;
    case LogLevel::kError: return LOG_ERR;
    case LogLevel::kInfo:
    case LogLevel::kVerbose: return LOG_INFO;
    default: return LOG_DEBUG;
  }
}

class SyslogSink final : public spdlog::sinks::sink {
 public:
  explicit SyslogSink(std::string ident) : ident_(std::move(ident)) { openlog(ident_.c_str(), LOG_PID, LOG_DAEMON); }
  ~SyslogSink() override { closelog(); }
  void log(const spdlog::details::log_msg& m) override {
    if (!(m.source.line & kSyslogBit)) return;
    syslog(syslog_priority(m.source.line & 15), "%.*s", static_cast<int>(m.payload.size()), m.payload.data());
  }
  void flush() override {}
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

 private:
  std::string ident_;
};

std::string level_word(LogLevel level) {
  if (level == LogLevel::kInfo || level == LogLevel::kVerbose) return "";
  std::string word(log_level_name(level));
  return word + (level == LogLevel::kDebug ? ":  " : ": ");
}

}  // namespace

struct Log::Impl {
  std::string program;
  std::atomic<LogLevel> file_level, stderr_level, syslog_level;
  std::atomic<LogTimeFormat> time_format;
  bool stderr_time = false;
  std::shared_ptr<FileSink> file;
  std::shared_ptr<FdSink> errors;
  std::shared_ptr<SyslogSink> sys;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::logger> logger;
  // flush() of spdlog's async logger only queues; this sink tells when the queue has come that far.
  struct Barrier;
  std::shared_ptr<Barrier> barrier;

  void send(LogLevel level, int bits, std::string_view line) {
    const spdlog::source_loc where{"", bits | static_cast<int>(level), ""};
    logger->log(where, level <= LogLevel::kError ? spdlog::level::err : spdlog::level::info,
                spdlog::string_view_t(line.data(), line.size()));
  }
};

struct Log::Impl::Barrier final : spdlog::sinks::sink {
  void log(const spdlog::details::log_msg&) override {}
  void flush() override {
    std::lock_guard lock(mutex);
    ++flushes;
    changed.notify_all();
  }
  void set_pattern(const std::string&) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter>) override {}
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t flushes = 0;
};

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Log>> Log::open(const LogOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->program = options.program;
  impl->time_format = options.time_format;
  impl->stderr_time = options.stderr_time;
  std::vector<spdlog::sink_ptr> sinks;
  if (!options.file.empty()) {
    impl->file = std::make_shared<FileSink>(options.file);
    MUSTER_TRY_VOID(impl->file->reopen());
    sinks.push_back(impl->file);
  }
  impl->errors = std::make_shared<StderrSink>();
  sinks.push_back(impl->errors);
  impl->sys = std::make_shared<SyslogSink>(options.program);
  sinks.push_back(impl->sys);
  impl->barrier = std::make_shared<Impl::Barrier>();
  sinks.push_back(impl->barrier);
  if (options.async) {
    impl->pool = std::make_shared<spdlog::details::thread_pool>(std::max<size_t>(options.queue_lines, 16), 1);
    impl->logger = std::make_shared<spdlog::async_logger>(options.program, sinks.begin(), sinks.end(), impl->pool,
                                                          spdlog::async_overflow_policy::overrun_oldest);
  } else {
    impl->logger = std::make_shared<spdlog::logger>(options.program, sinks.begin(), sinks.end());
  }
  impl->logger->set_level(spdlog::level::trace);
  impl->logger->flush_on(spdlog::level::off);
  std::unique_ptr<Log> log(new Log(std::move(impl)));
  log->set_levels(options.file_level, options.stderr_level, options.syslog_level);
  return log;
}

Log::~Log() {
  const uint64_t lost = dropped();
  if (lost) write(LogLevel::kError, "log: " + std::to_string(lost) + " lines were dropped in floods");
  flush();
}

void Log::write(LogLevel level, std::string_view text) {
  if (!enabled(level)) return;
  Impl& impl = *impl_;
  int file_bits = impl.file && level <= impl.file_level ? kFileBit : 0;
  int bare_bits = level <= impl.syslog_level ? kSyslogBit : 0;
  const bool to_stderr = level <= impl.stderr_level;
  std::string body = level_word(level);
  append_plain(body, text);
  if (to_stderr && impl.stderr_time) file_bits |= kStderrBit;
  if (file_bits) {
    impl.send(level, file_bits, "[" + format_log_time(impl.time_format, wall_now().time_since_epoch().count()) + "] " + body);
  }
  if (to_stderr && !impl.stderr_time) impl.send(level, kStderrBit, impl.program + ": " + body);
  if (bare_bits) impl.send(level, bare_bits, body);
}

Result<> Log::reopen() { return impl_->file ? impl_->file->reopen() : Result<>{}; }

void Log::set_levels(LogLevel file, LogLevel stderr_level, LogLevel syslog_level) {
  impl_->file_level = file;
  impl_->stderr_level = stderr_level;
  impl_->syslog_level = syslog_level;
  highest_ = std::max({impl_->file ? file : LogLevel::kQuiet, stderr_level, syslog_level});
}

void Log::set_time_format(LogTimeFormat format) { impl_->time_format = format; }

void Log::flush() {
  Impl& impl = *impl_;
  if (!impl.pool) {
    impl.logger->flush();
    return;
  }
  std::unique_lock lock(impl.barrier->mutex);
  const uint64_t before = impl.barrier->flushes;
  lock.unlock();
  impl.logger->flush();
  lock.lock();
  // Under a flood the request itself may be overrun: ask again rather than wait for ever.
  while (!impl.barrier->changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return impl.barrier->flushes != before; })) {
    lock.unlock();
    impl.logger->flush();
    lock.lock();
  }
}

uint64_t Log::dropped() const { return impl_->pool ? impl_->pool->overrun_counter() : 0; }

}  // namespace muster::os
