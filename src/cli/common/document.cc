#include "cli/common/document.h"

#include <unistd.h>

#include "base/text.h"
#include "cli/common/version.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/users.h"

namespace muster::cli {
namespace {

constexpr std::string_view kParser = "v0.0.44";

// The words this process was started with.
std::vector<std::string> own_command() {
  std::vector<std::string> out;
  if (Result<std::string> line = os::read_file("/proc/self/cmdline", 1 << 20))
    for (std::string_view word : split(*line, '\0', true)) out.emplace_back(word);
  if (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

fields::DocumentMeta meta_of(const std::string& cluster) {
  fields::DocumentMeta m;
  const char* terminal = ttyname(0);
  m.client_source = terminal ? terminal : "";
  if (Result<os::User> user = os::find_user(Uid{getuid()})) m.client_user = user->name;
  if (Result<os::Group> group = os::find_group(Gid{getgid()})) m.client_group = group->name;
  m.command = own_command();
  m.cluster = cluster;
  m.release = std::string(kSlurmVersion);
  m.micro = std::string(kSlurmVersion.substr(kSlurmVersion.rfind('.') + 1));
  m.last_update = os::wall_now();
  return m;
}

}  // namespace

std::optional<int> data_parser_asked(const DataOutput& data, const os::CliLog& log) {
  if (data.kind == DataOutput::Kind::kText) return std::nullopt;
  if (data.parser == "list") {
    Out().put("Possible data_parser plugins:\ndata_parser/" + std::string(kParser) + "\n");
    return 0;
  }
  std::string_view asked = data.parser;
  if (asked.starts_with("data_parser/")) asked.remove_prefix(12);
  asked = asked.substr(0, asked.find('+'));
  if (asked.empty() || asked == kParser) return std::nullopt;
  log.error("Unable to find plugin: data_parser/{}", asked);
  log.error("there is data_parser/{}", kParser);
  return 1;
}

Document::Document(const DataOutput& data, const QueryCommon& options, std::string_view list, const ClientConf& conf, Out& out)
    : list_(list), cluster_(conf.cluster_name), out_(out) {
  bool json = data.kind == DataOutput::Kind::kJson;
  bool compact = iequals(json ? options.json_style : options.yaml_style, "compact");
  sink_ = fields::make_tree_sink(json ? fields::TreeForm::kJson : fields::TreeForm::kYaml, compact, out.buffer());
  fields::begin_document(*sink_, list_);
}

Document::~Document() {
  fields::DocumentMeta meta = meta_of(cluster_);
  meta.from_database = from_database_;
  fields::end_document(*sink_, list_, meta);
  if (!out_.buffer().ends_with('\n')) out_.put("\n");
}

}  // namespace muster::cli
