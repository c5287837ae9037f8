// muster-match: the scheduler in the hand. Reads a configuration, imagines a cluster of its nodes, and places jobs on it by commands from
// files, a pipe or a terminal. session.h has the commands.
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "base/version.h"
#include "match/session.h"

namespace muster::match {
namespace {

constexpr int kSomeFailed = 1, kWrongUse = 2;
constexpr size_t kMaxFile = 64u << 20;

class DiskFiles final : public config::FileSource {
 public:
  std::optional<std::string> read(const std::string& path) override {
    struct stat st {};
    if (::stat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode) || static_cast<size_t>(st.st_size) > kMaxFile) return std::nullopt;
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
};

struct Arguments {
  std::string conf;
  std::vector<std::string> files;
  bool echo = false, strict = false;
};

void usage(std::ostream& out) {
  out << "Usage: muster-match [--echo] [--strict] CONF [FILE...]\n"
         "Places jobs on an imagined cluster, as the controller would, and says why it does not.\n\n"
         "  CONF       a slurm.conf, or the directory that holds it and its companions\n"
         "  FILE       commands, one per line; - or none: standard input\n"
         "  --echo     print each command before its answer\n"
         "  --strict   stop at the first command that is in error\n"
         "  -h, --help; -V, --version\n\n"
         "Commands:\n"
      << Session::help()
      << "\nExit status: 0, or 1 when a command was in error, or 2 for wrong use or a configuration in "
         "error.\n"
         "A job that has to wait or can never run is an answer, not an error.\n";
}

// Returns an exit status, or nothing if the program is to go on.
std::optional<int> read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int index = 1; index < argc; ++index) {
    const std::string word = argv[index];
    if (word == "-h" || word == "--help") {
      usage(std::cout);
      return 0;
    }
    if (word == "-V" || word == "--version") {
      std::cout << kVersionLine << "\n";
      return 0;
    }
    if (word == "--echo") {
      arguments.echo = true;
    } else if (word == "--strict") {
      arguments.strict = true;
    } else if (word.size() > 1 && word[0] == '-') {
      std::cerr << "muster-match: error: unknown option " << word << "\n  see muster-match --help\n";
      return kWrongUse;
    } else if (arguments.conf.empty()) {
      arguments.conf = word;
    } else {
      arguments.files.push_back(word);
    }
  }
  if (!arguments.conf.empty()) return std::nullopt;
  usage(std::cerr);
  return kWrongUse;
}

std::shared_ptr<const config::LoadedConfig> load(std::string path) {
  struct stat st {};
  if (::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode)) path += "/slurm.conf";
  DiskFiles files;
  auto loaded = config::load_config(files, path);
  if (!loaded) {
    std::cerr << config::to_text(loaded.error());
    return nullptr;
  }
  return std::make_shared<const config::LoadedConfig>(std::move(*loaded));
}

enum class End { kAllRead, kQuit, kStopped };

End run(Session& session, std::istream& in, const Arguments& arguments, bool prompt, bool& failed) {
  std::string line;
  while (true) {
    if (prompt) std::cout << "muster> " << std::flush;
    if (!std::getline(in, line)) return End::kAllRead;
    if (arguments.echo && !line.empty()) std::cout << "> " << line << "\n";
    const Answer answer = session.execute(line);
    std::cout << answer.text << std::flush;
    failed = failed || answer.failed;
    if (answer.quit) return End::kQuit;
    if (answer.failed && arguments.strict) return End::kStopped;
  }
}

int main_of(int argc, char** argv) {
  ::setenv("TZ", "UTC", 1);  // times of day in options mean the same everywhere
  ::tzset();
  Arguments arguments;
  if (auto status = read_arguments(argc, argv, arguments)) return *status;
  auto loaded = load(arguments.conf);
  if (!loaded) return kWrongUse;
  Session session(std::move(loaded));
  if (arguments.files.empty()) arguments.files.push_back("-");
  bool failed = false;
  for (const std::string& path : arguments.files) {
    End end;
    if (path == "-") {
      end = run(session, std::cin, arguments, ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO), failed);
    } else {
      std::ifstream file(path);
      if (!file) {
        std::cerr << "muster-match: error: cannot read " << path << "\n";
        return kWrongUse;
      }
      end = run(session, file, arguments, false, failed);
    }
    if (end != End::kAllRead) break;
  }
  return failed ? kSomeFailed : 0;
}

}  // namespace
}  // namespace muster::match

int main(int argc, char** argv) { return muster::match::main_of(argc, argv); }
