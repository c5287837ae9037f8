#include "slurmd/core/cpu_bind.h"

#include <algorithm>
#include <cstdio>

#include "base/hex_mask.h"
#include "base/text.h"
#include "slurmd/core/cpu_layout.h"

namespace muster::slurmd {
namespace {

using Kind = CpuBind::Kind;

constexpr struct {
  Kind kind;
  const char *name, *label;
} kNames[] = {
    {Kind::kNone, "none", "NONE"},           {Kind::kThreads, "threads", "-threads"},   {Kind::kCores, "cores", "-cores"},
    {Kind::kSockets, "sockets", "-sockets"}, {Kind::kLdoms, "ldoms", "-ldoms"},         {Kind::kRank, "rank", "RANK"},
    {Kind::kMap, "map_cpu:", "MAP "},        {Kind::kMask, "mask_cpu:", "MASK"},        {Kind::kRankLdom, "rank_ldom", "LDRANK"},
    {Kind::kMapLdom, "map_ldom:", "LDMAP "}, {Kind::kMaskLdom, "mask_ldom:", "LDMASK"},
};
const auto& names_of(Kind kind) {
  return *std::ranges::find_if(kNames, [&](const auto& n) { return n.kind == kind; });
}

// How the request's options count and name CPUs, before --cpu-bind has its say.
struct Wish {
  Kind kind = Kind::kDefault;
  uint32_t threads = 0;         // usable per core, 0 = all
  bool cpus_are_cores = false;  // --cpus-per-task counts cores
};

Wish implied(const StepRequest& request) {
  Wish wish;
  wish.threads = request.threads_per_core;
  switch (request.hint->kind) {
    case TaskHint::Kind::kComputeBound:
    case TaskHint::Kind::kMemoryBound: return {Kind::kCores, 0, true};
    case TaskHint::Kind::kNoMultithread: return {Kind::kThreads, 1, false};
    case TaskHint::Kind::kMultithread: return {Kind::kThreads, 0, false};
    case TaskHint::Kind::kNone: break;
  }
  if (request.threads_per_core) wish.kind = Kind::kThreads;
  else if (request.cores_per_socket) wish.kind = Kind::kCores;
  else if (request.sockets_per_node) wish.kind = Kind::kSockets;
  else if (request.ntasks_per_core) wish.kind = request.ntasks_per_core == 1 ? Kind::kCores : Kind::kThreads;
  else if (request.ntasks_per_socket) wish.kind = Kind::kSockets;
  return wish;
}

// Automatic binding: the level of which the step has exactly as many as its tasks need.
Kind automatic(size_t need, const Bitmap& cpus, const CpuMap& m, uint32_t threads) {
  Bitmap sockets, cores;
  cpus.for_each([&](size_t cpu) {
    sockets.set(m.socket_of(cpu));
    cores.set(m.core_of(cpu));
  });
  const size_t usable = threads ? std::min(cores.count() * threads, cpus.count()) : cpus.count();
  if (sockets.count() == need) return Kind::kSockets;
  if (cores.count() == need) return Kind::kCores;
  return usable == need ? Kind::kThreads : Kind::kDefault;
}

// Every CPU of `cpus` whose place (socket, core …), as `of` tells it, is that of a CPU of `seed`.
template <class Of>
Bitmap widened(const Bitmap& seed, const Bitmap& cpus, Of&& of) {
  Bitmap places, out(cpus.size());
  seed.for_each([&](size_t cpu) { places.set(of(cpu)); });
  cpus.for_each([&](size_t cpu) {
    if (places.test(of(cpu))) out.set(cpu);
  });
  return out;
}

class Binder {
 public:
  Binder(const StepRequest& r, uint32_t tasks, const Bitmap& cpus, const CpuMap& m) : r_(r), tasks_(tasks), cpus_(cpus), m_(m) {
    size_t top = 0;
    for (uint32_t cpu : m.os_cpu) top = std::max<size_t>(top, cpu);
    digits_ = top / 4 + 1;
  }

  Result<CpuBinding> run(const CpuBindDefaults& defaults) {
    MUSTER_TRY(asked, r_.cpu_bind.parsed());
    MUSTER_TRY(dist, r_.distribution.parsed());
    dist_ = dist;
    wish_ = implied(r_);
    Kind kind = asked.kind != Kind::kDefault ? asked.kind : wish_.kind != Kind::kDefault ? wish_.kind : defaults.kind;
    out_.verbose = asked.verbose || defaults.verbose;
    out_.own = laid_out(false);
    if (kind == Kind::kDefault) kind = automatic(need(), cpus_, m_, wish_.threads);
    if (kind == Kind::kDefault) kind = defaults.autobind;
    MUSTER_TRY_VOID(bind(kind, asked));
    return std::move(out_);
  }

 private:
  uint32_t each() const { return std::max(1u, r_.cpus_per_task); }
  size_t need() const { return size_t{tasks_} * each(); }

  // The tasks' shares; where there are too few CPUs, each task gets all of the step's.
  std::vector<Bitmap> laid_out(bool whole_cores) {
    CpuLayout layout(cpus_, m_, dist_.sockets, dist_.cores, wish_.threads, whole_cores);
    CpuLayout threads(cpus_, m_, dist_.sockets, dist_.cores, wish_.threads, false);
    enough_ = need() <= threads.units();
    if (!enough_) return std::vector<Bitmap>(tasks_, cpus_);
    uint32_t units = each();
    if (whole_cores && !wish_.cpus_are_cores) {
      uint32_t per_core = wish_.threads ? std::min(wish_.threads, m_.threads_per_core) : m_.threads_per_core;
      units = (units + per_core - 1) / per_core;
    }
    std::vector<Bitmap> out;
    for (uint32_t i = 0; i < tasks_; ++i) out.push_back(layout.take(units));
    return out;
  }

  void generated(Kind kind) {
    std::vector<Bitmap> masks = laid_out(kind == Kind::kCores);
    for (Bitmap& mask : masks) {
      if (kind == Kind::kSockets) mask = widened(mask, cpus_, [&](size_t c) { return m_.socket_of(c); });
      if (kind == Kind::kLdoms) mask = widened(mask, cpus_, [&](size_t c) { return m_.numa_node[c]; });
      out_.os_cpus.push_back(m_.to_os(mask));
    }
    out_.label = "cpu-bind=MASK";
    out_.type = "mask_cpu:";
    if (enough_ && kind != Kind::kDefault) {
      for (const Bitmap& mask : out_.os_cpus) out_.list += (out_.list.empty() ? "" : ",") + hex_mask(mask, digits_);
      return;
    }
    if (kind != Kind::kDefault) {
      out_.label = std::string("cpu-bind") + names_of(kind).label + "=MASK";
      out_.type = std::string(names_of(kind).name) + ",mask_cpu:";
    }
    out_.os_cpus.assign(tasks_, m_.to_os(cpus_));
    out_.list = hex_mask(m_.to_os(cpus_), digits_);
  }

  Bitmap of_domains(const Bitmap& domains) const {
    Bitmap out;
    for (size_t cpu = 0; cpu < m_.cpus(); ++cpu)
      if (domains.test(m_.numa_node[cpu])) out.set(m_.os_cpu[cpu]);
    return out;
  }

  Bitmap named(Kind kind, const std::vector<Bitmap>& list, uint32_t task) const {
    Bitmap one;
    switch (kind) {
      case Kind::kMap:
      case Kind::kMask: return list[task % list.size()];
      case Kind::kMapLdom:
      case Kind::kMaskLdom: return of_domains(list[task % list.size()]);
      case Kind::kRank: one.set(task % m_.cpus()); return one;
      default: {  // by locality domain: the n-th one that the machine has
        Bitmap domains = m_.numa_nodes_of(Bitmap(m_.cpus(), true));
        size_t at = domains.first();
        for (size_t i = task % domains.count(); i > 0; --i) at = domains.next(at + 1);
        one.set(at);
        return of_domains(one);
      }
    }
  }

  Result<> bind(Kind kind, const CpuBind& asked) {
    switch (kind) {
      case Kind::kNone:
        out_.os_cpus.assign(tasks_, Bitmap());
        out_.label = "cpu-bind=NONE";
        out_.type = "none";
        return {};
      case Kind::kDefault:
      case Kind::kThreads:
      case Kind::kCores:
      case Kind::kSockets:
      case Kind::kLdoms: generated(kind); return {};
      default: break;
    }
    const auto& names = names_of(kind);
    const std::string type = names.name;
    const Bitmap mine = m_.to_os(cpus_);
    const bool explicit_cpus = kind == Kind::kMap || kind == Kind::kMask;
    if (!explicit_cpus && cpus_.count() < m_.cpus())
      return fail(Errc::kCpuBind,
                  "Unable to satisfy cpu bind request: Entire node must be allocated for " + type.substr(0, type.find(':')));
    for (uint32_t i = 0; i < tasks_; ++i) {
      out_.os_cpus.push_back(named(kind, asked.list, i));
      if (out_.os_cpus.back().none() || !mine.contains(out_.os_cpus.back()))
        return fail(Errc::kCpuBind, "Unable to satisfy cpu bind request: CPU binding outside of job step allocation, "
                                    "allocated CPUs are: " +
                                        hex_mask(mine, digits_) + ".");
    }
    out_.label = std::string("cpu-bind=") + names.label;
    out_.type = type;
    out_.list = asked.list_text;
    return {};
  }

  const StepRequest& r_;
  uint32_t tasks_;
  const Bitmap& cpus_;
  const CpuMap& m_;
  Distribution dist_;
  Wish wish_;
  size_t digits_ = 1;
  bool enough_ = true;
  CpuBinding out_;
};

Kind kind_named(std::string_view word) {
  for (const auto& n : kNames)
    if (n.label[0] == '-' || n.kind == Kind::kNone)
      if (istarts_with(word, std::string_view(n.name).substr(0, n.kind == Kind::kNone ? 4 : std::string_view(n.name).size() - 1)))
        return n.kind;
  return Kind::kDefault;
}

}  // namespace

CpuBindDefaults cpu_bind_defaults(Kind node, Kind partition, const std::vector<std::string>& param) {
  CpuBindDefaults out;
  for (const std::string& p : param) {
    if (istarts_with(p, "autobind=")) out.autobind = kind_named(std::string_view(p).substr(9));
    else if (iequals(p, "verbose")) out.verbose = true;
    else if (Kind k = kind_named(p); k != Kind::kDefault) out.kind = k;
  }
  for (Kind k : {partition, node})
    if (k != Kind::kDefault) out.kind = k;
  return out;
}

Result<CpuBinding> bind_cpus(const StepRequest& request, uint32_t tasks, const Bitmap& step_cpus, const CpuMap& machine,
                             const CpuBindDefaults& defaults) {
  if (tasks == 0 || step_cpus.none() || machine.cpus() == 0) {
    CpuBinding nothing;
    nothing.os_cpus.assign(tasks, Bitmap());
    nothing.own.assign(tasks, step_cpus);
    return nothing;
  }
  return Binder(request, tasks, step_cpus, machine).run(defaults);
}

std::string cpu_bind_line(const CpuBinding& b, const std::string& node, uint32_t rank, uint32_t local_id) {
  const Bitmap& mask = b.os_cpus.at(local_id);
  char task[64];
  std::snprintf(task, sizeof task, ", task %2u %2u [%%p]: mask ", rank, local_id);
  return b.label + " - " + node + task + hex_mask(mask) + (mask.any() ? " set" : "");
}

std::vector<std::string> cpu_bind_environment(const CpuBinding& b) {
  if (b.type.empty()) return {};
  const std::string verbose = b.verbose ? "verbose" : "quiet";
  return {"SLURM_CPU_BIND=" + verbose + "," + b.type + b.list, "SLURM_CPU_BIND_VERBOSE=" + verbose, "SLURM_CPU_BIND_TYPE=" + b.type,
          "SLURM_CPU_BIND_LIST=" + b.list};
}

}  // namespace muster::slurmd
