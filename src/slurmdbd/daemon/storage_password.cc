#include "slurmdbd/daemon/storage_password.h"

#include <fcntl.h>

#include "base/text.h"
#include "os/clock.h"
#include "os/error.h"
#include "os/process.h"
#include "site/guard.h"

namespace muster::slurmdbd {
namespace {

constexpr size_t kMostPrinted = 64 << 10, kMostComplaint = 1000;
constexpr std::string_view kToken = "TOKEN=";

// The rest of the first line that begins with TOKEN=; "" if there is none.
std::string token_of(std::string_view printed) {
  for (std::string_view line : split(printed, '\n'))
    if (line = trim(line); line.starts_with(kToken)) return std::string(trim(line.substr(kToken.size())));
  return {};
}

// A program that tells what it does, as under sh -x, tells the password, too.
std::string without(std::string text, const std::string& token) {
  if (token.empty()) return text;
  for (size_t at = text.find(token); at != text.npos; at = text.find(token, at)) text.replace(at, token.size(), "***");
  return text;
}

// What was wrong with its end; "" for nothing.
std::string fault_of(const os::Captured& ran, Duration most) {
  if (ran.timed_out) return "did not end within " + std::to_string(most / seconds(1)) + " s and was ended";
  if (ran.status.signal) return "was ended by signal " + std::to_string(ran.status.signal);
  if (ran.status.code) return "exit status " + std::to_string(ran.status.code);
  return {};
}

}  // namespace

Result<std::string> StoragePassword::now(bool refused) {
  std::lock_guard lock(mutex_);
  const Time moment = os::monotonic_now();
  const bool just_tried = tried_ && moment - *tried_ < program_.pause;
  const bool good = made_ && !refused && moment - *made_ < program_.kept;
  if (just_tried || good) return last_;
  Result<std::string> fresh = run();
  tried_ = os::monotonic_now();
  if (fresh) made_ = tried_;
  if (fresh || !made_) return last_ = std::move(fresh);
  complain_(std::string(fresh.error().message()) + "; the last password goes on being used");
  return last_;
}

Result<std::string> StoragePassword::run() const {
  const auto failed = [&](const std::string& why) {
    return fail(Errc::kAccountingUnavailable, "StoragePassScript=" + program_.path + ": " + why,
                "it has to print a line TOKEN=PASSWORD and end with status 0; slurmdbd.conf(5)");
  };
  if (auto ok = site::check_program(program_.path, "StoragePassScript", program_.slurm_user); !ok)
    return failed(std::string(ok.error().message()));
  const os::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return os::fail_errno("/dev/null");
  os::SpawnSpec spec;
  spec.path = program_.path;
  spec.env = program_.environment;
  spec.cwd = "/";
  spec.fds = {{null.get(), 0}};
  auto ran = os::run_captured_apart(std::move(spec), program_.most, kMostPrinted);
  if (!ran) return failed(std::string(ran.error().message()));
  const std::string token = token_of(ran->output);
  if (!trim(ran->errors).empty())
    complain_("StoragePassScript=" + program_.path + ": " + without(std::string(trim(ran->errors)).substr(0, kMostComplaint), token));
  if (const std::string fault = fault_of(*ran, program_.most); !fault.empty()) return failed(fault);
  if (ran->truncated) return failed("prints more than " + std::to_string(kMostPrinted) + " bytes");
  if (token.empty()) return failed("prints no line TOKEN=PASSWORD");
  return token;
}

}  // namespace muster::slurmdbd
