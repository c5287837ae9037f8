#include "slurmctld/daemon/resume_file.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <set>

#include "model/sharing_words.h"
#include "slurmctld/core/rows.h"

namespace muster::slurmctld {
namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer>;

void text(Writer& out, const char* key, std::string_view value) {
  out.Key(key);
  if (value.empty()) out.Null();
  else out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
}

void job(Writer& out, const Cluster& cluster, const Job& job, const std::set<NodeId>& coming) {
  const JobRequest request = job.whole_request();
  const Partition* partition = cluster.partitions.find(job.partition);
  std::vector<NodeId> own;
  for (const NodeShare& share : job.allocation->nodes)
    if (coming.contains(share.node)) own.push_back(share.node);
  out.StartObject();
  text(out, "exclusive", exclusive_word(request.exclusive, partition));
  text(out, "extra", request.extra);
  text(out, "features", request.features.text());
  out.Key("job_id");
  out.Uint(job.id.value);
  text(out, "nodes_alloc", node_list_of(cluster, *job.allocation));
  text(out, "nodes_resume", node_list_of(cluster, own));
  text(out, "oversubscribe", oversubscribe_word(request.exclusive, partition));
  text(out, "partition", partition ? partition->name : std::string());
  text(out, "reservation", job.run.is_there() ? job.run->reservation_name : std::string());
  out.EndObject();
}

}  // namespace

std::string resume_file(const Cluster& cluster, const PowerNodes& what) {
  const std::set<NodeId> coming(what.nodes.begin(), what.nodes.end());
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.SetIndent(' ', 2);
  out.StartObject();
  text(out, "all_nodes_resume", node_list_of(cluster, what.nodes));
  out.Key("jobs");
  out.StartArray();
  for (JobId id : what.jobs)
    if (const Job* one = cluster.jobs.find(id.value); one && one->allocation) job(out, cluster, *one, coming);
  out.EndArray();
  out.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace muster::slurmctld
