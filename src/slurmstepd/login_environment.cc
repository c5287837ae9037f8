#include "slurmstepd/login_environment.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace muster::slurmstepd {
namespace {

constexpr Duration kPatience = seconds(10);
constexpr std::string_view kMark = "=muster-login-environment=";  // no profile prints that by itself

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

void login_environment(UserPrograms& programs, const LoginUser& user, const os::SpawnSpec& as,
                       std::function<void(Result<std::vector<std::string>>)> done) {
  const std::string& shell = user.shell;
  os::SpawnSpec spec = as;
  spec.path = shell;
  // A dash in front makes any shell a login shell, also where it has no option for that.
  spec.argv = {"-" + shell.substr(shell.rfind('/') + 1), "-c", "printf '" + std::string(kMark) + "'; env -0"};
  spec.env = std::vector<std::string>{"HOME=" + user.home, "USER=" + user.name, "LOGNAME=" + user.name, "SHELL=" + shell,
                                      "PATH=/usr/local/bin:/usr/bin:/bin"};
  spec.cwd = user.home;
  auto ended = [&programs, user, spec, done = std::move(done)](UserPrograms::Outcome outcome) {
    const std::string what = "the login environment of " + user.name + " could not be loaded: ";
    auto take = [what, user, done](const UserPrograms::Outcome& last) {
      if (last.not_started) return done(fail(what + std::string(last.not_started->message())));
      std::vector<std::string> found = parse_login_environment(last.output, kMark);
      if (found.empty()) return done(fail(what + user.shell + " printed none"));
      done(std::move(found));
    };
    if (!outcome.not_started) return take(outcome);
    os::SpawnSpec elsewhere = spec;  // a home that is not there keeps nobody from his environment
    elsewhere.cwd = "/";
    programs.run(std::move(elsewhere), {kPatience, Duration{}}, take);
  };
  programs.run(spec, {kPatience, Duration{}}, std::move(ended));
}

void add_missing(std::vector<std::string>& environment, std::vector<std::string> found) {
  std::set<std::string, std::less<>> present;
  for (const std::string& e : environment) present.emplace(name_of(e));
  for (std::string& e : found)
    if (!present.contains(name_of(e))) environment.push_back(std::move(e));
}

}  // namespace muster::slurmstepd
