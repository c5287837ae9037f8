#include "slurmd/daemon/task_layout.h"

#include <algorithm>

#include "base/text.h"
#include "model/file_pattern.h"
#include "os/node/affinity.h"

namespace muster::slurmd {
namespace {

// Words of a line, with quotes and backslashes as a shell has them.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    char c = line[i];
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
      open = true;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      open = true;
    } else if (!quote && (c == ' ' || c == '\t')) {
      if (open) out.push_back(std::exchange(word, {}));
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) out.push_back(word);
  return out;
}

// The place of `rank` in "0,4-6,*"; nullopt: it is not in it.
std::optional<uint32_t> offset_in(std::string_view ranks, uint32_t rank) {
  if (ranks == "*") return rank;
  uint32_t before = 0;
  for (std::string_view part : split(ranks, ',')) {
    if (part == "*") return before;
    size_t dash = part.find('-');
    auto first = parse_number<uint32_t>(part.substr(0, dash));
    auto last = dash == part.npos ? first : parse_number<uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last < *first) continue;
    if (rank >= *first && rank <= *last) return before + (rank - *first);
    before += *last - *first + 1;
  }
  return std::nullopt;
}

std::string replace_symbols(const std::string& word, uint32_t rank, uint32_t offset) {
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '%' && i + 1 < word.size() && (word[i + 1] == 't' || word[i + 1] == 'o')) {
      out += std::to_string(word[++i] == 't' ? rank : offset);
    } else {
      out += word[i];
    }
  }
  return out;
}

struct Binding {
  enum class Kind { kNone, kAuto, kMap, kMask } kind = Kind::kNone;
  std::vector<Bitmap> list;  // by local task, repeated
};

Result<Binding> parse_cpu_bind(const std::string& text, bool affinity) {
  Binding b;
  if (!affinity) return b;
  b.kind = Binding::Kind::kAuto;
  for (std::string_view part : split(text, ',')) {
    if (part == "none" || part == "no") b.kind = Binding::Kind::kNone;
    bool map = part.starts_with("map_cpu:"), mask = part.starts_with("mask_cpu:");
    if (!map && !mask) continue;
    // The rest of the text is the list.
    std::string_view rest =
        std::string_view(text).substr(text.find(map ? "map_cpu:" : "mask_cpu:") + (map ? 8 : 9));
    b.kind = map ? Binding::Kind::kMap : Binding::Kind::kMask;
    for (std::string_view item : split(rest, ',')) {
      Bitmap one;
      if (map) {
        auto n = parse_number<uint32_t>(item.starts_with("0x") ? item.substr(2) : item, 0, 65535);
        if (!n)
          return fail(Errc::kInvalidArgument, "--cpu-bind: '" + std::string(item) + "' is no CPU number");
        one.set(*n);
      } else {
        MUSTER_TRY(parsed, os::parse_cpu_mask(item));
        one = std::move(parsed);
      }
      b.list.push_back(std::move(one));
    }
    if (b.list.empty()) return fail(Errc::kInvalidArgument, "--cpu-bind: the list is empty");
    break;
  }
  return b;
}

// The CPUs (model numbers) of one task: slices of the step's when there are enough, else all of them.
Bitmap cpus_of_task(const Bitmap& step_cpus, uint32_t local_id, uint32_t tasks_here, uint32_t cpus_per_task) {
  size_t each = cpus_per_task ? cpus_per_task : step_cpus.count() / std::max(1u, tasks_here);
  if (each == 0 || each * tasks_here > step_cpus.count()) return step_cpus;
  Bitmap out(step_cpus.size());
  size_t skip = each * local_id, taken = 0;
  step_cpus.for_each([&](size_t cpu) {
    if (skip > 0)
      --skip;
    else if (taken++ < each)
      out.set(cpu);
  });
  return out;
}

Bitmap cores_of(const Bitmap& cpus, uint32_t threads_per_core) {
  Bitmap out;
  cpus.for_each([&](size_t cpu) { out.set(cpu / std::max(1u, threads_per_core)); });
  return out;
}

// Where cgroups hide all but the step's devices, those count from 0.
std::vector<std::string> bound_gpu_environment(const NodeContext& context, const Bitmap& step_gpus,
                                               const Bitmap& bound) {
  std::vector<GresShare> share(1);
  share[0].name = "gpu";
  size_t place = 0;
  step_gpus.for_each([&](size_t gpu) {
    if (bound.test(gpu)) share[0].devices.set(context.devices_constrained ? place : gpu);
    ++place;
  });
  NodeContext as_numbered = context;
  as_numbered.devices_constrained = false;
  std::vector<std::string> out = gpu_environment(as_numbered, share, "");
  std::erase_if(out, [](const std::string& e) { return e.starts_with("SLURM_"); });
  return out;
}

}  // namespace

Result<std::vector<std::string>> multi_prog_argv(std::string_view text, uint32_t rank) {
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    size_t end = line.find_first_of(" \t");
    auto offset = offset_in(line.substr(0, end), rank);
    if (!offset) continue;
    std::vector<std::string> argv =
        end == line.npos ? std::vector<std::string>{} : words_of(trim(line.substr(end)));
    if (argv.empty()) break;
    for (std::string& w : argv) w = replace_symbols(w, rank, *offset);
    return argv;
  }
  return fail(Errc::kInvalidArgument, "--multi-prog: no program for task " + std::to_string(rank));
}

Result<Bitmap> gpus_of_task(std::string_view tres_bind, const Bitmap& gpus, uint32_t local_id,
                            uint32_t tasks_here, const std::vector<GresDevices>& devices,
                            const Bitmap& task_cores) {
  Bitmap out;
  std::string_view how = tres_bind;
  if (size_t at = how.find("gres/gpu:"); at != how.npos)
    how = how.substr(at + 9);
  else if (how.starts_with("gpu:"))
    how = how.substr(4);
  if (how.starts_with("verbose,")) how = how.substr(8);
  if (how.starts_with("v,")) how = how.substr(2);
  if (how.empty() || how == "none") return out;
  std::vector<size_t> list;
  gpus.for_each([&](size_t i) { list.push_back(i); });
  if (list.empty()) return out;
  if (how.starts_with("closest")) return os::closest_devices(devices, gpus, task_cores);
  auto number_after = [&](std::string_view word) {
    return parse_number<uint32_t>(how.substr(word.size()), 1);
  };
  if (how.starts_with("single:")) {
    auto tasks_per_gpu = number_after("single:");
    if (!tasks_per_gpu) return fail(Errc::kInvalidArgument, "--gpu-bind: single: needs a number of tasks");
    out.set(list[local_id / *tasks_per_gpu % list.size()]);
  } else if (how.starts_with("per_task:")) {
    auto each = number_after("per_task:");
    if (!each) return fail(Errc::kInvalidArgument, "--gpu-bind: per_task: needs a number of GPUs");
    for (uint32_t i = 0; i < *each; ++i) out.set(list[(local_id * *each + i) % list.size()]);
  } else if (how.starts_with("map_gpu:") || how.starts_with("map:")) {
    std::vector<size_t> map;
    for (std::string_view item : split(how.substr(how.find(':') + 1), ',')) {
      size_t star = item.find('*');
      auto n = parse_number<uint32_t>(item.substr(0, star), 0, 65535);
      auto times = star == item.npos ? std::optional<uint32_t>(1)
                                     : parse_number<uint32_t>(item.substr(star + 1), 1, 65536);
      if (!n || !times)
        return fail(Errc::kInvalidArgument, "--gpu-bind: '" + std::string(item) + "' is no GPU number");
      map.insert(map.end(), *times, *n);
    }
    if (map.empty()) return fail(Errc::kInvalidArgument, "--gpu-bind: the list is empty");
    size_t n = map[local_id % map.size()];
    if (n < list.size()) out.set(list[n]);
  } else if (how.starts_with("mask_gpu:") || how.starts_with("mask:")) {
    std::vector<std::string_view> masks = split(how.substr(how.find(':') + 1), ',');
    if (masks.empty()) return fail(Errc::kInvalidArgument, "--gpu-bind: the list is empty");
    MUSTER_TRY(mask, os::parse_cpu_mask(masks[local_id % masks.size()]));
    mask.for_each([&](size_t n) {
      if (n < list.size()) out.set(list[n]);
    });
  } else {
    return fail(Errc::kInvalidArgument, "--gpu-bind=" + std::string(how) + " is not known");
  }
  (void)tasks_here;
  return out;
}

Result<std::vector<step_rpc::TaskLaunch>> lay_out_tasks(const Setup& s, const rpc::StepCredential& c,
                                                        size_t node_index, const StepRequest& r,
                                                        const Bitmap& cpus, const NodeContext& context) {
  const rpc::StepNode& here = c.nodes[node_index];
  auto count = static_cast<uint32_t>(here.ranks.size());
  if (count == 0) return fail(Errc::kInvalidTaskCount, "no task of the step is for node " + s.node);
  bool affinity = s.cpus_are_real && std::ranges::any_of(s.config().task_plugins, [](const std::string& p) {
                    return p == "affinity" || p == "task/affinity";
                  });
  MUSTER_TRY(binding, parse_cpu_bind(r.cpu_bind, affinity));
  Bitmap gpus;
  for (const GresShare& g : here.gres)
    if (g.name == "gpu") gpus |= g.devices;
  std::vector<step_rpc::TaskLaunch> out(count);
  for (uint32_t i = 0; i < count; ++i) {
    step_rpc::TaskLaunch& t = out[i];
    t.rank = here.ranks[i];
    t.argv = r.argv;
    if (r.multi_prog) {
      MUSTER_TRY(argv, multi_prog_argv(r.multi_prog_text, t.rank));
      t.argv = std::move(argv);
    }
    if (t.argv.empty()) return fail(Errc::kInvalidArgument, "no program to run");
    t.environment = task_environment(t.rank, i);
    Bitmap mine = cpus_of_task(cpus, i, count, r.cpus_per_task);
    if (binding.kind == Binding::Kind::kAuto)
      t.os_cpus = s.cpus.to_os(mine);
    else if (!binding.list.empty())
      t.os_cpus = binding.list[i % binding.list.size()];
    else if (affinity)
      t.os_cpus = s.cpus.to_os(cpus);
    MUSTER_TRY(bound, gpus_of_task(r.tres_bind, gpus, i, count, s.hardware.gres,
                                   cores_of(mine, s.cpus.threads_per_core)));
    if (bound.any()) {
      for (std::string& e : bound_gpu_environment(context, gpus, bound))
        t.environment.push_back(std::move(e));
    }
    FileNames names;
    names.job = c.job;
    names.step = c.step;
    names.node = s.node;
    names.node_index = static_cast<uint32_t>(node_index);
    names.rank = t.rank;
    names.restarts = c.generation;
    names.user = c.user_name;
    names.job_name = c.job_name;
    auto path = [&](const std::string& pattern) {
      return pattern.empty() ? std::string() : below(r.work_dir, expand_file_pattern(pattern, names));
    };
    t.std_in = path(r.std_in);
    t.std_out = path(r.std_out);
    t.std_err = r.std_err.empty() && !r.std_out.empty() ? t.std_out : path(r.std_err);
  }
  return out;
}

}  // namespace muster::slurmd
