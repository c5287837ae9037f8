#include "config/runtime.h"

#include <algorithm>

#include "config/record.h"
#include "config/slurm_bind.h"
#include "config/slurm_build.h"

namespace muster::config {
namespace {

std::unexpected<Error> invalid(const std::vector<ConfigError>& errors) {
  const ConfigError& e = errors.front();
  return fail(Errc::kInvalidArgument, (e.key.empty() ? "" : e.key + ": ") + e.message, e.hint);
}

}  // namespace

Result<> set_value(Config& config, std::string_view key, std::string_view op, std::string_view value) {
  KeyValue kv;
  kv.key = key;
  kv.value = value;
  kv.op = op == "+=" ? Assign::kAppend : op == "-=" ? Assign::kRemove : Assign::kSet;
  std::vector<ConfigError> errors;
  std::vector<ConfigNotice> notices;
  Findings findings{errors, notices, true};
  std::optional<CheckedPair> pair = check_pair(ConfFile::kSlurm, Section::kGlobal, kv, findings);
  if (!errors.empty()) return invalid(errors);
  const KeyRow* row = pair ? pair->row : nullptr;
  auto known = std::ranges::find_if(config.values, [&](const ConfigValue& v) { return v.row == row; });
  auto bound = std::ranges::find_if(bindings(), [&](const Binding& b) { return row && std::string_view(b.key) == row->name; });
  if (!row || known == config.values.end() || bound == bindings().end())
    return fail(Errc::kInvalidArgument, "Update of this parameter is not supported: " + std::string(key));
  known->text = apply_assign(known->text, kv);
  known->given = true;
  if (!known->text.empty()) {
    assign(config, *row, bound->member, known->text);
    return {};
  }
  std::visit([&](auto member) { config.*member = Config().*member; }, bound->member);
  return {};
}

Result<std::vector<NodeConfig>> parse_node_line(const Config& config, const std::string& line) {
  MemoryFiles files{{"scontrol", line + "\n"}};
  ParsedFile parsed = parse_file(files, "scontrol");
  if (!parsed.errors.empty()) return invalid(parsed.errors);
  Config probe;
  probe.gres_types = config.gres_types;
  probe.accounting_storage_tres = config.accounting_storage_tres;
  probe.slurmd_port = config.slurmd_port;
  std::vector<const Line*> lines;
  for (const Line& l : parsed.lines) lines.push_back(&l);
  std::vector<ConfigError> errors;
  std::vector<ConfigNotice> notices;
  Findings findings{errors, notices, true};
  NodeIndex index;
  build_nodes(lines, probe, index, findings);
  if (!errors.empty()) return invalid(errors);
  return std::move(probe.nodes);
}

size_t most_nodes(const Config& config) { return std::max<size_t>(config.max_node_count.value_or(0), config.nodes.size()); }

}  // namespace muster::config
