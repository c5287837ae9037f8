// What is printed of nodes, partitions and running steps stays as it is, to the byte: varied ones go through every column of sinfo and
// sstat, through scontrol's records and through --json and --yaml. How the digests are kept: printed_testing.h.
#include "fields/json.h"
#include "fields/live_view.h"
#include "fields/printed_testing.h"
#include "fields/show_node.h"
#include "fields/show_partition.h"
#include "fields/sinfo_groups.h"
#include "fields/sort.h"
#include "fields/varied_rows_testing.h"

namespace muster::fields {
namespace {

constexpr uint32_t kNodes = 200, kPartitions = 100;

struct PrintedNodes {
  std::vector<NodeRow> nodes;
  std::vector<PartitionRow> partitions;
  std::vector<Environment> environments;
  std::vector<SinfoLine> lines;  // of one node, of several, of none; also without a partition
  PrintedTexts texts;

  PrintedNodes() {
    for (uint32_t i = 0; i < kNodes; ++i) {
      nodes.push_back(varied_node(i));
      nodes.back().partitions = {"p" + std::to_string(i % kPartitions), "p" + std::to_string(i % 7)};
      environments.push_back(varied_environment(i));
      environments.back().in_federation = i % 5 == 0;
    }
    for (uint32_t i = 0; i < kPartitions; ++i) partitions.push_back(varied_partition(i));
    for (uint32_t i = 0; i < kNodes; ++i) {
      SinfoLine line;
      if (i % 11) line.partition = &partitions[i % kPartitions];
      for (uint32_t n = 0; n < i % 4; ++n) line.add(nodes[(i + 50 * n) % kNodes]);
      lines.push_back(std::move(line));
    }
  }
  SinfoView view(uint32_t i) const { return {lines[i], environments[i]}; }

  std::string grouped(const std::string& name, GroupOptions options) const {
    std::string out;
    const Format<SinfoView> format = parse_long_format<SinfoView>(name + ":|,nodelist:0").format;
    for (const SinfoLine& line : group_nodes(partitions, nodes, format, options, environments[0])) format.row({line, environments[0]}, out);
    return out;
  }
  std::string order_by(char letter) const {
    RowSorter<SinfoView> sorter(parse_sort<SinfoView>(std::string(1, letter)).keys);
    for (uint32_t i = 0; i < kNodes; ++i) sorter.add(view(i));
    std::string out;
    for (uint32_t i : sorter.order()) out += std::to_string(i) + " ";
    return out;
  }
  void columns_of_sinfo() {
    for (auto part : field_parts<SinfoView>())
      for (const SinfoField& f : part) {
        const std::string name(f.name);
        std::string& out = texts["sinfo " + (name.empty() ? "%" + std::string(1, f.letter) : name)];
        const Format<SinfoView> format = name.empty() ? parse_format<SinfoView>("%" + std::string(1, f.letter) + "|").format
                                                      : parse_long_format<SinfoView>(name + ":|," + name + ":.7|," + name + ":7|").format;
        format.header(out);
        for (uint32_t i = 0; i < kNodes; ++i) format.row(view(i), out);
        if (f.letter) out += order_by(f.letter);
        if (!name.empty()) out += grouped(name, {}) + grouped(name, {.exact = true}) + grouped(name, {.node_centric = true});
      }
    texts["sinfo -O help"] = field_help<SinfoView>(true);
    std::string& all = texts["sinfo -o %all"];
    const Format<SinfoView> format = parse_format<SinfoView>("%all").format;
    format.header(all);
    for (uint32_t i = 0; i < kNodes; ++i) format.row(view(i), all);
  }

  void records_of_scontrol() {
    for (const auto& [name, options] : {std::pair("", ShowOptions{}),
                                        {" -o", {.oneliner = true}},
                                        {" -d", {.details = true}},
                                        {" -od", {.oneliner = true, .details = true}}}) {
      for (uint32_t i = 0; i < kNodes; ++i) show_node(nodes[i], environments[i], options, texts["scontrol show node" + std::string(name)]);
      for (const PartitionRow& row : partitions)
        show_partition(row, environments[0], options, texts["scontrol show partition" + std::string(name)]);
    }
  }

  void add_document(const std::string& what, auto write) {
    const std::string json = document_of(TreeForm::kJson, write);
    texts["--json of " + what] += json;
    texts["--yaml of " + what] += document_of(TreeForm::kYaml, write);
    add_members(texts, what, json);
  }
  void documents() {
    for (uint32_t i = 0; i < kNodes; ++i) {
      add_document("node", [&](TreeSink& sink) { json_node(nodes[i], environments[i], sink); });
      add_document("sinfo", [&](TreeSink& sink) { json_sinfo(view(i), sink); });
    }
    for (uint32_t i = 0; i < kPartitions; ++i)
      add_document("partition", [&](TreeSink& sink) { json_partition(partitions[i], environments[i], sink); });
  }

  void columns_of_sstat() {
    for (auto fields : {live_fields(), pid_fields()})
      for (const LiveField& f : fields) {
        std::string& out = texts["sstat " + std::string(f.name)];
        Table<LiveView> aligned, parsable(TableStyle{TableStyle::Form::kSeparated, "|", true});
        aligned.add(f);
        parsable.add(f);
        aligned.header(out);
        parsable.header(out);
        for (uint32_t i = 0; i < kPartitions; ++i) {
          const Varied is(i);
          StepRow row;
          row.cpu_freq = is.one_of<std::string>("cpu_freq", {"", "800000-1200000:ondemand", "high"});
          row.tasks = is.count("tasks");
          row.tres = varied_amounts(is, "tres");
          const StepUsagePtr usage = varied_usage(i);
          const LiveView view{.id = "12.0",
                              .sluid = Sluid(is.number("sluid")),
                              .row = row,
                              .usage = usage.get(),
                              .style = {is.one_of<char>("units", {0, 'K', 'G'}), is.flag("noconvert")},
                              .node = "n1",
                              .pids = "4711,4712"};
          aligned.row(view, out);
          parsable.row(view, out);
        }
      }
    texts["sstat --helpformat"] = live_help();
  }
};

TEST(PrintedNodes, EveryFieldAsItWas) {
  print_times_in_utc();
  PrintedNodes all;
  all.columns_of_sinfo();
  all.records_of_scontrol();
  all.documents();
  all.columns_of_sstat();
  expect_digests_kept("printed_nodes.txt", all.texts);
}

TEST(PrintedNodes, OneInFull) {
  print_times_in_utc();
  const PrintedNodes all;
  constexpr uint32_t kNode = 40, kPartition = 3;
  std::string out;
  show_node(all.nodes[kNode], all.environments[0], {.details = true}, out);
  show_partition(all.partitions[kPartition], all.environments[0], {}, out);
  out += document_of(TreeForm::kYaml, [&](TreeSink& sink) { json_node(all.nodes[kNode], all.environments[0], sink); });
  out += document_of(TreeForm::kYaml, [&](TreeSink& sink) { json_partition(all.partitions[kPartition], all.environments[0], sink); });
  out += document_of(TreeForm::kYaml, [&](TreeSink& sink) { json_sinfo(all.view(kNode + 3), sink); });
  expect_kept("printed_nodes.sample", out);
}

}  // namespace
}  // namespace muster::fields
