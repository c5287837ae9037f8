// Facts of what the job asked for besides amounts: partition, features, node lists, dependencies, policies. Included by job_fields.cc alone.
#pragma once

#include "fields/job_composites.h"
#include "fields/job_fact.h"
#include "fields/job_values.h"

namespace muster::fields::request {

inline std::string licenses(const JobView& v) { return licenses_text(v.request, v.row.tasks); }
inline std::string licenses_held(const JobRow& row) { return licenses_text(row.licenses); }
inline bool may_requeue(const ShownRequest& q) { return q.requeue != TriState::kNo; }
inline bool wants_switches(const JobView& v) { return v.request.switches; }
inline bool wants_mail(const JobView& v) { return v.request.mail_type; }
inline int64_t switch_seconds(const ShownRequest& q) { return to_seconds(q.switches_wait); }
inline std::string_view profile_word(const ShownRequest& q) {
  return q.profile.empty() ? std::string_view("NOT_SET") : std::string_view(q.profile.text());
}
inline std::string_view stepmgr_word(const ShownRequest& q) { return q.stepmgr ? "Yes" : ""; }
inline std::string_view mail_receiver(const ShownRequest& q) { return q.mail_user.empty() ? q.user_name : q.mail_user; }
inline std::string_view shared_word(const ShownRequest& q) {
  switch (q.exclusive) {
    case Exclusive::kOversubscribe: return "oversubscribe";
    case Exclusive::kUser: return "user";
    case Exclusive::kMcs: return "mcs";
    case Exclusive::kTopo: return "topo";
    case Exclusive::kNode: return "none";
    case Exclusive::kDefault: break;
  }
  return "";
}

constexpr JobFact kFacts[] = {
    field<Text, &JobRow::partition>("Partition, or all that were asked for while pending", column('P', "Partition", "PARTITION").none(""),
                                    shown("Partition", at(120, 10)).none(""), member("partition", 780)),
    field<Text, &ShownRequest::features>("Features required", column('f', "Feature", "FEATURES"), shown("Features", at(240, 10)),
                                         member("features", 430)),
    field<Text, &ShownRequest::prefer>("Features preferred", column(0, "Prefer", "PREFER"), shown("Prefer", at(240, 20)).if_any(),
                                       member("prefer", 790)),
    field<Text, &ShownRequest::batch_features>("Features required of the node of the script", shown("BatchFeatures", at(240, 30)).if_any(),
                                               member("batch_features", 100)),
    field<Text, &ShownRequest::cluster_features>("Cluster features required", column(0, "ClusterFeature", "CLUSTER_FEATURES"),
                                                 shown("ClusterFeatures", at(240, 50)).if_any(), member("cluster_features", 170)),
    field<Hosts, &ShownRequest::required_nodes>("Nodes asked for by name", column('n', "ReqNodes", "REQ_NODES"),
                                                shown("ReqNodeList", at(130, 10)), member("required_nodes", 940)),
    field<Hosts, &ShownRequest::excluded_nodes>("Nodes excluded by name", column('x', "ExcNodes", "EXC_NODES"),
                                                shown("ExcNodeList", at(130, 20)), member("excluded_nodes", 390)),
    field<Text, &JobRow::dependency>("Dependencies still open", column('E', "Dependency", "DEPENDENCY"), shown("Dependency", at(40, 30)),
                                     member("dependency", 350)),
    field<Text, reservation_of>("Reservation that it is in, or asks for", column('v', "Reservation", "RESERVATION"),
                                shown("Reservation", at(240, 60)).if_any(), member("resv_name", 990)),
    field<Text, licenses>("Licences asked for", column('W', "Licenses", "LICENSES"), shown("Licenses", at(250, 40)),
                          member("licenses", 580)),
    field<Text, licenses_held>("Licences held", column(0, "LicensesAlloc", "LICENSES_ALLOC"), shown("LicensesAlloc", at(250, 50)),
                               member("licenses_allocated", 590)),
    field<Text, &ShownRequest::network>("Network asked for", column(0, "Network", "NETWORK"), shown("Network", at(250, 60)),
                                        member("network", 670)),
    field<Text, oversubscribe_text>("Whether it may share: YES, NO, OK", column('h', "OverSubscribe", "OVER_SUBSCRIBE"),
                                    shown("OverSubscribe", at(250, 10))),
    field<Text, exclusive_text>("What it wants for itself: NO, NODE, USER, MCS, TOPO", column(0, "Exclusive", "EXCLUSIVE"),
                                shown("Exclusive", at(250, 20))),
    field<Words, shared_word>("What --exclusive and --oversubscribe asked for", member("shared", 1030)),
    field<Flag, &ShownRequest::contiguous>("1 if its nodes must be neighbours", column('O', "Contiguous", "CONTIGUOUS"),
                                           shown("Contiguous", at(250, 30)), member("contiguous", 220)),
    field<Number, &ShownRequest::nice>("Adjustment of its priority", column('y', "Nice", "NICE"), shown("Nice", at(30, 20)),
                                       member("nice", 690)),
    field<Text, &ShownRequest::mcs_label>("MCS label", column(0, "MCSLabel", "MCSLABEL"), shown("MCS_label", at(20, 30)).none("N/A"),
                                          member("mcs_label", 640)),
    field<Text, &ShownRequest::profile>("Profile asked for", column(0, "Profile", "PROFILE").none("NotSet"),
                                        member<Words, profile_word>("profile", 910)),
    field<Flag, &ShownRequest::reboot>("1 if its nodes are rebooted first", column(0, "Reboot", "REBOOT"), shown("Reboot", at(50, 40)),
                                       member("reboot", 930)),
    field<Flag, may_requeue>("1 if it is requeued when a node fails", column(0, "Requeue", "REQUEUE"), shown("Requeue", at(50, 10)),
                             member("requeue", 960)),
    field<Number, &ShownRequest::switches>("Most switches wanted", column(0, "ReqSwitch", "REQ_SWITCH"),
                                           shown("Switches", at(380, 10)).when(wants_switches).written(show_switches),
                                           member("required_switches", 950)),
    field<Number, switch_seconds>("How long it waits for them, in seconds", member("maximum_switch_wait_time", 1330)),
    field<Asked, &ShownRequest::segment>("Nodes in one segment", column(0, "SegmentSize", "SEGMENT_SIZE"),
                                         shown("SegmentSize", at(390, 10)).if_any(),
                                         member<Number, &ShownRequest::segment>("segment_size", 1010)),
    field<Text, &ShownRequest::burst_buffer>("Burst buffer specification", column(0, "BurstBuffer", "BURST_BUFFER"),
                                             member("burst_buffer", 140)),
    field<Text, &ShownRequest::tres_bind>("Binding of tasks to devices", column(0, "tres-bind", "TRES_BIND").none("N/A"),
                                          shown("TresBind", at(420, 10)).if_any(), member("tres_bind", 1230)),
    field<Text, &ShownRequest::tres_freq>("Frequencies of devices", column(0, "tres-freq", "TRES_FREQ").none("N/A"),
                                          shown("TresFreq", at(430, 10)).if_any(), member("tres_freq", 1240)),
    field<Text, &ShownRequest::tres_per_job>("TRES for the whole job", column(0, "tres-per-job", "TRES_PER_JOB").none("N/A"),
                                             shown("TresPerJob", at(440, 10)).if_any(), member("tres_per_job", 1250)),
    field<Text, &ShownRequest::tres_per_node>("TRES on every node", column('b', "tres-per-node", "TRES_PER_NODE").none("N/A"),
                                              shown("TresPerNode", at(450, 10)).if_any(), member("tres_per_node", 1260)),
    field<Text, &ShownRequest::tres_per_socket>("TRES on every socket", column(0, "tres-per-socket", "TRES_PER_SOCKET").none("N/A"),
                                                shown("TresPerSocket", at(460, 10)).if_any(), member("tres_per_socket", 1270)),
    field<Text, tres_per_task_text>("TRES for every task", column(0, "tres-per-task", "TRES_PER_TASK").none("N/A"),
                                    shown("TresPerTask", at(470, 10)).if_any(), member("tres_per_task", 1280)),
    field<Text, stepmgr_word>("Whether its steps are managed on its nodes", shown("StepMgrEnabled", at(480, 10)).if_any()),
    composite("What it asked for by single words", member("flags", 130).written(Shape::kTexts, json_flags)),
    field<Text, &ShownRequest::mail_user>(
        "Who gets its mail", shown<Text, mail_receiver>("MailUser", at(490, 10)).none("").when(wants_mail), member("mail_user", 610)),
    composite("At which events mail is sent", shown("MailType", at(490, 20)).when(wants_mail).written(show_mail_type),
              member("mail_type", 600).written(Shape::kTexts, json_mail_type)),
};

}  // namespace muster::fields::request
