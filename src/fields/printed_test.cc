// What is printed of jobs stays as it is, to the byte: 400 varied ones go through every column of squeue and sacct, through scontrol's
// records and through --json and --yaml. testdata/printed.txt keeps a digest for each column, member and form, and testdata/printed.sample
// one job in full: printed_testing.h.
#include "fields/format.h"
#include "fields/json.h"
#include "fields/printed_testing.h"
#include "fields/record_view.h"
#include "fields/show_job.h"
#include "fields/sort.h"
#include "fields/varied_rows_testing.h"

namespace muster::fields {
namespace {

constexpr uint32_t kJobs = 400;

struct Printed {
  std::vector<TestJob> jobs;
  std::vector<Environment> environments;
  std::vector<JobRecord> records;
  std::vector<StepRecord> steps;
  PrintedTexts texts;

  Printed() {
    for (uint32_t i = 0; i < kJobs; ++i) {
      jobs.push_back(varied_job(i));
      environments.push_back(varied_environment(i));
      records.push_back(varied_record(i));
      steps.push_back(varied_step_record(i, records.back()));
      steps.back().usage = varied_usage(i);
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
    return document_of(form, [&](TreeSink& sink) { json_job(view(i), sink); });
  }
  std::string record_document(uint32_t i, TreeForm form) const {
    const RecordStyle style;
    return document_of(form, [&](TreeSink& sink) {
      json_record({records[i], nullptr, environments[i], style, std::span(&steps[i], 1)}, std::span(&steps[i], 1), sink);
    });
  }
  void documents() {
    for (uint32_t i = 0; i < kJobs; ++i) {
      texts["--yaml of jobs"] += job_document(i, TreeForm::kYaml);
      texts["--yaml of records"] += record_document(i, TreeForm::kYaml);
      texts["--json of jobs"] += job_document(i, TreeForm::kJson);
      texts["--json of records"] += record_document(i, TreeForm::kJson);
      add_members(texts, "job", job_document(i, TreeForm::kJson));
      add_members(texts, "record", record_document(i, TreeForm::kJson));
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
        for (const bool of_step : {false, true}) {
          const RecordView view{records[i], of_step ? &steps[i] : nullptr, environments[i], styles[i % 2],
                                std::span(&steps[i], of_step ? 0 : 1)};
          aligned.row(view, out);
          parsable.row(view, out);
        }
    }
    texts["sacct --helpformat"] = record_help();
  }
};

TEST(Printed, EveryFieldAsItWas) {
  print_times_in_utc();
  Printed all;
  all.columns_of_squeue();
  all.records_of_scontrol();
  all.documents();
  all.columns_of_sacct();
  expect_digests_kept("printed.txt", all.texts);
}

TEST(Printed, OneJobInFull) {
  print_times_in_utc();
  const Printed all;
  constexpr uint32_t kPending = 24, kRunning = 39;
  std::string out;
  for (uint32_t i : {kPending, kRunning}) show_job(all.view(i), {.details = true}, out);
  out += all.job_document(kRunning, TreeForm::kYaml) + all.record_document(kRunning, TreeForm::kYaml);
  expect_kept("printed.sample", out);
}

}  // namespace
}  // namespace muster::fields
