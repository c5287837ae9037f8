#include "slurmstepd/login_environment.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kPatience = seconds(10);
constexpr std::string_view kMark = "=muster-login-environment=";   // no profile prints that by itself

std::string_view name_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

}  // namespace

std::vector<std::string> parse_login_environment(std::string_view output, std::string_view mark) {
  std::vector<std::string> out;
  size_t at = output.find(mark);
  if (at == output.npos) return out;
  for (std::string_view entry : split(output.substr(at + mark.size()), '\0')) {
    std::string_view name = name_of(entry);
    bool of_the_shell = name == "_" || name == "SHLVL" || name == "PWD" || name == "OLDPWD";
    if (!name.empty() && name.size() < entry.size() && !of_the_shell) out.emplace_back(entry);
  }
  return out;
}

Result<> add_login_environment(std::vector<std::string>& environment, const LoginUser& user, const std::optional<os::Credentials>& who) {
  const std::string& shell = user.shell;
  os::SpawnSpec s;
  s.path = shell;
  // A dash in front makes any shell a login shell, also where it has no option for that.
  s.argv = {"-" + shell.substr(shell.rfind('/') + 1), "-c", "printf '" + std::string(kMark) + "'; env -0"};
  s.env = std::vector<std::string>{"HOME=" + user.home, "USER=" + user.name, "LOGNAME=" + user.name, "SHELL=" + shell,
                                   "PATH=/usr/local/bin:/usr/bin:/bin"};
  s.cwd = user.home;
  s.credentials = who;
  auto done = os::run_captured(s, kPatience);
  if (!done) {   // a home that is not there keeps nobody from his environment
    s.cwd = "/";
    done = os::run_captured(std::move(s), kPatience);
  }
  if (!done) return fail("the login environment of " + user.name + " could not be loaded: " + std::string(done.error().message()));
  std::set<std::string, std::less<>> present;
  for (const std::string& e : environment) present.emplace(name_of(e));
  std::vector<std::string> found = parse_login_environment(done->output, kMark);
  if (found.empty()) return fail("the login environment of " + user.name + " could not be loaded: " + shell + " printed none");
  for (std::string& e : found)
    if (!present.contains(name_of(e))) environment.push_back(std::move(e));
  return {};
}

}  // namespace muster::slurmstepd
