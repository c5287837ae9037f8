#include "options/defined_options.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr size_t kNameWidth = 20;

// The time as "1-00:00:00" or "00:30:00"; the text as typed where it is no time.
std::string span_text(const std::string& typed) {
  auto limit = parse_time_limit(typed);
  if (!limit) return typed;
  if (!limit->minutes) return "UNLIMITED";
  const uint32_t minutes = *limit->minutes, days = minutes / 1440;
  char text[32];
  if (days) snprintf(text, sizeof text, "%u-%02u:%02u:00", days, minutes / 60 % 24, minutes % 60);
  else snprintf(text, sizeof text, "%02u:%02u:00", minutes / 60, minutes % 60);
  return text;
}

std::string capitalised(std::string text) {
  bool first = true;
  for (char& c : text) {
    if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    first = c == ',' || c == '-' || c == ':';
  }
  return text;
}

std::string sharing_text(Exclusive exclusive) {
  switch (exclusive) {
    case Exclusive::kNode: return "exclusive";
    case Exclusive::kUser: return "user";
    case Exclusive::kMcs: return "mcs";
    case Exclusive::kTopo: return "topo";
    case Exclusive::kOversubscribe: return "oversubscribe";
    case Exclusive::kDefault: break;
  }
  return "unset";
}

// The value to print. Where the record says more than the words typed, or says it in one way for all spellings, it is taken from the
// record.
std::string value_of(const JobOptions& options, const Seen& seen) {
  const AskedRequest& request = options.request;
  const std::string_view name = seen.info->name;
  if (name == "verbose") return std::to_string(options.verbose);
  if (name == "time" || name == "time-min") return span_text(seen.value);
  if (name == "begin") return format_time(request.begin);
  if (name == "deadline") return format_time(request.deadline);
  if (name == "exclusive" || name == "oversubscribe") return sharing_text(request.exclusive);
  if (name == "open-mode") return request.open_mode == OpenMode::kAppend ? "a" : "t";
  if (name == "profile" || name == "cpu-freq") return capitalised(seen.value);
  if (name == "requeue" || name == "no-requeue") return std::string(name);
  if (name == "no-kill") return request.no_kill ? "set" : "unset";
  if (name == "gres") return "gres/" + seen.value;
  return seen.info->arg == Arg::kNone || (seen.info->arg == Arg::kOptional && seen.value.empty()) ? "set" : seen.value;
}

}  // namespace

std::vector<std::string> defined_options(const JobOptions& options) {
  std::vector<std::string> out;
  for (const Seen& s : options.seen) {
    if (!s.info->name) continue;
    std::string line = s.info->name;
    line.resize(std::max(line.size(), kNameWidth), ' ');
    std::string value = value_of(options, s);
    std::ranges::replace(value, '\n', ' ');
    out.push_back(line + ": " + value);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace muster
