#include "config/job_container_conf.h"

#include "config/job_namespace_rules.h"
#include "config/record.h"

namespace muster::config {
namespace {

constexpr std::pair<const char*, bool JobNamespace::*> kSwitches[] = {
    {"AutoBasePath", &JobNamespace::make_base}, {"Shared", &JobNamespace::shared}, {"EntireStepInNS", &JobNamespace::whole_step}};
constexpr std::pair<const char*, std::string JobNamespace::*> kPrograms[] = {
    {"InitScript", &JobNamespace::init_script}, {"CloneNSScript", &JobNamespace::script}, {"CloneNSEpilog", &JobNamespace::epilog}};
constexpr std::pair<const char*, Duration JobNamespace::*> kWaits[] = {{"CloneNSScript_Wait", &JobNamespace::script_wait},
                                                                       {"CloneNSEpilog_Wait", &JobNamespace::epilog_wait}};

class Reader {
 public:
  Reader(const Config& config, Findings& keys, Findings& findings) : keys_(keys), rules_(config, findings) {}

  JobNamespaceConf run(const std::vector<Line>& lines) {
    for (const Line& line : lines)
      if (!line.find("NodeName")) read(line, out_.global);
    for (const Line& line : lines)
      if (line.find("NodeName")) node_line(line);
    return std::move(out_);
  }

 private:
  void node_line(const Line& line) {
    JobNamespaceConf::ForNodes of{{}, out_.global};
    const Record record = read(line, of.space);
    of.nodes = rules_.read_nodes(given(record, "NodeName"));
    if (!of.nodes.empty()) out_.per_node.push_back(std::move(of));
  }

  // Over what is there already.
  Record read(const Line& line, JobNamespace& space) {
    Record record(ConfFile::kJobContainer, Section::kContainer);
    record.add(line, keys_);
    for (const auto& [key, member] : kSwitches)
      if (record.has(key)) space.*member = record.yes(key);
    for (const auto& [key, member] : kPrograms)
      if (record.has(key)) rules_.set_program(given(record, key), space.*member);
    for (const auto& [key, member] : kWaits)
      if (record.has(key)) space.*member = seconds(*record.number(key));
    if (record.has("BasePath")) rules_.set_base(given(record, "BasePath"), space.base);
    if (record.has("Dirs"))
      if (auto dirs = rules_.read_dirs(given(record, "Dirs"))) space.dirs = std::move(*dirs);
    rules_.check(space, record.where());
    return record;
  }

  static GivenText given(const Record& record, const char* key) { return {record.pos(key), key, std::string(record.text(key))}; }

  Findings& keys_;
  NamespaceRules rules_;
  JobNamespaceConf out_;
};

}  // namespace

JobNamespaceConf build_job_container_conf(const std::vector<Line>& lines, const Config& config, Findings& keys, Findings& findings) {
  return Reader(config, keys, findings).run(lines);
}

}  // namespace muster::config
