#include "cli/common/settings_table.h"

#include <algorithm>
#include <ctime>

#include "base/text.h"
#include "cli/common/command.h"
#include "os/clock.h"

namespace muster::cli {

void SettingsTable::add(std::string_view name, const std::vector<std::string>& values) { add(name, std::string_view(join(values, ","))); }

void SettingsTable::say(std::string_view prefix) const {
  constexpr std::string_view kRule = "-----------------------------";
  constexpr size_t kNameWidth = 11;
  std::string out = std::string(prefix).append(kRule);
  for (const auto& [name, value] : rows_) {
    std::string padded = name;
    padded.resize(std::max(padded.size(), kNameWidth), ' ');
    out.append("\n").append(prefix).append(padded).append(" = ").append(value);
  }
  put_error(out.append("\n").append(prefix).append(kRule));
}

void say_listing(const os::CliLog& log, const SettingsTable& settings, const ClientConf& conf) {
  settings.say();
  put_error("\n" + calendar_text(os::wall_now()));
  say_asking(log, conf);
}

void say_asking(const os::CliLog& log, const ClientConf& conf) {
  log.verbose("asking the controller of {} ({})", conf.cluster_name, conf.path);
}

std::string calendar_text(Time t) {
  const auto at = static_cast<time_t>(unix_seconds(t));
  std::tm local{};
  localtime_r(&at, &local);
  char text[64];
  return std::string(text, strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &local));
}

}  // namespace muster::cli
