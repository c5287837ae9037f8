#include "options/crontab_file.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/cron_times.h"
#include "model/crontab.h"
#include "options/script_directives.h"

namespace muster {
namespace {

constexpr std::string_view kOptions = "#SCRON";

bool name_begins(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool name_goes_on(char c) { return name_begins(c) || (c >= '0' && c <= '9'); }

// How many characters from `at` on are a variable's name.
size_t name_length(std::string_view text, size_t at) {
  if (at >= text.size() || !name_begins(text[at])) return 0;
  size_t end = at;
  while (end < text.size() && name_goes_on(text[end])) ++end;
  return end - at;
}

class CrontabReader {
 public:
  CrontabFile read(std::string_view text) {
    uint32_t number = 0;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      line(++number, text.substr(at, end - at));
      at = end + 1;
    }
    for (const CrontabEntry::OptionLine& o : next_.options) out_.options_without_job.push_back(o.line);
    return std::move(out_);
  }

 private:
  void line(uint32_t number, std::string_view text) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    const size_t begin = text.find_first_not_of(" \t");
    if (begin == text.npos) return;
    text.remove_prefix(begin);
    if (text.starts_with(kOptions) && (text.size() == kOptions.size() || text[kOptions.size()] == ' ' || text[kOptions.size()] == '\t'))
      return options(number, text.substr(kOptions.size()));
    if (text[0] == '#') return;
    if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; }))
      return fault(number, Error(Errc::kInvalidArgument, "a control character is in the line"));
    if (const size_t name = name_length(text, 0)) {
      const size_t equals = text.find_first_not_of(" \t", name);
      if (equals != text.npos && text[equals] == '=') return variable(text.substr(0, name), trim(text.substr(equals + 1)));
    }
    entry(number, text);
  }

  void options(uint32_t number, std::string_view text) {
    if (next_.options.empty()) next_.first_line = number;
    next_.options.push_back({number, std::string(text)});
    if (auto words = directive_words(text); !words) fault(number, words.error());
  }

  void variable(std::string_view name, std::string_view value) {
    const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
    if (quoted) value = value.substr(1, value.size() - 2);
    variables_[std::string(name)] = std::string(value);
  }

  void entry(uint32_t number, std::string_view text) {
    CrontabEntry entry = std::exchange(next_, {});
    if (entry.options.empty()) entry.first_line = number;
    entry.last_line = number;
    const size_t times = cron_times_length(text);
    if (times == 0)
      return fault(number, Error(Errc::kInvalidTime, "this is neither an entry nor NAME=VALUE",
                                 "an entry has five fields for the time, or one such as @daily, and a command"));
    entry.times = std::string(trim(text.substr(0, times)));
    if (auto parsed = CronTimes::parse(entry.times); !parsed) return fault(number, parsed.error());
    const std::string_view command = trim(text.substr(times));
    if (command.empty()) return fault(number, Error(Errc::kInvalidArgument, "the command is missing"));
    entry.command = expanded(command);
    // The value of a variable may hold the same variable many times over.
    if (entry.command.size() > Crontab::kMostBytes) return fault(number, Error(Errc::kInvalidArgument, "the command is too long"));
    if (out_.entries.size() == Crontab::kMostEntries)
      return fault(number, Error(Errc::kInvalidArgument, "more than " + std::to_string(Crontab::kMostEntries) + " entries"));
    out_.entries.push_back(std::move(entry));
  }

  // $NAME of a variable of the crontab; everything else is the shell's.
  std::string expanded(std::string_view command) const {
    std::string out;
    for (size_t index = 0; index < command.size() && out.size() <= Crontab::kMostBytes;) {
      const size_t name = command[index] == '$' ? name_length(command, index + 1) : 0;
      const auto known = variables_.find(std::string(command.substr(index + 1, name)));
      if (command[index] == '\\' && index + 1 < command.size()) {
        out += command.substr(index, 2);
        index += 2;
      } else if (name && known != variables_.end()) {
        out += known->second;
        index += 1 + name;
      } else {
        out += command[index++];
      }
    }
    return out;
  }

  void fault(uint32_t number, Error error) { out_.faults.push_back({number, std::move(error)}); }

  CrontabFile out_;
  CrontabEntry next_;  // the options that stand before the next entry
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace

CrontabFile read_crontab(std::string_view text) { return CrontabReader().read(text); }

std::string crontab_script(const CrontabEntry& entry) {
  return "#!/bin/sh\n# This job was submitted by scrontab.\n" + entry.command + "\n";
}

std::string crontab_directives(const CrontabEntry& entry) {
  // The environment of whoever installs a crontab is none of the jobs' business: they get that of a login.
  std::string out = "#!/bin/sh\n#SBATCH --export=NONE\n";
  for (const CrontabEntry::OptionLine& o : entry.options) out += "#SBATCH" + o.text + "\n";
  return out;
}

std::string crontab_job_name(const CrontabEntry& entry) {
  const std::string_view first = std::string_view(entry.command).substr(0, entry.command.find_first_of(" \t;|&<>"));
  const std::string_view name = first.substr(first.rfind('/') + 1);
  return name.empty() ? "scrontab" : std::string(name);
}

std::string_view example_crontab() {
  return "# A crontab of jobs (scrontab(1)). An entry is a time and a command; #SCRON lines before it are options of sbatch.\n"
         "#\n"
         "# minute (0-59)  hour (0-23)  day of month (1-31)  month (1-12)  day of week (0-7, 0 and 7 are Sunday)\n"
         "# or @hourly, @daily, @weekly, @monthly, @yearly\n"
         "#\n"
         "# DIR=/home/me\n"
         "#\n"
         "# The first minute of each hour:\n"
         "# #SCRON -t 1:00\n"
         "# @hourly $DIR/report\n"
         "#\n"
         "# Each weekday at 7:30:\n"
         "# #SCRON -p main --mem=1G\n"
         "# 30 7 * * mon-fri $DIR/collect\n";
}

}  // namespace muster
