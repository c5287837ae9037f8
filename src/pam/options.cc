#include "pam/options.h"

#include <array>
#include <string_view>

#include "base/text.h"

namespace muster::pam {
namespace {

constexpr std::string_view kPidFile = "SlurmdPidFile", kUsualPidFile = "/var/run/slurmd.pid";
constexpr std::array<std::string_view, 10> kLevels = {"quiet", "fatal",  "error",  "info",   "verbose",
                                                      "debug", "debug2", "debug3", "debug4", "debug5"};

struct Word {
  std::string_view text;
  Action action;
};
constexpr Word kIgnore{"ignore", Action::kIgnore}, kAllow{"allow", Action::kAllow}, kDeny{"deny", Action::kDeny},
    kNewest{"newest", Action::kNewest};

struct ActionRow {
  std::string_view name;
  Action Options::*to;
  std::vector<Word> words;
};
const std::vector<ActionRow>& action_rows() {
  static const std::vector<ActionRow> rows = {{"action_no_jobs", &Options::no_jobs, {kIgnore, kDeny}},
                                              {"action_unknown", &Options::unknown, {kNewest, kAllow, kDeny}},
                                              {"action_adopt_failure", &Options::adopt_failure, {kAllow, kDeny}},
                                              {"action_generic_failure", &Options::generic_failure, {kIgnore, kAllow, kDeny}}};
  return rows;
}

bool set_action(std::string_view name, std::string_view value, Options& out) {
  for (const ActionRow& row : action_rows()) {
    if (row.name != name) continue;
    std::string words;
    for (const Word& word : row.words) {
      if (word.text == value) {
        out.*row.to = word.action;
        return true;
      }
      words += (words.empty() ? "" : ", ") + std::string(word.text);
    }
    out.*row.to = Action::kDeny;
    out.faults.push_back(std::string(name) + "=" + std::string(value) + ": must be one of " + words + "; deny counts");
    return true;
  }
  return false;
}

void set_level(std::string_view value, Options& out) {
  for (size_t level = 0; level < kLevels.size(); ++level)
    if (iequals(value, kLevels[level])) {
      out.log_level = static_cast<int>(level);
      return;
    }
  if (auto number = parse_number<int>(value, 0, 9)) out.log_level = *number;
  else out.faults.push_back("log_level=" + std::string(value) + ": is no debug level of SlurmdDebug; info counts");
}

// There are no tunnels of X11, so there is nothing to change whatever is said of them; it is checked all the same.
bool set_switch(std::string_view name, std::string_view value, Options& out) {
  const bool x11 = name == "disable_x11";
  if (!x11 && name != "join_container") return false;
  const bool known = x11 ? value == "0" || value == "1" : value == "true" || value == "false";
  if (!x11) out.join_container = value != "false";
  if (!known) out.faults.push_back(std::string(name) + "=" + std::string(value) + ": must be " + (x11 ? "0 or 1" : "true or false"));
  return true;
}

bool set_text(std::string_view name, std::string_view value, Options& out) {
  if (name == "service" && !value.empty()) {
    out.service = value;
  } else if (name == "nodename" && !value.empty() && value.find('/') == value.npos) {
    out.nodename = value;
  } else if (name == "socket" && value.starts_with('/')) {
    out.socket = value;
  } else {
    return false;
  }
  return true;
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
}

}  // namespace

Options parse_options(std::span<const char* const> arguments) {
  Options out;
  for (const char* argument : arguments) {
    const std::string_view text = argument;
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals), value = equals == text.npos ? std::string_view() : text.substr(equals + 1);
    if (name == "log_level") set_level(value, out);
    else if (!set_action(name, value, out) && !set_switch(name, value, out) && !set_text(name, value, out))
      out.faults.push_back(std::string(text) + ": is no option of this module, or not a value of it; it is left out");
  }
  return out;
}

std::string socket_in(std::string_view slurm_conf, const std::string& node, const std::string& host) {
  std::string pid_file(kUsualPidFile);
  for (std::string_view line : split(slurm_conf, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    if (line.size() <= kPidFile.size() || !iequals(line.substr(0, kPidFile.size()), kPidFile)) continue;
    std::string_view rest = trim(line.substr(kPidFile.size()));
    if (!rest.starts_with('=')) continue;
    rest = trim(rest.substr(1));
    rest = rest.substr(0, rest.find_first_of(" \t\r"));
    if (rest.starts_with('/')) pid_file = rest;
  }
  replace_all(pid_file, "%n", node);
  replace_all(pid_file, "%h", host);
  return pid_file.substr(0, pid_file.rfind('/')) + "/slurmd." + node + ".sock";
}

}  // namespace muster::pam
