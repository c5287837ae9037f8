#include "cli/squeue/watch.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/common/session.h"
#include "cli/squeue/query.h"
#include "os/clock.h"
#include "os/fd.h"
#include "os/pty.h"

namespace muster::cli {
namespace {

constexpr Duration kAbsence = seconds(60);  // how long a controller may be away

// The part of a text that fits into `columns`; each UTF-8 character counts as one column.
std::string_view clipped(std::string_view text, size_t columns) {
  size_t i = 0, used = 0;
  while (i < text.size() && used < columns) {
    ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) ++i;
    ++used;
  }
  return text.substr(0, i);
}

// The terminal while it shows the list: on the alternate screen, without a cursor, and giving keys as they are pressed.
class Screen {
 public:
  explicit Screen(bool colours) : colours_(colours) {
    if (Result<os::RawMode> raw = os::RawMode::enter(0)) raw_.emplace(std::move(*raw));
    put("\x1b[?1049h\x1b[?25l\x1b[2J");
  }
  ~Screen() { put("\x1b[?25h\x1b[?1049l"); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // `first_is_header`: the first line stays when the list is longer than the window.
  void draw(const std::vector<std::string>& lines, bool first_is_header, std::string_view status, const std::vector<std::string>& fresh) {
    os::WindowSize size = os::window_size(1).value_or(os::WindowSize{24, 80});
    size_t rows = std::max<size_t>(size.rows, 2), columns = std::max<size_t>(size.columns, 1);
    size_t shown = std::min(lines.size(), rows - 1);
    std::string out = "\x1b[H";
    for (size_t i = 0; i < shown; ++i) {
      bool header = first_is_header && i == 0;
      bool news = !header && std::ranges::find(fresh, lines[i]) != fresh.end();
      const char* on = !colours_ ? "" : header ? "\x1b[7m" : news ? "\x1b[1m" : "";
      out.append(on).append(clipped(lines[i], columns)).append(*on ? "\x1b[0m" : "").append("\x1b[K\r\n");
    }
    std::string below(status);
    if (shown < lines.size()) below += ", " + std::to_string(lines.size() - shown) + " lines below";
    out.append(clipped(below, columns)).append("\x1b[K\x1b[J");
    put(out);
  }

 private:
  static void put(std::string_view text) {
    while (!text.empty()) {
      ssize_t n = ::write(1, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  bool colours_;
  std::optional<os::RawMode> raw_;
};

// Signals as a descriptor, for as long as the watch lasts.
os::Fd signal_fd() {
  sigset_t set;
  sigemptyset(&set);
  for (int s : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&set, s);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return os::Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Watcher {
 public:
  Watcher(const SqueueOptions& o, const Listing& l, const os::CliLog& log)
      : options_(o), listing_(l), log_(log), jobs_(o, l), signals_(signal_fd()) {}

  int run() {
    if (Result<> there = subscribe(Patience::kNone); !there) return give_up(there.error());
    bool terminal = ::isatty(1);
    const char* term = ::getenv("TERM");
    bool dumb = !term || !*term || !strcmp(term, "dumb");
    const char* no_colour = ::getenv("NO_COLOR");
    if (terminal && !dumb) screen_.emplace(!(no_colour && *no_colour));
    else if (!options_.noheader) print_header();
    while (!over_) {
      if (Result<> taken = take_notices(); !taken && !reconnect()) {
        screen_.reset();
        return give_up(taken.error());
      }
      if (screen_ && dirty_) redraw();
      if (!over_) wait();
    }
    return 0;
  }

 private:
  Result<> subscribe(Patience patience) {
    session_.reset();
    MUSTER_TRY(session, Session::find(patience));
    session_.emplace(std::move(session));
    MUSTER_TRY_VOID(check_clusters(session_->conf(), options_.clusters));
    MUSTER_TRY(query, make_query(options_));
    rpc::WatchJobs ask;
    ask.query = std::move(query);
    ask.query.parts |= listing_.parts;
    ask.interval_ms = 1000 / std::clamp(options_.watch_per_second.value_or(kWatchPerSecond), 1u, kMaxWatchPerSecond);
    MUSTER_TRY_VOID(session_->call_again(ask));
    return {};
  }

  // Waits for a controller that restarts; what it tells then is compared with what is shown.
  bool reconnect() {
    if (screen_) draw("the controller does not answer; waiting for it");
    if (!subscribe(Patience::kMessageTimeout)) return false;
    jobs_.begin_again();
    return true;
  }

  int give_up(const Error& e) {
    log_.error(e);
    return 1;
  }

  fields::Environment environment() {
    fields::Environment env = print_environment(session_->conf(), options_, names_);
    env.noconvert = options_.noconvert;
    env.array_text_length = options_.array_text_length.value_or(64);
    return env;
  }

  Result<> take_notices() {
    for (;;) {
      MUSTER_TRY(frame, session_->client().next_notice(Duration{}));
      if (!frame) return {};
      if (frame->message != rpc::JobChanges::kNumber) continue;
      rpc::JobChanges changes;
      MUSTER_TRY_VOID(wire::decode(frame->payload, changes, wire::kOfOurOwn));
      bool last = !changes.more;
      std::vector<std::string> lines = jobs_.apply(std::move(changes), environment());
      if (last) jobs_.end_of_look();
      dirty_ = true;
      if (screen_) {
        fresh_ = std::move(lines);
        continue;
      }
      Out out;
      for (const std::string& line : lines) out.line(line);
    }
  }

  void print_header() {
    std::string header;
    listing_.jobs.header(header);
    Out().put(header);
  }

  void redraw() {
    draw(std::to_string(jobs_.jobs()) + (jobs_.jobs() == 1 ? " job" : " jobs") + "  (q ends)");
    dirty_ = false;
  }
  void draw(std::string_view status) {
    screen_->draw(session_ ? jobs_.lines(environment()) : std::vector<std::string>{}, !options_.noheader, status, fresh_);
  }

  // Waits until something happens; on a terminal at most until the next second, because of the elapsed times.
  void wait() {
    pollfd fds[3] = {{session_->client().fd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {screen_ && !input_ended_ ? 0 : -1, POLLIN, 0}};
    int got = ::poll(fds, 3, screen_ ? 1000 : -1);
    if (got == 0) dirty_ = true;
    if (got <= 0) return;
    if (fds[1].revents) take_signal();
    if (fds[2].revents) take_key();
  }
  void take_signal() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGWINCH) dirty_ = true;
      else over_ = true;
    }
  }
  void take_key() {
    char keys[64];
    ssize_t n = ::read(0, keys, sizeof keys);
    if (n <= 0) input_ended_ = true;
    for (ssize_t i = 0; i < n; ++i) over_ = over_ || keys[i] == 'q' || keys[i] == 'Q' || keys[i] == 3 || keys[i] == 4;
  }

  const SqueueOptions& options_;
  const Listing& listing_;
  const os::CliLog& log_;
  std::optional<Session> session_;
  Names names_;
  WatchedJobs jobs_;
  os::Fd signals_;
  std::optional<Screen> screen_;
  std::vector<std::string> fresh_;  // lines that the last notice changed
  bool dirty_ = true, over_ = false, input_ended_ = false;
};

}  // namespace

int watch_jobs(const SqueueOptions& options, const Listing& listing, const os::CliLog& log) { return Watcher(options, listing, log).run(); }

}  // namespace muster::cli
