// muster-sim generate: a month of work for a cluster that does not exist, into a directory that muster-sim replay reads.
#include <sys/stat.h>

#include <charconv>
#include <cstdio>

#include "base/text.h"
#include "sim/replay/figures.h"
#include "sim/replay/generate.h"
#include "sim/tool/command_line.h"

namespace muster::sim::tool {
namespace {

using namespace replay;

template <class T>
std::function<bool(const std::string&)> number(T& into, T low, T high) {
  return [&into, low, high](const std::string& text) {
    auto n = parse_number<T>(text, low, high);
    if (n) into = *n;
    return n.has_value();
  };
}

std::function<bool(const std::string&)> real(double& into, double low, double high) {
  return [&into, low, high](const std::string& text) {
    double v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    const bool good = error == std::errc() && end == text.data() + text.size() && v >= low && v <= high;
    if (good) into = v;
    return good;
  };
}

CommandLine command_line(GenerateOptions& options, std::string& folder, bool& figures) {
  CommandLine line;
  line.usage = "usage: muster-sim generate --out DIR [options]";
  line.purpose = "Makes weeks or months of a GPU cluster's work from published figures: DIR/trace.txt, in the format of\n"
                 "sacct -P, with slurm.conf, gres.conf and accounts of the cluster that it is for. Then, for example:\n"
                 "  muster-sim replay --trace DIR/trace.txt --config DIR\n";
  line.rows = {
      {"--out", "DIR", "where to write; made if it is not there", [&](const std::string& v) { return folder = v, !v.empty(); }},
      {"--like", "NAME", "whose figures: philly, helios, seren or kalos (default helios); --figures has them",
       [&](const std::string& v) { return (options.profile = profile_named(v)) != nullptr; }},
      {"--months", "N", "of 30 days (default 1)", real(options.months, 0.01, 60)},
      {"--nodes", "N", "(default 100)", number<uint32_t>(options.nodes, 1, 20'000)},
      {"--gpus-per-node", "N", "1, 2, 4, 8 or 16 (default 8)",
       [&](const std::string& v) {
         auto n = parse_number<uint32_t>(v, 1, 16);
         if (n) options.gpus_per_node = *n;
         return n && (*n & (*n - 1)) == 0;
       }},
      {"--cpus-per-node", "N", "(default 96)", number<uint32_t>(options.cpus_per_node, 1, 4096)},
      {"--users", "N", "(default 60)", number<uint32_t>(options.users, 1, 100'000)},
      {"--accounts", "N", "(default 8)", number<uint32_t>(options.accounts, 1, 10'000)},
      {"--load", "PART", "GPU time asked for, as a part of what there is (default 0.85)", real(options.load, 0.01, 5)},
      {"--jobs", "N", "so many jobs instead of as many as the load makes; their run times are stretched\nso that they make the load",
       number<uint64_t>(options.jobs, 1, 5'000'000)},
      {"--seed", "N", "another number, another month (default 1); the same gives the same bytes",
       number<uint64_t>(options.seed, 0, UINT64_MAX)},
      {"--figures", "", "print the published figures with their papers, and what is assumed, and end",
       [&](const std::string&) { return figures = true; }},
  };
  line.after = "\nExit status: 0; 1 when nothing could be written; 2 for wrong use.\n";
  return line;
}

}  // namespace

int generate_command(int argc, char** argv) {
  GenerateOptions options;
  options.profile = profile_named("helios");
  std::string folder;
  bool figures = false;
  const CommandLine line = command_line(options, folder, figures);
  if (auto status = line.read("muster-sim generate", argc, argv)) return *status;
  if (figures) return std::fputs(figures_text().c_str(), stdout) < 0;
  if (folder.empty())
    return std::fprintf(stderr, "muster-sim generate: error: --out DIR is missing\n  see muster-sim generate --help\n"), kWrongUse;
  auto made = generate(options);
  if (!made) {
    std::fprintf(stderr, "muster-sim generate: error: %s\n  %s\n", std::string(made.error().message()).c_str(), made.error().hint.c_str());
    return kWrongUse;
  }
  ::mkdir(folder.c_str(), 0777);  // where it is there already, or cannot be made, writing tells
  const std::pair<const char*, const std::string*> files[] = {
      {"/trace.txt", &made->trace}, {"/slurm.conf", &made->slurm_conf}, {"/gres.conf", &made->gres_conf}, {"/accounts", &made->accounts}};
  std::string error;
  for (auto [name, text] : files)
    if (!write_whole(folder + name, *text, error)) return std::fprintf(stderr, "muster-sim generate: error: %s\n", error.c_str()), 1;
  std::printf("%s: %s jobs like %s's in %s days on %u nodes with %u GPUs each\n"
              "  GPUs of a job: mean %.2f (published %.2f); run time: mean %s (%s), median %s (%s)\n"
              "  %s GPU-hours, a load of %s%s\n"
              "  what is published and what is assumed: muster-sim generate --figures\n",
              folder.c_str(), count_text(made->jobs).c_str(), options.profile->name, number_text(options.months * 30, 1).c_str(),
              options.nodes, options.gpus_per_node, made->mean_gpus, options.profile->mean_gpus, span_text(made->mean_run).c_str(),
              span_text(options.profile->mean_run).c_str(), span_text(made->median_run).c_str(),
              span_text(options.profile->median_run).c_str(), number_text(made->gpu_hours, 0).c_str(), percent_text(made->load).c_str(),
              made->stretch != 1 ? ("; run times are " + number_text(made->stretch, 2) + " times as long as published").c_str() : "");
  return 0;
}

}  // namespace muster::sim::tool
