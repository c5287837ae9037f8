#include "fields/show_node.h"

#include <cstdio>

#include "base/text.h"
#include "fields/sinfo_view.h"

namespace muster::fields {
namespace {

void show_hardware(const NodeRow& n, bool details, Record& record) {
  record.pair("NodeName", n.name);
  if (!n.arch.empty()) record.pair("Arch", n.arch);
  record.pair("CoresPerSocket", n.cores_per_socket);
  record.out() += ' ';
  record.line();
  record.pair("CPUAlloc", n.cpus_allocated).pair("CPUEfctv", n.cpus_effective).pair("CPUTot", n.cpus);
  if (n.cpu_load >= 0xfffffffeu) {
    record.pair("CPULoad", "N/A");
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", n.cpu_load / 100.0);
    record.pair("CPULoad", text);
  }
  record.line();
  record.or_null("AvailableFeatures", join(n.features, ","));
  record.line();
  record.or_null("ActiveFeatures", join(n.features_active, ","));
  record.line();
  record.or_null("Gres", n.gres);
  if (!details) return;
  record.line();
  record.pair("GresDrain", "N/A");
  record.line();
  record.or_null("GresUsed", n.gres_used);
}

void show_system(const NodeRow& n, Record& record) {
  record.line();
  record.pair("NodeAddr", n.address.empty() ? n.name : n.address).pair("NodeHostName", n.hostname.empty() ? n.name : n.hostname);
  record.pair("Port", n.port);
  if (n.version.empty()) record.out() += ' ';
  else record.pair("Version", n.version);
  if (!n.os.empty()) {
    record.line();
    record.pair("OS", n.os);
    record.out() += ' ';
  }
  record.line();
  record.pair("RealMemory", n.real_memory_mb).pair("AllocMem", n.mem_allocated_mb);
  if (n.free_mem_mb >= 0xfffffffffffffffeull) record.pair("FreeMem", "N/A");
  else record.pair("FreeMem", n.free_mem_mb);
  record.pair("Sockets", n.sockets).pair("Boards", n.boards);
  if (!n.core_spec_count && n.cpu_spec_list.empty() && !n.mem_spec_mb && n.restricted_cores.empty()) return;
  record.line();
  if (n.core_spec_count) record.pair("CoreSpecCount", n.core_spec_count);
  if (!n.cpu_spec_list.empty()) record.pair("CPUSpecList", n.cpu_spec_list);
  if (n.mem_spec_mb) record.pair("MemSpecLimit", n.mem_spec_mb);
  if (!n.restricted_cores.empty()) record.pair("RestrictedCoresPerGPU", n.restricted_cores);
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
