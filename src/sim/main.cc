// muster-sim: runs seeds of the simulated cluster, each twice, and reports the first violation of each that has one. Its subcommands replay and
// generate are in tool/.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "sim/options.h"
#include "sim/story.h"
#include "sim/tool/command_line.h"

namespace {

using namespace muster;
using namespace muster::sim;

struct Arguments {
  uint64_t first = 1, last = 1;
  RunOptions run;
  unsigned threads = 1;
  bool once = false, keep_going = false;
  std::string keep_log;  // the file for it
};

int usage(FILE* to) {
  std::fprintf(to,
               "usage: muster-sim replay --trace FILE --config DIR …   what a configuration makes of the jobs of a trace\n"
               "       muster-sim generate --out DIR …                 months of a GPU cluster's jobs, from published figures\n"
               "       muster-sim replay --help, muster-sim generate --help\n"
               "\n"
               "       muster-sim [--seed N | --seeds A-B] [--steps N] [--faults LIST] [--threads N]\n"
               "                  [--once] [--keep-going] [--verbose] [--keep-log FILE]\n"
               "       muster-sim --story FILE\n"
               "Simulated worlds with faults, to find errors of Muster itself:\n"
               "  --seed N       one world; --seeds A-B all from A to B (default 1)\n"
               "  --steps N      commands of users and admins in the first phase (default %u)\n"
               "  --faults LIST  of %s (default all)\n"
               "  --threads N    worlds at a time (default 1)\n"
               "  --once         do not repeat each seed to compare the hashes\n"
               "  --keep-going   go on after a violation\n"
               "  --verbose      print every happening\n"
               "  --keep-log FILE  of one seed: writes the events of its log, for test/releases\n"
               "  --story FILE   prints what such a log amounts to\n"
               "Exit status: 0 all promises held, 1 a violation, 2 wrong arguments.\n",
               RunOptions{}.actions, fault_names().c_str());
  return to == stdout ? 0 : 2;
}

bool parse_range(std::string_view text, Arguments& a) {
  size_t dash = text.find('-');
  auto first = parse_number<uint64_t>(text.substr(0, dash));
  auto last = dash == std::string_view::npos ? first : parse_number<uint64_t>(text.substr(dash + 1));
  if (!first || !last || *last < *first) return false;
  a.first = *first;
  a.last = *last;
  return true;
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int index = 1; index < argc; ++index) {
    std::string_view name = argv[index], value;
    if (size_t eq = name.find('='); eq != std::string_view::npos) {
      value = name.substr(eq + 1);
      name = name.substr(0, eq);
    } else if (name == "--seed" || name == "--seeds" || name == "--steps" || name == "--faults" || name == "--threads" ||
               name == "--keep-log") {
      if (++index == argc) return false;
      value = argv[index];
    }
    if (name == "--seed" || name == "--seeds") {
      if (!parse_range(value, arguments)) return false;
    } else if (name == "--steps") {
      auto n = parse_number<uint32_t>(value, 1, 100'000);
      if (!n) return false;
      arguments.run.actions = *n;
    } else if (name == "--threads") {
      auto n = parse_number<uint32_t>(value, 1, 256);
      if (!n) return false;
      arguments.threads = *n;
    } else if (name == "--faults") {
      auto f = parse_faults(value);
      if (!f) return false;
      arguments.run.faults = *f;
    } else if (name == "--keep-log") {
      arguments.keep_log = value;
    } else if (name == "--once") {
      arguments.once = true;
    } else if (name == "--keep-going") {
      arguments.keep_going = true;
    } else if (name == "--verbose") {
      arguments.run.verbose = true;
    } else {
      return false;
    }
  }
  return arguments.keep_log.empty() || arguments.first == arguments.last;
}

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  return static_cast<bool>(file.flush());
}

int print_story(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream log;
  log << file.rdbuf();
  auto story = file ? story_of(log.str()) : Result<std::string>(fail(Errc::kNotFound, "cannot be read"));
  if (!story) return std::fprintf(stderr, "muster-sim: %s: %s\n", path, std::string(story.error().message()).c_str()), 1;
  std::fputs(story->c_str(), stdout);
  return 0;
}

struct Totals {
  std::mutex mutex;
  uint64_t seeds = 0, failed = 0, jobs = 0, events = 0, turns = 0, crashes = 0, rollbacks = 0, seconds = 0;
};

void report(uint64_t seed, const RunResult& result, bool repeatable, Totals& totals) {
  std::lock_guard lock(totals.mutex);
  ++totals.seeds;
  totals.jobs += result.jobs;
  totals.events += result.events;
  totals.turns += result.turns;
  totals.crashes += result.crashes;
  totals.rollbacks += result.rollbacks;
  totals.seconds += result.simulated_seconds;
  if (totals.seeds % 200 == 0)
    std::printf("%llu seeds, %llu jobs\n", static_cast<unsigned long long>(totals.seeds), static_cast<unsigned long long>(totals.jobs));
  if (result.ok && repeatable) return;
  ++totals.failed;
  std::printf("seed %llu: %s: %s\n", static_cast<unsigned long long>(seed), result.ok ? "determinism" : result.checker.c_str(),
              result.ok ? "two runs differ" : result.text.c_str());
  for (const std::string& line : result.tail) std::printf("  %s\n", line.c_str());
  std::printf("again: muster-sim --seed %llu --verbose --once\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], "replay") == 0) return tool::replay_command(argc - 2, argv + 2);
  if (argc >= 2 && std::strcmp(argv[1], "generate") == 0) return tool::generate_command(argc - 2, argv + 2);
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) return usage(stdout);
  if (argc == 3 && std::strcmp(argv[1], "--story") == 0) return print_story(argv[2]);
  Arguments arguments;
  if (!parse(argc, argv, arguments)) return usage(stderr);
  Totals totals;
  std::atomic<uint64_t> next{arguments.first};
  std::atomic<bool> stop{false}, unwritten{false};
  auto work = [&] {
    for (uint64_t seed = next++; seed <= arguments.last && !stop; seed = next++) {
      RunOptions options = arguments.run;
      options.seed = seed;
      std::string log;
      if (!arguments.keep_log.empty()) options.keep = [&](std::string_view record) { add_record(log, record); };
      RunResult result = run_seed(options);
      options.keep = nullptr;
      if (!arguments.keep_log.empty() && !write_file(arguments.keep_log, log)) {
        std::fprintf(stderr, "muster-sim: --keep-log: %s cannot be written\n", arguments.keep_log.c_str());
        unwritten = true;
      }
      bool repeatable = true;
      if (!arguments.once && result.ok) {
        options.verbose = false;
        repeatable = run_seed(options).hash == result.hash;
      }
      report(seed, result, repeatable, totals);
      if ((!result.ok || !repeatable) && !arguments.keep_going) stop = true;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < arguments.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  std::printf(
      "%llu seeds, %llu failed: %llu jobs, %llu events in %llu turns, %llu controller crashes, %llu rollbacks, %llu simulated hours\n",
      static_cast<unsigned long long>(totals.seeds), static_cast<unsigned long long>(totals.failed),
      static_cast<unsigned long long>(totals.jobs), static_cast<unsigned long long>(totals.events),
      static_cast<unsigned long long>(totals.turns), static_cast<unsigned long long>(totals.crashes),
      static_cast<unsigned long long>(totals.rollbacks), static_cast<unsigned long long>(totals.seconds / 3600));
  return totals.failed || unwritten ? 1 : 0;
}
