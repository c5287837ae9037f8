// pam_slurm_adopt.so: sshd lets in who has a job on this node, and what the login starts is in that job's external step. The rest of src/pam
// decides; here is what PAM calls, with what it says of the login. Nothing is thrown into PAM, and nothing is kept between calls.
#include <fcntl.h>
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>

#include "os/fd.h"
#include "pam/ask.h"
#include "pam/join.h"
#include "pam/options.h"
#include "pam/verdict.h"

namespace muster::pam {
namespace {

constexpr const char* kSlurmConf = "/etc/slurm/slurm.conf";
constexpr size_t kLongestConf = 4 << 20, kLongestEntry = 1 << 20;

class Log {
 public:
  Log(pam_handle_t* handle, int most) : handle_(handle), most_(most) {}
  void write(int level, const std::string& text) const {
    if (level > most_) return;
    pam_syslog(handle_, level <= 2 ? LOG_ERR : level <= 4 ? LOG_INFO : LOG_DEBUG, "%s", text.c_str());
  }

 private:
  pam_handle_t* handle_;
  int most_;
};

std::string short_hostname() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string whole = name;
  return whole.substr(0, whole.find('.'));
}

// "" where there is none, or one that somebody else than root may have written.
std::string read_conf() {
  const os::Fd fd(::open(kSlurmConf, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) < 0 || !S_ISREG(status.st_mode) || status.st_mode & S_IWOTH) return {};
  std::string text;
  char bytes[16384];
  for (ssize_t got; text.size() < kLongestConf && (got = ::read(fd.get(), bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<size_t>(got));
  return text;
}

std::optional<Uid> uid_of(const char* user) {
  std::vector<char> buffer(16384);
  for (;;) {
    passwd entry{}, *found = nullptr;
    const int error = ::getpwnam_r(user, &entry, buffer.data(), buffer.size(), &found);
    if (error == 0) return found ? std::optional(Uid(entry.pw_uid)) : std::nullopt;
    if (error != ERANGE || buffer.size() >= kLongestEntry) return std::nullopt;
    buffer.resize(buffer.size() * 2);
  }
}

std::string text_item(pam_handle_t* handle, int item) {
  const void* value = nullptr;
  return pam_get_item(handle, item, &value) == PAM_SUCCESS && value ? static_cast<const char*>(value) : "";
}

int code_of(Verdict verdict) {
  if (verdict == Verdict::kSuccess) return PAM_SUCCESS;
  return verdict == Verdict::kIgnore ? PAM_IGNORE : PAM_PERM_DENIED;
}

int manage_account(pam_handle_t* handle, int flags, std::span<const char* const> arguments) {
  const Options options = parse_options(arguments);
  const Log log(handle, options.log_level);
  const std::string service = text_item(handle, PAM_SERVICE);
  if (options.service != "*" && options.service != service) return PAM_IGNORE;
  const char* user = nullptr;
  if (pam_get_user(handle, &user, nullptr) != PAM_SUCCESS || !user || !*user) return PAM_USER_UNKNOWN;
  const std::optional<Uid> uid = uid_of(user);
  if (!uid) return PAM_USER_UNKNOWN;
  if (uid->value == 0) return PAM_SUCCESS;  // whatever else is wrong
  for (const std::string& fault : options.faults) log.write(2, fault);
  const std::string host = short_hostname(), node = options.nodename.empty() ? host : options.nodename;
  const std::string socket = options.socket.empty() ? socket_in(read_conf(), node, host) : options.socket;
  log.write(5, "uid " + std::to_string(uid->value) + ": asking " + socket);
  Result<rpc::ProcessAdopted> answer = ask(socket, {*uid, options.unknown != Action::kNewest});
  if (options.join_container) join_namespace(answer);
  const Judged judged = judge(options, user, answer);
  log.write(judged.level, judged.to_log);
  if (!judged.to_user.empty() && !(flags & PAM_SILENT)) pam_error(handle, "%s", judged.to_user.c_str());
  return code_of(judged.verdict);
}

}  // namespace
}  // namespace muster::pam

extern "C" __attribute__((visibility("default"))) int pam_sm_acct_mgmt(pam_handle_t* handle, int flags, int argc, const char** argv) {
  try {
    return muster::pam::manage_account(handle, flags, std::span(argv, static_cast<size_t>(argc < 0 ? 0 : argc)));
  } catch (...) {  // no memory
    return PAM_BUF_ERR;
  }
}
