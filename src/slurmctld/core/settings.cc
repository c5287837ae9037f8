#include "slurmctld/core/settings.h"

#include <algorithm>

#include "base/text.h"
#include "sched/request/layers.h"
#include "slurmctld/core/records.h"

namespace muster::slurmctld {
namespace {

sched::TopologyRules topology_rules(const config::Config& c) {
  const config::TopologyOptions o = config::topology_options(c);
  sched::TopologyRules r;
  r.dragonfly = o.dragonfly;
  r.optional = o.optional;
  r.switch_as_node_rank = o.switch_as_node_rank;
  r.block_as_node_rank = o.block_as_node_rank;
  r.max_size_unroll = o.max_size_unroll;
  r.max_switch_wait = seconds(c.scheduler_parameters.number("max_switch_wait", 300));
  return r;
}

sched::Params::ByLabel keep_by_label(const config::McsRules& m) {
  using Select = config::McsRules::Select;
  if (m.plugin == config::McsRules::Plugin::kNone || m.select == Select::kNever) return sched::Params::ByLabel::kNever;
  return m.select == Select::kAlways ? sched::Params::ByLabel::kAlways : sched::Params::ByLabel::kOnDemand;
}

// Reads what concerns plans in SchedulerParameters; config/scheduler_words.cc says what each word means and its bounds.
void scheduler_words(const config::OptionList& words, sched::Params& params) {
  auto count = [&](std::string_view name, uint32_t otherwise = 0) {
    return static_cast<uint32_t>(std::clamp<int64_t>(words.number(name, otherwise), 0, UINT32_MAX));
  };
  params.bf.resolution_s = count("bf_resolution", 60);
  params.bf.window_min = count("bf_window");
  params.bf.max_test = count("bf_max_job_test");
  params.bf.max_user = count("bf_max_job_user");
  params.bf.max_association = count("bf_max_job_assoc");
  params.bf.max_partition = count("bf_max_job_part");
  params.bf.max_user_partition = count("bf_max_job_user_part");
  params.bf.max_start = count("bf_max_job_start");
  params.bf.array_tasks = count("bf_max_job_array_resv", params.bf.array_tasks);
  params.bf.min_age_reserve = seconds(count("bf_min_age_reserve"));
  params.bf.min_priority_reserve = count("bf_min_prio_reserve");
  params.bf.reserve_per_partition = count("bf_job_part_count_reserve");
  params.bf.busy_nodes = words.has("bf_busy_nodes");
  const std::string turn = std::string(words.get("bf_hetjob_prio").value_or(""));
  if (iequals(turn, "min")) params.bf.het_turn = sched::BackfillRules::HetTurn::kMin;
  if (iequals(turn, "avg")) params.bf.het_turn = sched::BackfillRules::HetTurn::kAvg;
  params.defer = words.has("defer");
  params.stop_at_association = words.has("assoc_limit_stop");
  params.soft_time_min = words.has("time_min_as_soft_limit");
  params.serial_at_end = words.has("pack_serial_at_end");
  const int64_t interval = words.number("bf_interval", 30);
  if (interval < 0) params.backfill = false;
  if (interval > 0) params.rhythm.full_every = seconds(interval);
  params.rhythm.quick = words.number("sched_interval", 60) >= 0;
  params.rhythm.quick_gap = Duration(words.number("sched_min_interval", 0));
  params.quick_starts = count("sched_max_job_start");
  params.unknown_licenses_wait = words.has("allow_zero_lic");
  params.unknown_features_wait = words.has("ignore_constraint_validation");
  params.unknown_prefer_ok = words.has("ignore_prefer_validation");
  params.extra_constraints = words.has("extra_constraints");
  params.delay_boot = minutes(count("delay_boot"));
}

sched::Params sched_params(const config::LoadedConfig& loaded) {
  const config::Config& config = loaded.config;
  sched::Params params;
  params.backfill = config.scheduler_type != "sched/builtin";
  params.allocate_cores = config.select_flags.unit != config::SelectFlags::Unit::kCpu;
  params.memory_consumable = config.select_flags.memory;
  params.linear = config.select_type == "select/linear";
  params.one_task_per_core = config.select_flags.one_task_per_core;
  params.lln = config.select_flags.lln;
  params.pack_nodes = config.select_flags.pack_nodes;
  params.allocate_sockets = config.select_flags.unit == config::SelectFlags::Unit::kSocket;
  params.licenses = config.licenses;
  params.imex_channels = config.imex_channels;
  if (const int64_t most = config.slurmctld_parameters.number("max_powered_nodes", 0); most > 0)
    params.max_powered_nodes = static_cast<uint32_t>(most);
  params.keep_by_label = keep_by_label(config.mcs);
  params.job_core_spec = config.allow_spec_resources_usage;
  params.spec_cores_first = config.scheduler_parameters.has("spec_cores_first");
  params.block_cores = config.select_flags.core_default_dist_block;
  params.enforce_binding = config.select_flags.enforce_binding_gres;
  params.one_task_per_sharing = config.select_flags.one_task_per_sharing_gres;
  params.several_sharing = config.select_flags.multiple_sharing_gres_pj;
  params.spread_shared = config.select_flags.ll_shared_gres;
  params.def_cpu_per_gpu = config.def_cpu_per_gpu.value_or(0);
  params.def_mem_per_gpu_mb = config.def_mem_per_gpu_mb.value_or(0);
  params.def_mem_per_cpu_mb = config.def_mem_per_cpu_mb.value_or(0);
  params.def_mem_per_node_mb = config.def_mem_per_node_mb.value_or(0);
  params.max_mem_per_cpu_mb = config.max_mem_per_cpu_mb.value_or(0);
  params.max_mem_per_node_mb = config.max_mem_per_node_mb.value_or(0);
  scheduler_words(config.scheduler_parameters, params);
  params.topology = topology_rules(config);
  params.reboots = !config.reboot_program.empty();
  if (const config::HelpersConf& helpers = loaded.helpers; !helpers.changeable.names.empty()) {
    params.changeable = std::make_shared<const ChangeableFeatures>(helpers.changeable);
    params.reboots |= std::ranges::all_of(helpers.helpers, &config::FeatureHelper::rebootless);
  }
  return params;
}

// PreemptType, PreemptMode and what belongs to them; SchedulerTimeSlice.
sched::PreemptRules preempt_rules(const config::Config& config) {
  using By = sched::PreemptRules::By;
  sched::PreemptRules rules;
  rules.by = config.preempt_type == "preempt/qos"              ? By::kQos
             : config.preempt_type == "preempt/partition_prio" ? By::kPartition
                                                               : By::kNothing;
  rules.modes = config.preempt_modes;
  rules.exempt = std::max(config.preempt_exempt_time, Duration::zero());
  const config::OptionList& words = config.preempt_parameters;
  rules.min_exempt_priority =
      static_cast<uint32_t>(std::clamp<int64_t>(words.number("min_exempt_priority", kUnlimited32), 0, kUnlimited32));
  rules.requeue = config.job_requeue;
  rules.reclaim_licenses = words.has("reclaim_licenses");
  rules.youngest_first = words.has("youngest_first");
  rules.send_user_signal = words.has("send_user_signal");
  rules.suspend_grace = seconds(words.number("suspend_grace_time", 2));
  rules.time_slice = config.scheduler_time_slice;
  return rules;
}

PrologRules prolog_rules(const config::Config& c) {
  auto has = [&](std::string_view name) {
    return std::ranges::any_of(c.prolog_flags, [&](const std::string& flag) { return iequals(flag, name); });
  };
  PrologRules r;
  r.defer_batch = has("DeferBatch");
  r.no_hold = has("NoHold");
  r.force_requeue_on_fail = has("ForceRequeueOnFail");
  r.contain = has("Contain") || has("RunInJob") || has("X11");
  r.at_allocation = r.contain || r.defer_batch || r.no_hold || r.force_requeue_on_fail || has("Alloc");
  return r;
}

// SchedulerParameters=requeue_delay=, else the cred_expire of AuthInfo, as slurm.conf(5) has it.
Duration requeue_delay(const config::Config& c) {
  return seconds(c.scheduler_parameters.number("requeue_delay", c.auth_info.number("cred_expire", 120)));
}

sched::PriorityParams priority_params(const config::Config& config) {
  sched::PriorityParams params;
  params.multifactor = config.priority_type == "priority/multifactor";
  params.weight_age = config.priority_weight_age;
  params.weight_job_size = config.priority_weight_job_size;
  params.weight_partition = config.priority_weight_partition;
  params.weight_qos = config.priority_weight_qos;
  params.weight_fairshare = config.priority_weight_fairshare;
  params.weight_assoc = config.priority_weight_assoc;
  params.max_age = config.priority_max_age;
  params.favor_small = config.priority_favor_small;
  params.period = config.priority_calc_period;
  if (params.multifactor) {
    params.half_life = config.priority_decay_half_life;
    params.usage_reset = config.priority_usage_reset_period;
  }
  for (const config::TresPriority& w : config.priority_weight_tres) params.weight_tres.push_back({w.tres, static_cast<double>(w.weight)});
  auto flag = [&](std::string_view name) {
    return std::ranges::any_of(config.priority_flags, [&](const std::string& f) { return iequals(f, name); });
  };
  params.accrue_always = flag("ACCRUE_ALWAYS");
  params.of_running = flag("CALCULATE_RUNNING");
  params.only_up = flag("INCR_ONLY");
  params.small_relative_to_time = flag("SMALL_RELATIVE_TO_TIME");
  params.raw_partition = flag("NO_NORMAL_PART") || flag("NO_NORMAL_ALL");
  params.raw_tres = flag("NO_NORMAL_TRES") || flag("NO_NORMAL_ALL");
  params.raw_qos = flag("NO_NORMAL_QOS") || flag("NO_NORMAL_ALL");
  params.raw_association = flag("NO_NORMAL_ASSOC") || flag("NO_NORMAL_ALL");
  params.fair_share.depth_oblivious = flag("DEPTH_OBLIVIOUS");
  if (flag("NO_FAIR_TREE") || params.fair_share.depth_oblivious) params.fair_share.kind = acct::FairShareKind::kClassic;
  params.fair_share.dampening = config.fair_share_dampening_factor;
  return params;
}

std::shared_ptr<const BillingMethod> billing_method(const config::Config& c) {
  auto flag = [&](std::string_view name) {
    return std::ranges::any_of(c.priority_flags, [&](const std::string& f) { return iequals(f, name); });
  };
  auto out = std::make_shared<BillingMethod>();
  if (flag("MAX_TRES")) out->of = BillingMethod::Of::kMax;
  if (flag("MAX_TRES_GRES")) out->of = BillingMethod::Of::kMaxButGres;
  for (const std::string& tres : c.accounting_storage_tres) out->tracked.push_back(to_lower(tres));
  std::ranges::sort(out->tracked);
  return out;
}

// Nothing can be enforced where no accounts are kept.
acct::Enforcement enforcement(const config::Config& c) {
  if (!keeps_records(c)) return {};
  return {.associations = c.enforce.associations,
          .qos = c.enforce.qos,
          .limits = c.enforce.limits,
          .wckeys = c.enforce.wckeys,
          .safe = c.enforce.safe};
}

}  // namespace

Settings make_settings(std::shared_ptr<const config::LoadedConfig> loaded, Uid slurm_user, bool rootless) {
  Settings settings;
  settings.sched = sched_params(*loaded);
  settings.sched.priority = priority_params(loaded->config);
  settings.sched.priority.licenses = settings.sched.licenses;
  settings.priority = settings.sched.priority;
  settings.sched.preempt = preempt_rules(loaded->config);
  settings.prolog = prolog_rules(loaded->config);
  settings.billing = billing_method(loaded->config);
  settings.sched.slurm_user = slurm_user;
  settings.sched.enforcement = enforcement(loaded->config);
  settings.requeue_delay = requeue_delay(loaded->config);
  if (auto kept = config::parse_kept_up(loaded->config.suspend_exc_nodes)) settings.kept_up = std::move(*kept);  // else: a notice was told
  settings.loaded = std::move(loaded);
  settings.slurm_user = slurm_user;
  settings.rootless = rootless;
  return settings;
}

namespace {

void add_remote_licenses(sched::Params& p, const AccountDirectory& directory) {
  p.license_deficits.resize(p.licenses.size());
  directory.licenses.for_each([&](const std::string& name, const RemoteLicense& l) {
    if (std::ranges::any_of(p.licenses, [&](const auto& known) { return known.first == name; })) return;
    p.licenses.emplace_back(name, l.total);
    p.license_deficits.push_back(l.deficit);
  });
}

// Those of the file, which has nodes by their place in slurm.conf. Null: there are none.
HierarchiesPtr numbered(const config::LoadedConfig& loaded, const NodeNumbers& numbers) {
  if (loaded.resources.empty()) return nullptr;
  auto out = std::make_shared<Hierarchies>(loaded.resources);
  for (Hres& h : out->all)
    for (HresLayer& l : h.layers) {
      Bitmap nodes;
      l.nodes.for_each([&](size_t place) {
        if (auto it = numbers.find(loaded.config.nodes[place].name); it != numbers.end()) nodes.set(it->second);
      });
      l.nodes = std::move(nodes);
    }
  return out;
}

}  // namespace

void set_licenses(Settings& settings, const AccountDirectory* directory, const NodeNumbers* nodes) {
  sched::Params& p = settings.sched;
  p.licenses = settings.config().licenses;
  p.layers = 0;
  p.license_deficits.clear();
  if (directory && directory->licenses.size() > 0) add_remote_licenses(p, *directory);
  sched::set_layers(p, nodes ? numbered(*settings.loaded, *nodes) : nullptr);
}

}  // namespace muster::slurmctld
