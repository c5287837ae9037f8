#include "fields/show_node.h"

#include <cstdio>

#include "base/text.h"
#include "fields/sinfo_view.h"

namespace muster::fields {
namespace {

void show_hardware(const NodeRow& n, bool details, Record& r) {
  r.pair("NodeName", n.name);
  if (!n.arch.empty()) r.pair("Arch", n.arch);
  r.pair("CoresPerSocket", n.cores_per_socket);
  r.out() += ' ';
  r.line();
  r.pair("CPUAlloc", n.cpus_allocated).pair("CPUEfctv", n.cpus_effective).pair("CPUTot", n.cpus);
  if (n.cpu_load >= 0xfffffffeu) {
    r.pair("CPULoad", "N/A");
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", n.cpu_load / 100.0);
    r.pair("CPULoad", text);
  }
  r.line();
  r.or_null("AvailableFeatures", join(n.features, ","));
  r.line();
  r.or_null("ActiveFeatures", join(n.features_active, ","));
  r.line();
  r.or_null("Gres", n.gres);
  if (!details) return;
  r.line();
  r.pair("GresDrain", "N/A");
  r.line();
  r.or_null("GresUsed", n.gres_used);
}

void show_system(const NodeRow& n, Record& r) {
  r.line();
  r.pair("NodeAddr", n.address.empty() ? n.name : n.address).pair("NodeHostName", n.hostname.empty() ? n.name : n.hostname);
  r.pair("Port", n.port);
  if (n.version.empty()) r.out() += ' ';
  else r.pair("Version", n.version);
  if (!n.os.empty()) {
    r.line();
    r.pair("OS", n.os);
    r.out() += ' ';
  }
  r.line();
  r.pair("RealMemory", n.real_memory_mb).pair("AllocMem", n.mem_allocated_mb);
  if (n.free_mem_mb >= 0xfffffffffffffffeull) r.pair("FreeMem", "N/A");
  else r.pair("FreeMem", n.free_mem_mb);
  r.pair("Sockets", n.sockets).pair("Boards", n.boards);
  if (!n.core_spec_count && n.cpu_spec_list.empty() && !n.mem_spec_mb && n.restricted_cores.empty()) return;
  r.line();
  if (n.core_spec_count) r.pair("CoreSpecCount", n.core_spec_count);
  if (!n.cpu_spec_list.empty()) r.pair("CPUSpecList", n.cpu_spec_list);
  if (n.mem_spec_mb) r.pair("MemSpecLimit", n.mem_spec_mb);
  if (!n.restricted_cores.empty()) r.pair("RestrictedCoresPerGPU", n.restricted_cores);
}

}  // namespace

void show_node(const NodeRow& n, const Environment& env, const ShowOptions& options, std::string& out) {
  Record r(out, options.oneliner);
  show_hardware(n, options.details, r);
  show_system(n, r);
  r.line();
  r.pair("State", node_state_long(n.state, n.flags)).pair("ThreadsPerCore", n.threads_per_core).pair("TmpDisk", n.tmp_disk_mb);
  r.pair("Weight", n.weight);
  r.pair("Owner", n.owned ? node_owner(n, env) + "(" + std::to_string(n.owner.value) + ")" : "N/A");
  r.pair("MCS_label", n.mcs_label.empty() ? "N/A" : std::string_view(n.mcs_label));
  if (!n.next_state.empty()) {
    r.line();
    r.pair("NextState", n.next_state);
  }
  if (!n.partitions.empty()) {
    r.line();
    r.pair("Partitions", join(n.partitions, ","));
    out += ' ';
  }
  r.line();
  put_time(r.key("BootTime"), n.boot_time, env, "None");
  put_time(r.key("SlurmdStartTime"), n.slurmd_start, env, "None");
  r.line();
  put_time(r.key("LastBusyTime"), n.last_busy, env, "Unknown");
  put_time(r.key("ResumeAfterTime"), n.resume_after, env, "None");
  r.line();
  r.pair("CfgTRES", tres_text(n.tres_configured));
  r.line();
  r.pair("AllocTRES", tres_text(n.tres_allocated));
  r.line();
  r.pair("CurrentWatts", "0").pair("AveWatts", "0");
  if (!n.reason.empty()) {
    r.line();
    r.pair("Reason", n.reason);
    if (n.reason_time != kTimeUnset) {
      out += " [" + reason_owner(n, env) + "@";
      put_time(out, n.reason_time, env);
      out += ']';
    }
  }
  if (!n.comment.empty()) {
    r.line();
    r.pair("Comment", n.comment);
  }
  if (!n.instance_id.empty() || !n.instance_type.empty()) {
    r.line();
    r.or_null("InstanceId", n.instance_id).or_null("InstanceType", n.instance_type);
  }
  if (!n.extra.empty()) {
    r.line();
    r.pair("Extra", n.extra);
  }
  r.end();
}

}  // namespace muster::fields
