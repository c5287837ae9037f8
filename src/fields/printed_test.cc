// What is printed stays as it is, to the byte: 400 varied jobs go through every column of squeue and sacct, through scontrol's records and
// through --json and --yaml. testdata/printed.txt keeps a digest for each column, member and form, and testdata/printed.sample one job in
// full. MUSTER_UPDATE=1 writes both anew: the diff shows which fields changed. MUSTER_DUMP=DIR writes the texts themselves, for a diff of
// two builds.
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <map>

#include "base/documented_test.h"
#include "fields/format.h"
#include "fields/json.h"
#include "fields/record_view.h"
#include "fields/show_job.h"
#include "fields/sort.h"
#include "fields/varied_testing.h"

namespace muster::fields {
namespace {

constexpr uint32_t kJobs = 400;

struct Printed {
  std::vector<TestJob> jobs;
  std::vector<Environment> environments;
  std::vector<JobRecord> records;
  std::vector<StepRecord> steps;
  std::map<std::string, std::string> texts;  // by what was printed

  Printed() {
    for (uint32_t i = 0; i < kJobs; ++i) {
      jobs.push_back(varied_job(i));
      environments.push_back(varied_environment(i));
      records.push_back(varied_record(i));
      steps.push_back(varied_step_record(i, records.back()));
    }
  }
  JobView view(uint32_t i) const { return {jobs[i].row, jobs[i].request, environments[i]}; }

  void columns_of_squeue() {
    for (auto part : field_parts<JobView>())
      for (const JobField& f : part) {
        std::string& out = texts["squeue " + std::string(f.name)];
        const Format<JobView> format =
            parse_long_format<JobView>(std::string(f.name) + ":|," + std::string(f.name) + ":.7|," + std::string(f.name) + ":7|").format;
        format.header(out);
        for (uint32_t i = 0; i < kJobs; ++i) format.row(view(i), out);
        out += "letter " + std::string(1, f.letter ? f.letter : '-') + " parts " + std::to_string(f.parts) + "\n";
        if (f.letter) out += order_by(f.letter);
      }
    texts["squeue -O help"] = field_help<JobView>(true);
    std::string& all = texts["squeue -o %all"];
    const Format<JobView> format = parse_format<JobView>("%all").format;
    format.header(all);
    for (uint32_t i = 0; i < kJobs; ++i) format.row(view(i), all);
  }
  std::string order_by(char letter) const {
    RowSorter<JobView> sorter(parse_sort<JobView>(std::string(1, letter)).keys);
    for (uint32_t i = 0; i < kJobs; ++i) sorter.add(view(i));
    std::string out;
    for (uint32_t i : sorter.order()) out += std::to_string(i) + " ";
    return out;
  }

  void records_of_scontrol() {
    for (uint32_t i = 0; i < kJobs; ++i) {
      show_job(view(i), {}, texts["scontrol show job"]);
      show_job(view(i), {.oneliner = true}, texts["scontrol show job -o"]);
      show_job(view(i), {.details = true}, texts["scontrol show job -d"]);
      show_job(view(i), {.oneliner = true, .details = true}, texts["scontrol show job -od"]);
    }
  }

  std::string job_document(uint32_t i, TreeForm form) const {
    std::string out;
    auto sink = make_tree_sink(form, form == TreeForm::kJson, out);
    json_job(view(i), *sink);
    return out + "\n";
  }
  std::string record_document(uint32_t i, TreeForm form) const {
    std::string out;
    auto sink = make_tree_sink(form, form == TreeForm::kJson, out);
    const RecordStyle style;
    json_record({records[i], nullptr, environments[i], style}, std::span(&steps[i], 1), *sink);
    return out + "\n";
  }
  void members(const std::string& what, const std::string& document) {
    rapidjson::Document doc;
    doc.Parse(document.c_str());
    ASSERT_FALSE(doc.HasParseError()) << document;
    for (const auto& m : doc.GetObject()) {
      rapidjson::StringBuffer buffer;
      rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
      m.value.Accept(writer);
      texts[what + " " + m.name.GetString()] += std::string(buffer.GetString()) + "\n";
    }
  }
  void documents() {
    for (uint32_t i = 0; i < kJobs; ++i) {
      texts["--yaml of jobs"] += job_document(i, TreeForm::kYaml);
      texts["--yaml of records"] += record_document(i, TreeForm::kYaml);
      texts["--json of jobs"] += job_document(i, TreeForm::kJson);
      texts["--json of records"] += record_document(i, TreeForm::kJson);
      members("job", job_document(i, TreeForm::kJson));
      members("record", record_document(i, TreeForm::kJson));
    }
  }

  void columns_of_sacct() {
    const RecordStyle styles[] = {{}, {.units = 'K', .truncate = true, .from = from_unix(kNow - 1000), .until = from_unix(kNow)}};
    for (const RecordField& f : record_fields()) {
      std::string& out = texts["sacct " + std::string(f.name)];
      Table<RecordView> aligned, parsable(TableStyle{TableStyle::Form::kSeparated, "|", true});
      aligned.add(f);
      parsable.add(f);
      aligned.header(out);
      parsable.header(out);
      for (uint32_t i = 0; i < kJobs; ++i)
        for (const StepRecord* step : {static_cast<const StepRecord*>(nullptr), static_cast<const StepRecord*>(&steps[i])}) {
          aligned.row({records[i], step, environments[i], styles[i % 2]}, out);
          parsable.row({records[i], step, environments[i], styles[i % 2]}, out);
        }
    }
  }
};

std::string digests(const std::map<std::string, std::string>& texts) {
  std::string out;
  for (const auto& [what, text] : texts) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    char hex[20];
    std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(hash));
    out += std::string(hex) + " " + what + "\n";
  }
  return out;
}

void expect_kept(const std::string& name, const std::string& now) {
  const std::string path = "src/fields/testdata/" + name;
  if (std::getenv("MUSTER_UPDATE")) std::ofstream(path) << now;
  EXPECT_EQ(contents_of(path), now) << path;
}

TEST(Printed, EveryFieldAsItWas) {
  setenv("TZ", "UTC", 1);
  tzset();
  Printed all;
  all.columns_of_squeue();
  all.records_of_scontrol();
  all.documents();
  all.columns_of_sacct();
  if (const char* dir = std::getenv("MUSTER_DUMP"))
    for (auto [what, text] : all.texts) {
      std::string file = what;
      std::ranges::replace(file, ' ', '_');
      std::ofstream(std::string(dir) + "/" + file) << text;
    }
  expect_kept("printed.txt", digests(all.texts));
}

TEST(Printed, OneJobInFull) {
  setenv("TZ", "UTC", 1);
  tzset();
  const Printed all;
  constexpr uint32_t kPending = 24, kRunning = 39;
  std::string out;
  for (uint32_t i : {kPending, kRunning}) show_job(all.view(i), {.details = true}, out);
  out += all.job_document(kRunning, TreeForm::kYaml) + all.record_document(kRunning, TreeForm::kYaml);
  expect_kept("printed.sample", out);
}

}  // namespace
}  // namespace muster::fields
