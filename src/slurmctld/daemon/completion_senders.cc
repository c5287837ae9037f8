#include "slurmctld/daemon/completion_senders.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>

#include "base/plain_text.h"
#include "base/text.h"
#include "os/error.h"
#include "os/fd.h"
#include "slurmctld/daemon/http_post.h"

namespace muster::slurmctld {
namespace {

constexpr size_t kLinesAtOnce = 256;

// ---- a file
class FileSender final : public CompletionSender {
 public:
  FileSender(std::string path, bool shared, SenderNotes notes) : path_(std::move(path)), shared_(shared), notes_(std::move(notes)) {}

  size_t at_once() const override { return kLinesAtOnce; }

  Result<size_t> send(const Waiting& documents) override {
    std::string text;
    for (const auto& d : documents) text += d.body;
    // A fifo that nobody reads holds nobody up, and a device or another's link is nothing to append to.
    const os::Fd fd(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, shared_ ? 0644 : 0600));
    struct stat st {};
    if (fd.get() < 0 || ::fstat(fd.get(), &st) != 0) return os::fail_errno(path_ + " cannot be opened");
    if (!S_ISREG(st.st_mode)) return fail(Errc::kError, path_ + " is no file");
    MUSTER_TRY(note, notes_.read());
    std::string rest = text;
    if (std::string left = missing_part(note, text, fd.get(), st); !note.empty()) rest = std::move(left);
    if (note.empty() || rest.size() == text.size()) MUSTER_TRY_VOID(notes_.write(place_of(st)));
    if (!written(fd.get(), rest)) return os::fail_errno(path_ + " cannot be written");
    if (::fdatasync(fd.get()) != 0) return os::fail_errno(path_ + " cannot be written to disk");
    return documents.size();
  }

 private:
  static std::string place_of(const struct stat& st) {
    return std::to_string(st.st_dev) + " " + std::to_string(st.st_ino) + " " + std::to_string(st.st_size);
  }

  // What of the text does not stand yet where it was to be written. All of it where the file is another one.
  static std::string missing_part(const std::string& note, const std::string& text, int fd, const struct stat& st) {
    const std::vector<std::string_view> words = split(note, ' ');
    if (words.size() != 3 || words[0] != std::to_string(st.st_dev) || words[1] != std::to_string(st.st_ino)) return text;
    const auto from = parse_number<int64_t>(words[2], 0, st.st_size);
    if (!from || *from == st.st_size) return text;
    std::string there(std::min(text.size(), static_cast<size_t>(st.st_size - *from)), '\0');
    const ssize_t got = ::pread(fd, there.data(), there.size(), *from);
    there.resize(got < 0 ? 0 : static_cast<size_t>(got));
    size_t same = static_cast<size_t>(std::ranges::mismatch(there, text).in1 - there.begin());
    const bool others_follow = static_cast<size_t>(st.st_size - *from) > same;
    // Somebody else has written behind half a line: it begins anew, on a line of its own.
    if (others_follow && same > 0) same = text.rfind('\n', same - 1) + 1;  // 0 where there is none
    return text.substr(same);
  }

  static bool written(int fd, std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::write(fd, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  std::string path_;
  bool shared_;
  SenderNotes notes_;
};

// ---- a program
class ScriptSender final : public CompletionSender {
 public:
  ScriptSender(std::string path, RunProgram run, os::Log& log, const std::atomic<bool>& stopping)
      : path_(std::move(path)), run_(std::move(run)), log_(log), stopping_(stopping) {}

  Result<size_t> send(const Waiting& documents) override {
    if (::access(path_.c_str(), X_OK) != 0) return os::fail_errno(path_ + " cannot be started");
    if (stopping_ || documents.empty()) return size_t{0};
    run_one(documents.front().body);
    return size_t{1};
  }

 private:
  struct Over {
    std::mutex mutex;
    std::condition_variable wake;
    bool is = false;
  };

  void run_one(const std::string& body) {
    auto over = std::make_shared<Over>();  // it may come when nobody waits any more
    run_(path_, unpacked_variables(body), [over, &log = log_](const std::string& error) {
      if (!error.empty()) log.error("JobCompLoc: {}", error);
      const std::lock_guard lock(over->mutex);
      over->is = true;
      over->wake.notify_all();
    });
    std::unique_lock lock(over->mutex);
    while (!over->is && !stopping_) over->wake.wait_for(lock, std::chrono::milliseconds(100));
  }

  std::string path_;
  RunProgram run_;
  os::Log& log_;
  const std::atomic<bool>& stopping_;
};

// ---- a server
class HttpSender final : public CompletionSender {
 public:
  HttpSender(std::string url, os::Log& log, const std::atomic<bool>& stopping) : url_(std::move(url)), log_(log), stopping_(stopping) {}

  Result<size_t> send(const Waiting& documents) override {
    if (!http_) {
      MUSTER_TRY(loaded, HttpPost::load(stopping_));
      http_ = std::move(loaded);
    }
    if (stopping_ || documents.empty()) return size_t{0};
    MUSTER_TRY_VOID(send_one(documents.front().body));
    return size_t{1};
  }

 private:
  Result<> send_one(const std::string& json) {
    MUSTER_TRY(answer, http_->post(url_, json));
    if (answer.status >= 200 && answer.status < 300) return {};
    const std::string said = "status " + std::to_string(answer.status) + ": " + plain(answer.begin.substr(0, 200));
    if (answer.status != 400 && answer.status != 413 && answer.status != 422) return fail(Errc::kError, said);
    log_.error("JobCompLoc: a job's record is refused and left out: {}", said);
    return {};
  }

  std::string url_;
  os::Log& log_;
  const std::atomic<bool>& stopping_;
  std::unique_ptr<HttpPost> http_;
};

}  // namespace

std::unique_ptr<CompletionSender> file_sender(std::string path, bool shared, SenderNotes notes) {
  return std::make_unique<FileSender>(std::move(path), shared, std::move(notes));
}
std::unique_ptr<CompletionSender> script_sender(std::string path, RunProgram run, os::Log& log, const std::atomic<bool>& stopping) {
  return std::make_unique<ScriptSender>(std::move(path), std::move(run), log, stopping);
}
std::unique_ptr<CompletionSender> http_sender(std::string url, os::Log& log, const std::atomic<bool>& stopping) {
  return std::make_unique<HttpSender>(std::move(url), log, stopping);
}

std::string packed_variables(const std::vector<std::string>& variables) {
  std::string out;
  for (const std::string& v : variables) out.append(v.c_str()) += '\0';
  return out;
}

std::vector<std::string> unpacked_variables(std::string_view packed) {
  std::vector<std::string> out;
  for (std::string_view v : split(packed, '\0')) out.emplace_back(v);
  return out;
}

}  // namespace muster::slurmctld
