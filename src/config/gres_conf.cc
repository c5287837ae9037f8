#include "config/gres_conf.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"
#include "config/foreign_nodes.h"
#include "config/hosts.h"
#include "config/record.h"
#include "config/slurm_build.h"

namespace muster::config {

namespace {

constexpr std::array<std::string_view, 8> kAutoDetectNames = {"", "off", "full", "nrt", "nvidia", "nvml", "oneapi", "rsmi"};
constexpr size_t kMaxFiles = 1024;

AutoDetect parse_autodetect(std::string_view text) {
  for (size_t i = 1; i < kAutoDetectNames.size(); ++i)
    if (iequals(text, kAutoDetectNames[i])) return static_cast<AutoDetect>(i);
  return AutoDetect::kUnset;
}

uint32_t parse_flags(std::string_view text) {
  constexpr std::pair<const char*, uint32_t> kFlags[] = {
      {"CountOnly", kGresCountOnly},    {"env_uuid", kGresEnvUuid},         {"explicit", kGresExplicit},  {"one_sharing", kGresOneSharing},
      {"all_sharing", kGresAllSharing}, {"nvidia_gpu_env", kGresEnvNvidia}, {"amd_gpu_env", kGresEnvAmd}, {"intel_gpu_env", kGresEnvIntel},
      {"opencl_env", kGresEnvOpencl},   {"no_gpu_env", kGresNoEnv}};
  uint32_t out = 0;
  for (std::string_view word : split(text, ','))
    for (const auto& [name, bit] : kFlags)
      if (iequals(trim(word), name)) out |= bit;
  return out;
}

constexpr uint32_t kEnvironmentFlags = kGresEnvNvidia | kGresEnvAmd | kGresEnvIntel | kGresEnvOpencl | kGresNoEnv;

// A line that sets no environment flag of its own takes them from the line above when nodes, name and type are the same.
void inherit_environment(GresLine& line, const GresConf& conf) {
  if (conf.lines.empty() || line.flags & kEnvironmentFlags) return;
  const GresLine& above = conf.lines.back();
  if (above.name == line.name && above.type == line.type && above.all_nodes == line.all_nodes && above.nodes == line.nodes)
    line.flags |= above.flags & kEnvironmentFlags;
}

// "0-3,8", also in brackets.
void read_cores(const Record& r, GresLine& line, Findings& f) {
  std::string_view text = r.text("Cores");
  if (text.empty()) return;
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (bracketed) text = text.substr(1, text.size() - 2);
  if (!Bitmap::parse_ranges(text, line.cores, 65536)) return f.error(r.pos("Cores"), "Cores", "must be core numbers such as 0-3 or 0,2");
  if (bracketed)
    f.notice(r.pos("Cores"), "Cores", "takes numbers without brackets; read as " + std::string(text), "write Cores=" + std::string(text));
}

void read_links(const Record& r, GresLine& line, Findings& f) {
  for (std::string_view word : split(r.text("Links"), ',')) {
    std::optional<int32_t> n = parse_number<int32_t>(trim(word), -1, 65535);
    if (!n || line.links.size() >= kMaxFiles) return f.error(r.pos("Links"), "Links", "must be numbers of links such as -1,4,0,0");
    line.links.push_back(*n);
  }
  if (!line.links.empty() && line.files.size() > 1)
    f.error(r.pos("Links"), "Links", "needs a line with one device", "write a line for each File");
}

void read_files(const Record& record, GresLine& line, Findings& findings) {
  line.multiple_files = record.has("MultipleFiles");
  if (line.multiple_files && record.has("File"))
    return findings.error(record.pos("MultipleFiles"), "MultipleFiles", "cannot be combined with File", "remove one of the two");
  std::string_view key = line.multiple_files ? "MultipleFiles" : "File";
  std::string_view text = record.text(key);
  if (text.empty()) return;
  Result<std::vector<std::string>> files = expand_hosts(text, kMaxFiles);
  if (!files) return findings.error(record.pos(key), std::string(key), files.error().text);
  line.files = std::move(*files);
  for (const std::string& file : line.files)
    if (file.front() != '/')
      return findings.error(record.pos(key), std::string(key), "\"" + file.substr(0, 80) + "\" must be an absolute path");
}

void read_count(const Record& r, GresLine& line, Findings& f) {
  size_t devices = line.multiple_files ? (line.files.empty() ? 0 : 1) : line.files.size();
  line.count = devices ? devices : 1;
  if (!r.has("Count")) return;
  line.count = parse_count(r.text("Count")).value_or(0);
  if (devices && line.count != devices && !is_shared_gres(line.name))
    f.error(r.pos("Count"), "Count", "is " + std::to_string(line.count) + ", but File names " + std::to_string(devices) + " devices",
            "leave Count out");
}

// Reports a line that is of no use, and returns false for it.
bool read_name(const Record& r, const Config& config, GresLine& line, Findings& f) {
  line.name = r.text("Name");
  line.type = r.text("Type");
  if (line.name.empty()) return true;
  if (std::find(config.gres_types.begin(), config.gres_types.end(), line.name) != config.gres_types.end()) return true;
  std::vector<std::string_view> known(config.gres_types.begin(), config.gres_types.end());
  std::string_view near = did_you_mean(line.name, known);
  f.error(r.pos("Name"), "Name", "\"" + line.name + "\" is not in GresTypes of slurm.conf",
          near.empty() ? "add it: GresTypes=" + (known.empty() ? "" : join(config.gres_types, ",") + ",") + line.name
                       : "did you mean " + std::string(near) + "?");
  return false;
}

// Whether the type is the profile of a MIG instance as nvidia-smi names it: "a100_3g.20gb", "1g.5gb".
bool names_mig_profile(std::string_view type) {
  const size_t g = type.find("g.");
  return g != std::string_view::npos && g > 0 && type[g - 1] >= '0' && type[g - 1] <= '9' && type.ends_with("gb");
}

// What somebody who gave the same device file on two lines probably meant.
std::string instead_of_twice(std::string_view type, std::string_view type_before) {
  if (names_mig_profile(type) || names_mig_profile(type_before))
    return "MIG instances are devices of their own: AutoDetect=nvml finds them, or give each a line with "
           "MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-capN,/dev/nvidia-caps/nvidia-capM";
  if (type != type_before) return "a device has one type: give each type its own files";
  return "remove one of the lines";
}

// Finds devices given on two lines: they would be handed out twice. MIG instances have files of their own.
class DoubleUse {
 public:
  void check(const GresLine& line, Findings& findings) {
    if (line.files.empty() || is_shared_gres(line.name)) return;
    bool reported = false;
    for (const std::string& file : line.files) {
      Seen& seen = by_device_[line.name + " " + file];
      bool again = seen.any && (seen.all_nodes || line.all_nodes || seen.nodes.intersects(line.nodes));
      if (again && !reported) {
        reported = true;
        findings.notice(line.where, "File", file + " is already given at " + seen.where.text() + ", so it counts twice",
                        instead_of_twice(line.type, seen.type));
      }
      seen.any = true;
      seen.all_nodes = seen.all_nodes || line.all_nodes;
      seen.nodes |= line.nodes;
      seen.where = line.where;
      seen.type = line.type;
    }
  }

 private:
  struct Seen {
    bool any = false, all_nodes = false;
    Bitmap nodes;
    SourcePos where;
    std::string type;
  };
  std::unordered_map<std::string, Seen> by_device_;
};

// Adds what a line says to `out`, unless there is an error in it.
void read_line(const Line& in, const Config& config, const NodeIndex& index, GresConf& out, DoubleUse& uses, ForeignNodes& foreign,
               Findings& findings) {
  Record record(ConfFile::kGres, Section::kGresLine);
  record.add(in, findings);
  if (!findings.errors.empty()) return;
  GresLine line;
  line.where = in.pos;
  line.autodetect = parse_autodetect(record.text("AutoDetect"));
  if (record.has("NodeName")) {
    line.all_nodes = false;
    line.nodes = resolve_nodes(record.text("NodeName"), record.pos("NodeName"), "NodeName", config, index, findings, &foreign);
    if (line.nodes.none()) return;  // a line for other clusters: whether the rest of it is right is their affair
  }
  if (!record.has("Name")) {
    if (line.autodetect == AutoDetect::kUnset) return findings.error(in.pos, "Name", "is missing", "a line needs Name= or AutoDetect=");
    if (line.all_nodes) out.autodetect = line.autodetect;
    else out.lines.push_back(std::move(line));
    return;
  }
  if (line.all_nodes && line.autodetect != AutoDetect::kUnset) {
    out.autodetect = line.autodetect;
    line.autodetect = AutoDetect::kUnset;
  }
  if (!read_name(record, config, line, findings)) return;
  read_files(record, line, findings);
  read_cores(record, line, findings);
  read_links(record, line, findings);
  line.flags = parse_flags(record.text("Flags"));
  inherit_environment(line, out);
  if ((line.flags & kGresNoEnv) && (line.flags & kEnvironmentFlags & ~kGresNoEnv))
    findings.error(record.pos("Flags"), "Flags", "no_gpu_env excludes every other flag for the environment");
  if ((line.flags & kGresOneSharing) && (line.flags & kGresAllSharing))
    findings.error(record.pos("Flags"), "Flags", "one_sharing and all_sharing exclude each other");
  read_count(record, line, findings);
  if (!findings.errors.empty()) return;
  uses.check(line, findings);
  out.lines.push_back(std::move(line));
}

// A node with fewer devices than slurm.conf says is drained, so leaving out a line that makes no sense misplaces no work, and the rest of
// the file counts.
void take_line(const Line& in, const Config& config, GresConf& out, DoubleUse& uses, ForeignNodes& foreign, Findings& f) {
  std::vector<ConfigError> faults;
  Findings of_line{faults, f.notices};
  read_line(in, config, *config.index, out, uses, foreign, of_line);
  for (ConfigError& e : faults) {
    e.message += "; the line is left out";
    if (f.notices.size() < 1000) f.notices.push_back(std::move(e));
  }
}

}  // namespace

std::string_view autodetect_name(AutoDetect a) { return kAutoDetectNames[static_cast<size_t>(a)]; }

GresConf build_gres_conf(const std::vector<Line>& lines, const Config& config, std::vector<ConfigError>& errors,
                         std::vector<ConfigNotice>& notices) {
  GresConf out;
  out.present = true;
  Findings findings{errors, notices};
  DoubleUse uses;
  ForeignNodes foreign;
  for (const Line& line : lines) take_line(line, config, out, uses, foreign, findings);
  foreign.tell("NodeName", findings);
  return out;
}

AutoDetect autodetect_of(const GresConf& conf, uint32_t node) {
  for (const GresLine& line : conf.lines)
    if (line.autodetect != AutoDetect::kUnset && line.nodes.test(node)) return line.autodetect;
  return conf.autodetect;
}

namespace {
uint64_t listed(const std::vector<GresDevices>& devices, const GresItem& item) {
  uint64_t n = 0;
  for (const GresDevices& d : devices)
    if (d.name == item.name && (item.type.empty() || d.type == item.type)) n += d.count;
  return n;
}

uint32_t next_index(const std::vector<GresDevices>& devices, const std::string& name) {
  uint64_t n = 0;
  for (const GresDevices& d : devices)
    if (d.name == name) n += d.count;
  return static_cast<uint32_t>(std::min<uint64_t>(n, UINT32_MAX));
}

void add_line(const GresLine& line, std::vector<GresDevices>& out) {
  if (is_shared_gres(line.name)) return;  // added once the GPUs are known (SharesOfGpus)
  GresDevices d;
  d.name = line.name;
  d.type = line.type;
  d.count = line.count;
  d.first_index = next_index(out, line.name);
  d.count_only = (line.flags & kGresCountOnly) != 0 || (line.files.empty() && line.name != "gpu");
  d.files = line.files;
  d.cores = line.cores;
  d.links = line.links;
  d.flags = line.flags;
  out.push_back(std::move(d));
}

// Adds the devices that Gres= of the NodeName line counts beyond those of gres.conf.
void add_counted(const NodeTemplate& line, std::vector<GresDevices>& out) {
  for (const GresItem& item : line.gres) {
    uint64_t have = listed(out, item);
    if (is_shared_gres(item.name) || have >= item.count) continue;
    GresDevices d;
    d.name = item.name;
    d.type = item.type;
    d.count = item.count - have;
    d.first_index = next_index(out, item.name);
    d.count_only = item.no_consume || item.name != "gpu";
    if (item.no_consume) d.flags |= kGresNoConsume;
    out.push_back(std::move(d));
  }
}

// Adds the shares of GPUs (mps, shard). They follow the GPUs in the list because a request for whole GPUs is looked up first.
class SharesOfGpus {
 public:
  explicit SharesOfGpus(std::vector<GresDevices>& devices) : devices_(devices) {
    for (const GresDevices& d : devices)
      for (uint64_t i = 0; d.name == "gpu" && i < d.count; ++i)
        gpus_.push_back({d.first_index + static_cast<uint32_t>(i), d.type, d.cores, i < d.files.size() ? d.files[i] : std::string()});
  }

  // A line of gres.conf gives its count to each GPU it names, or, if it names none, spreads it over all GPUs.
  void add(const GresLine& line) {
    if (!is_shared_gres(line.name)) return;
    if (line.files.empty()) return spread(line.name, line.count, line.flags);
    for (const Gpu& gpu : gpus_)
      if (std::find(line.files.begin(), line.files.end(), gpu.file) != line.files.end()) push(line.name, gpu, line.count, line.flags);
  }

  // Gres= of the NodeName line counts only where gres.conf has no shares of that name.
  void add(const GresItem& item) {
    if (is_shared_gres(item.name) && listed(devices_, {item.name, "", 0, false, ""}) == 0) spread(item.name, item.count, 0);
  }

 private:
  struct Gpu {
    uint32_t index;
    std::string type;
    Bitmap cores;
    std::string file;
  };

  void spread(const std::string& name, uint64_t count, uint32_t flags) {
    for (size_t i = 0; i < gpus_.size(); ++i) push(name, gpus_[i], count / gpus_.size() + (i < count % gpus_.size()), flags);
  }

  void push(const std::string& name, const Gpu& gpu, uint64_t count, uint32_t flags) {
    if (count == 0) return;
    GresDevices d;
    d.name = name;
    d.type = gpu.type;
    d.count = count;
    d.first_index = gpu.index;
    d.cores = gpu.cores;
    d.flags = flags;
    d.shared = true;
    if (!gpu.file.empty()) d.files = {gpu.file};
    devices_.push_back(std::move(d));
  }

  std::vector<GresDevices>& devices_;
  std::vector<Gpu> gpus_;
};

void add_shared(const GresConf& conf, const Config& config, uint32_t node, std::vector<GresDevices>& out) {
  SharesOfGpus shares(out);
  for (const GresLine& line : conf.lines)
    if (line.all_nodes || line.nodes.test(node)) shares.add(line);
  for (const GresItem& item : config.nodes[node].line->gres) shares.add(item);
}

// explicit, one_sharing and all_sharing hold for all devices of that name on all nodes, whichever line has the flag.
class FlagsOfNames {
 public:
  explicit FlagsOfNames(const GresConf& conf) {
    for (const GresLine& line : conf.lines)
      if (const uint32_t flags = line.flags & (kGresExplicit | kGresOneSharing | kGresAllSharing)) flags_[line.name] |= flags;
  }
  void add_to(std::vector<GresDevices>& devices) const {
    if (flags_.empty()) return;
    for (GresDevices& d : devices)
      if (auto it = flags_.find(d.name); it != flags_.end()) d.flags |= it->second;
  }

 private:
  std::unordered_map<std::string, uint32_t> flags_;
};

bool has_shared_kinds(const Config& config) { return std::any_of(config.gres_types.begin(), config.gres_types.end(), is_shared_gres); }

}  // namespace

std::vector<GresDevices> devices_of(const GresConf& conf, const Config& config, uint32_t node) {
  std::vector<GresDevices> out;
  for (const GresLine& line : conf.lines)
    if (!line.name.empty() && (line.all_nodes || line.nodes.test(node))) add_line(line, out);
  add_counted(*config.nodes[node].line, out);
  if (has_shared_kinds(config)) add_shared(conf, config, node, out);
  FlagsOfNames(conf).add_to(out);
  return out;
}

std::vector<std::vector<GresDevices>> devices_of_all(const GresConf& conf, const Config& config) {
  std::vector<std::vector<GresDevices>> out(config.nodes.size());
  for (const GresLine& line : conf.lines) {
    if (line.name.empty()) continue;
    if (line.all_nodes)
      for (std::vector<GresDevices>& devices : out) add_line(line, devices);
    else line.nodes.for_each([&](size_t i) { add_line(line, out[i]); });
  }
  for (size_t i = 0; i < out.size(); ++i) add_counted(*config.nodes[i].line, out[i]);
  if (has_shared_kinds(config))
    for (uint32_t i = 0; i < out.size(); ++i) add_shared(conf, config, i, out[i]);
  const FlagsOfNames flags(conf);
  for (std::vector<GresDevices>& devices : out) flags.add_to(devices);
  return out;
}

}  // namespace muster::config
