#include "muster/plan.h"

#include <algorithm>

#include "base/text.h"

namespace muster::front {
namespace {

struct Option {
  std::string_view name;
  std::string_view value;
};

// "n1", or "n[1-4]".
std::string node_list(const Plan& plan) { return plan.nodes == 1 ? "n1" : "n[1-" + std::to_string(plan.nodes) + "]"; }

Result<uint32_t> number(const Option& o, uint32_t min, uint32_t max) {
  std::optional<uint32_t> n = parse_number<uint32_t>(o.value, min, max);
  if (!n)
    return fail(Errc::kBadOption, std::string(o.name) + "=" + std::string(o.value) + ": expected a number from " + std::to_string(min) +
                                      " to " + std::to_string(max));
  return *n;
}

bool plain_word(std::string_view s) {
  for (char c : s)
    if (!(c == '_' || c == '.' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  return !s.empty() && s.size() <= 64;
}

Result<> set(Plan& plan, const Option& option) {
  if (option.name == "--nodes") {
    MUSTER_TRY(n, number(option, 1, kMaxNodes));
    plan.nodes = n;
  } else if (option.name == "--gpus-per-node") {
    MUSTER_TRY(n, number(option, 0, 64));
    plan.gpus_per_node = n;
  } else if (option.name == "--cpus") {
    MUSTER_TRY(n, number(option, 1, 1024));
    plan.cpus = n;
  } else if (option.name == "--memory") {
    Result<uint64_t> mb = parse_mem_mb(option.value);
    if (!mb || *mb == 0 || *mb > (uint64_t{1} << 30))
      return fail(Errc::kBadOption, "--memory=" + std::string(option.value) + ": expected a size such as 64G");
    plan.memory_mb = *mb;
  } else if (option.name == "--gpu-type") {
    if (!plain_word(option.value))
      return fail(Errc::kBadOption, "--gpu-type=" + std::string(option.value) + ": expected letters, digits, '_', '.' and '-'");
    plan.gpu_type = std::string(option.value);
  } else if (option.name == "--state") {
    if (option.value.empty()) return fail(Errc::kBadOption, "--state: expected a directory");
    plan.state = std::string(option.value);
  }
  return {};
}

Result<> check_name(std::string_view name) {
  static const std::vector<std::string_view> kNames = {"--nodes",  "--gpus-per-node", "--gpu-type",     "--cpus",
                                                       "--memory", "--state",         "--no-accounting"};
  if (std::ranges::find(kNames, name) != kNames.end()) return {};
  const std::string_view near = did_you_mean(name, kNames);
  return fail(Errc::kBadOption, "unrecognized option '" + std::string(name) + "'",
              near.empty() ? "muster --help lists the options" : "did you mean " + std::string(near) + "?");
}

}  // namespace

Result<Plan> parse_plan(Action action, std::span<const std::string> arguments) {
  Plan plan;
  plan.action = action;
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string& argument = arguments[index];
    if (!argument.starts_with("-")) {
      if (action != Action::kLogs || !plan.log_name.empty()) return fail(Errc::kBadOption, "too many words: '" + argument + "'");
      plan.log_name = argument;
      continue;
    }
    if (argument == "--no-accounting") {
      plan.accounting = false;
      continue;
    }
    size_t equals = argument.find('=');
    MUSTER_TRY_VOID(check_name(std::string_view(argument).substr(0, equals)));
    if (equals == std::string::npos && index + 1 >= arguments.size())
      return fail(Errc::kBadOption, "option '" + argument + "' requires an argument");
    std::string_view whole = argument;
    Option o = equals == std::string::npos ? Option{whole, arguments[++index]} : Option{whole.substr(0, equals), whole.substr(equals + 1)};
    MUSTER_TRY_VOID(set(plan, o));
  }
  return plan;
}

std::vector<std::string> node_names(const Plan& plan) {
  std::vector<std::string> out;
  for (uint32_t i = 1; i <= plan.nodes; ++i) out.push_back("n" + std::to_string(i));
  return out;
}

namespace {
constexpr std::string_view kYours = "# What stands below this line is yours: muster up keeps it.";
uint32_t dbd_port(const Plan& plan, const ConfInputs& in) { return in.first_port + plan.nodes + 1; }
}  // namespace

std::string slurmdbd_conf(const Plan& plan, const ConfInputs& in) {
  return "# Written by muster up; it is written anew each time.\nDbdHost=" + in.host +
         "\nDbdAddr=127.0.0.1\nDbdPort=" + std::to_string(dbd_port(plan, in)) + "\nAuthType=auth/slurm\nSlurmUser=" + in.user +
         "\nPidFile=" + in.directory + "/run/slurmdbd.pid\nLogFile=" + in.directory +
         "/log/slurmdbd.log\nStorageType=accounting_storage/sqlite\nStorageLoc=" + in.directory + "/state/accounting.db\n";
}

std::string slurm_conf(const Plan& plan, const ConfInputs& in) {
  std::string ports = plan.nodes == 1 ? std::to_string(in.first_port + 1)
                                      : "[" + std::to_string(in.first_port + 1) + "-" + std::to_string(in.first_port + plan.nodes) + "]";
  std::string gres = plan.gpus_per_node ? " Gres=gpu:" + plan.gpu_type + ":" + std::to_string(plan.gpus_per_node) : "";
  std::string out = "# Written by muster up, anew each time down to the line that says from where on it is yours.\n";
  auto line = [&](std::string_view key, const std::string& value) { out.append(key).append("=").append(value).append("\n"); };
  line("ClusterName", "muster");
  line("SlurmctldHost", in.host + "(127.0.0.1)");
  line("SlurmctldPort", std::to_string(in.first_port));
  line("AuthType", "auth/slurm");
  line("CommunicationParameters", "NoCtldInAddrAny,NoInAddrAny");  // the whole cluster is on this host
  line("CredType", "cred/slurm");
  line("SlurmUser", in.user);
  line("SlurmdUser", in.user);
  line("StateSaveLocation", in.directory + "/state");
  line("SlurmdSpoolDir", in.directory + "/spool/%n");
  line("SlurmctldPidFile", in.directory + "/run/slurmctld.pid");
  line("SlurmdPidFile", in.directory + "/run/slurmd.%n.pid");
  line("SlurmctldLogFile", in.directory + "/log/slurmctld.log");
  line("SlurmdLogFile", in.directory + "/log/slurmd.%n.log");
  line("ProctrackType", "proctrack/linuxproc");
  line("TaskPlugin", "task/none");
  line("SlurmdParameters", "config_overrides");
  line("ReturnToService", "2");
  line("KillWait", "5");
  line("SelectType", "select/cons_tres");
  line("SelectTypeParameters", "CR_CPU_Memory");
  line("DefMemPerCPU", std::to_string(std::max<uint64_t>(1, plan.memory_mb / plan.cpus)));
  if (plan.gpus_per_node) line("GresTypes", "gpu");
  if (plan.accounting) {
    line("AccountingStorageType", "accounting_storage/slurmdbd");
    line("AccountingStorageHost", "127.0.0.1");
    line("AccountingStoragePort", std::to_string(dbd_port(plan, in)));
    line("JobAcctGatherType", "jobacct_gather/linux");  // for seff, sstat and `muster report efficiency`
    if (plan.gpus_per_node) line("AccountingStorageTRES", "gres/gpu,gres/gpu:" + plan.gpu_type);
  }
  out += "NodeName=" + node_list(plan) + " NodeHostname=" + in.host + " NodeAddr=127.0.0.1 Port=" + ports +
         " CPUs=" + std::to_string(plan.cpus) + " RealMemory=" + std::to_string(plan.memory_mb) + gres + " State=UNKNOWN\n";
  out += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
  return out.append(kYours) + "\n";
}

std::string lines_of_the_site(const std::string& conf) {
  const size_t at = conf.find(kYours);
  if (at == std::string::npos) return {};
  const size_t end = conf.find('\n', at);
  return end == std::string::npos ? "" : conf.substr(end + 1);
}

std::string gres_conf(const Plan& plan) {
  std::string out = "# Written by muster up. Counted GPUs: no device files stand behind them.\n";
  if (plan.gpus_per_node)
    out += "NodeName=" + node_list(plan) + " Name=gpu Type=" + plan.gpu_type + " Count=" + std::to_string(plan.gpus_per_node) + "\n";
  return out;
}

}  // namespace muster::front
