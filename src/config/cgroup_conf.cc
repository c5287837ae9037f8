#include "config/cgroup_conf.h"

#include "base/text.h"
#include "config/record.h"

namespace muster::config {

const ConfigValue* SimpleConf::find(std::string_view key) const {
  for (const ConfigValue& v : values)
    if (iequals(v.row->name, key)) return &v;
  return nullptr;
}
std::string_view SimpleConf::text(std::string_view key) const {
  const ConfigValue* v = find(key);
  return v ? std::string_view(v->text) : std::string_view();
}
bool SimpleConf::yes(std::string_view key) const { return parse_yes_no(text(key)).value_or(false); }
int64_t SimpleConf::number(std::string_view key, int64_t otherwise) const {
  std::string_view t = text(key);
  return t.empty() ? otherwise : parse_integer(t).value_or(otherwise);
}

SimpleConf build_simple_conf(ConfFile file, const std::vector<Line>& lines, std::vector<ConfigError>& errors,
                             std::vector<ConfigNotice>& notices) {
  SimpleConf out;
  out.file = file;
  Findings findings{errors, notices};
  for (const KeyRow* row : rows_of(file, Section::kGlobal)) {
    ConfigValue v;
    v.row = row;
    if (row->default_text) v.text = row->default_text;
    out.values.push_back(std::move(v));
  }
  for (const Line& line : lines) {
    for (const KeyValue& given : line.values) {
      std::optional<CheckedPair> pair = check_pair(file, Section::kGlobal, given, findings);
      if (!pair) continue;
      const KeyRow* row = pair->row;
      const KeyValue& kv = pair->kv;
      for (ConfigValue& v : out.values) {
        if (v.row != row) continue;
        if (v.given && kv.op == Assign::kSet && !row->repeatable)
          findings.notice(kv.pos, row->name, "is given again; this value replaces the one at " + v.pos.text());
        v.text = v.given && row->repeatable ? v.text + "," + kv.value : apply_assign(v.given ? v.text : "", kv);
        if (v.text.empty() && row->default_text) v.text = row->default_text;
        v.given = true;
        v.pos = kv.pos;
      }
    }
  }
  return out;
}

namespace {
double percent_of(std::string_view text, double otherwise) {
  if (text.ends_with('%')) text.remove_suffix(1);
  double v = otherwise;
  auto [p, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  return ec == std::errc() && p == text.data() + text.size() ? v : otherwise;
}
}  // namespace

CgroupConf build_cgroup_conf(const std::vector<Line>& lines, std::vector<ConfigError>& errors, std::vector<ConfigNotice>& notices) {
  CgroupConf conf;
  conf.raw = build_simple_conf(ConfFile::kCgroup, lines, errors, notices);
  const SimpleConf& raw = conf.raw;
  conf.mountpoint = raw.text("CgroupMountpoint");
  conf.plugin = to_lower(raw.text("CgroupPlugin"));
  conf.slice = raw.text("CgroupSlice");
  conf.job_id_paths = raw.yes("CgroupJobIdPaths");
  conf.ignore_systemd = raw.yes("IgnoreSystemd");
  conf.ignore_systemd_on_failure = raw.yes("IgnoreSystemdOnFailure");
  conf.enable_controllers = raw.yes("EnableControllers");
  for (std::string_view w : split(raw.text("EnableExtraControllers"), ',')) conf.extra_controllers.push_back(to_lower(trim(w)));
  conf.systemd_timeout = milliseconds(raw.number("SystemdTimeout", 1000));
  conf.allowed_ram_percent = percent_of(raw.text("AllowedRAMSpace"), 100);
  conf.allowed_swap_percent = percent_of(raw.text("AllowedSwapSpace"), 0);
  conf.max_ram_percent = percent_of(raw.text("MaxRAMPercent"), 100);
  conf.max_swap_percent = percent_of(raw.text("MaxSwapPercent"), 100);
  conf.constrain_cores = raw.yes("ConstrainCores");
  conf.constrain_devices = raw.yes("ConstrainDevices");
  conf.constrain_ram = raw.yes("ConstrainRAMSpace");
  conf.constrain_swap = raw.yes("ConstrainSwapSpace");
  conf.signal_children = raw.yes("SignalChildrenProcesses");
  if (!raw.text("MemorySwappiness").empty()) conf.memory_swappiness = static_cast<uint32_t>(raw.number("MemorySwappiness"));
  if (Result<uint64_t> mb = parse_mem_mb(raw.text("MinRAMSpace"))) conf.min_ram_mb = *mb;
  return conf;
}

}  // namespace muster::config
