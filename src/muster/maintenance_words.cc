#include "muster/maintenance_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/plain_text.h"
#include "base/text.h"
#include "fields/tree_sink.h"
#include "hostlist/hostlist.h"

namespace muster::front {
namespace {

constexpr char kUsage[] =
    "muster maintenance start NAME --nodes=LIST --reboot|--run=POWERACTION [--at-once=N] [--stop-after=N] [--reason=TEXT] "
    "· show [NAME] [--json] · pause NAME · continue NAME · cancel NAME";

std::unexpected<Error> wrong(const std::string& what) { return fail(Errc::kBadOption, "maintenance: " + what, kUsage); }

struct Option {
  std::string name, value;
};
bool takes_no_value(std::string_view name) { return name == "--json" || name == "--reboot"; }

// "--nodes=a" and "--nodes a"; `name` becomes the one word that is no option.
Result<std::vector<Option>> read_options(std::span<const std::string> words, std::string& name) {
  std::vector<Option> out;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (!word.starts_with("--")) {
      if (!name.empty() || word.empty()) return wrong("unexpected word '" + word + "'");
      name = word;
      continue;
    }
    const size_t equals = word.find('=');
    if (equals != word.npos) {
      if (takes_no_value(word.substr(0, equals))) return wrong(word.substr(0, equals) + " takes no value");
      out.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else if (takes_no_value(word)) out.push_back({word, ""});
    else if (at + 1 < words.size()) out.push_back({word, words[++at]});
    else return wrong(word + " takes a value");
  }
  return out;
}

Result<uint32_t> read_count(const Option& option) {
  const auto number = parse_number<uint32_t>(option.value, 1, Maintenance::kMostNodes);
  if (!number) return wrong(option.name + " '" + option.value + "': a number from 1 to " + std::to_string(Maintenance::kMostNodes));
  return *number;
}

Result<MaintenanceWords> read_start(const std::vector<Option>& options, const std::string& name) {
  rpc::StartMaintenance out;
  out.name = name;
  bool reboot = false;
  for (const Option& option : options) {
    if (option.name == "--nodes") {
      out.nodes = Parsed<NodeNames>(option.value);
      if (!out.nodes.parsed()) return wrong("--nodes '" + option.value + "': " + std::string(out.nodes.parsed().error().message()));
    } else if (option.name == "--at-once") {
      MUSTER_TRY(count, read_count(option));
      out.at_once = count;
    } else if (option.name == "--stop-after") {
      MUSTER_TRY(count, read_count(option));
      out.stop_after = count;
    } else if (option.name == "--run") {
      if (option.value.empty() || option.value.find('/') != option.value.npos)
        return wrong("--run '" + option.value + "': the name of a PowerAction of slurm.conf, since its program runs as root");
      out.power_action = option.value;
    } else if (option.name == "--reason") {
      if (option.value.size() > Maintenance::kLongestReason || plain(option.value) != option.value)
        return wrong("--reason: at most " + std::to_string(Maintenance::kLongestReason) + " bytes in one line");
      out.reason = option.value;
    } else if (option.name == "--reboot") {
      reboot = true;
    } else {
      return wrong("unrecognized option '" + option.name + "'");
    }
  }
  if (out.nodes.empty()) return wrong("start: --nodes says which nodes are meant");
  if (reboot == !out.power_action.empty()) return wrong("start: --reboot, or --run with the name of a PowerAction");
  return out;
}

std::optional<rpc::MaintenanceOrder> order_of(std::string_view verb) {
  if (verb == "pause") return rpc::MaintenanceOrder::kPause;
  if (verb == "continue") return rpc::MaintenanceOrder::kContinue;
  if (verb == "cancel") return rpc::MaintenanceOrder::kCancel;
  return std::nullopt;
}

uint32_t count_of(const rpc::MaintenanceRow& row, MaintenanceStep step) {
  const auto at = static_cast<size_t>(step);
  return at < row.counts.size() ? row.counts[at] : 0;
}

uint32_t total_of(const rpc::MaintenanceRow& row) {
  uint32_t total = 0;
  for (uint32_t count : row.counts) total += count;
  return total;
}

// Nodes of the same step with the same reason are one line.
std::string nodes_text(const Maintenance& maintenance) {
  std::string out;
  for (size_t step = 0; step < kMaintenanceSteps; ++step) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
    for (const MaintenanceNode& n : maintenance.nodes) {
      if (static_cast<size_t>(n.step) != step) continue;
      auto at = std::ranges::find_if(by_reason, [&](const auto& r) { return r.first == n.why; });
      if (at == by_reason.end()) at = by_reason.insert(at, {n.why, {}});
      at->second.push_back(n.name);
    }
    for (const auto& [why, names] : by_reason)
      out += fmt::format("  {:<9} {}{}\n", maintenance_step_name(static_cast<MaintenanceStep>(step)), plain(compress_hosts(names)),
                         why.empty() ? "" : ": " + plain(why));
  }
  return out;
}

}  // namespace

Result<MaintenanceWords> read_maintenance_words(std::span<const std::string> arguments) {
  if (arguments.empty()) return wrong("start, show, pause, continue or cancel");
  std::string name;
  MUSTER_TRY(options, read_options(arguments.subspan(1), name));
  const std::string& verb = arguments.front();
  if (verb == "show") {
    MaintenanceShow show{name, false};
    for (const Option& o : options) {
      if (o.name != "--json") return wrong("unrecognized option '" + o.name + "'");
      show.json = true;
    }
    return show;
  }
  const auto order = order_of(verb);
  if (verb != "start" && !order) return wrong("'" + verb + "' is none of start, show, pause, continue and cancel");
  if (name.empty()) return wrong(verb + ": the name of the maintenance is missing");
  if (verb == "start") return read_start(options, name);
  if (!options.empty()) return wrong("unrecognized option '" + options.front().name + "'");
  return rpc::ControlMaintenance{name, *order};
}

std::string to_text(const rpc::MaintenanceRows& rows, const UserOf& user) {
  using enum MaintenanceStep;
  std::string out = fmt::format("{:<17}{:<10}{:<10}{:<21}{:>5}{:>8}{:>6}{:>6}{:>7}{:>8}\n", "NAME", "STATE", "OWNER", "BEGUN", "NODES",
                                "WAITING", "HELD", "DONE", "FAILED", "SKIPPED");
  for (const rpc::MaintenanceRow& row : rows.rows) {
    const Maintenance& m = row.maintenance;
    out += fmt::format("{:<16} {:<9} {:<9} {:<20} {:>5}{:>8}{:>6}{:>6}{:>7}{:>8}\n", plain(m.name), maintenance_state_name(m.state),
                       user(m.owner), format_time(m.begun), total_of(row), count_of(row, kWaiting),
                       count_of(row, kDraining) + count_of(row, kWorking), count_of(row, kDone), count_of(row, kFailed),
                       count_of(row, kSkipped));
    if (!m.why.empty()) out += "  it paused: " + plain(m.why) + "\n";
    if (!m.nodes.empty()) out += nodes_text(m);
  }
  return out;
}

std::string to_json(const rpc::MaintenanceRows& rows, const UserOf& user) {
  std::string out;
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, false, out);
  const auto text = [&](std::string_view key, std::string_view value) {
    sink->key(key);
    sink->text(value);
  };
  const auto number = [&](std::string_view key, int64_t value) {
    sink->key(key);
    sink->number(value);
  };
  sink->begin_object();
  sink->key("maintenances");
  sink->begin_list();
  for (const rpc::MaintenanceRow& row : rows.rows) {
    const Maintenance& maintenance = row.maintenance;
    sink->begin_object();
    text("name", maintenance.name);
    text("state", maintenance_state_name(maintenance.state));
    text("why", maintenance.why);
    text("owner", user(maintenance.owner));
    text("reason", maintenance.reason);
    text("power_action", maintenance.action);
    number("at_once", maintenance.at_once);
    number("stop_after", maintenance.stop_after);
    number("begun", unix_seconds(maintenance.begun));
    number("ended", maintenance.over() ? unix_seconds(maintenance.ended) : 0);
    for (size_t step = 0; step < kMaintenanceSteps; ++step)
      number(maintenance_step_name(static_cast<MaintenanceStep>(step)), count_of(row, static_cast<MaintenanceStep>(step)));
    sink->key("nodes");
    sink->begin_list();
    for (const MaintenanceNode& n : maintenance.nodes) {
      sink->begin_object();
      text("name", n.name);
      text("step", maintenance_step_name(n.step));
      text("why", n.why);
      number("since", unix_seconds(n.since));
      sink->end_object();
    }
    sink->end_list();
    sink->end_object();
  }
  sink->end_list();
  sink->end_object();
  return out + "\n";
}

}  // namespace muster::front
