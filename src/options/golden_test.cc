// Messages for wrong input, line by line as the commands print them: testdata/messages.txt. Blocks of "$
// command line" and the expected output; words are split at blanks, NAME=value words before the command are
// environment. The wording of the first lines was observed with Slurm's own commands where Slurm says
// anything. MUSTER_RECORD_MESSAGES=file writes what is said now, to be read and compared before it is taken
// over.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "options/parser.h"
#include "options/query_options.h"

namespace muster {
namespace {

constexpr int64_t kNow = 1'767'225'600;

struct CommandText {
  std::map<std::string, std::string> env;
  std::string command;
  std::vector<std::string> arguments;
};

CommandText split_command(const std::string& text) {
  CommandText out;
  std::istringstream in(text);
  std::string word;
  while (in >> word) {
    size_t eq = word.find('=');
    if (out.command.empty() && eq != std::string::npos) out.env[word.substr(0, eq)] = word.substr(eq + 1);
    else if (out.command.empty()) out.command = word;
    else out.arguments.push_back(word);
  }
  return out;
}

std::string lines_of(const std::vector<Message>& messages, const std::string& program) {
  std::string out;
  for (const Message& m : messages)
    if (m.level != Message::Level::kHint) out += render(m, program) + "\n";
  return out;
}

std::string run(const CommandText& c) {
  EnvLookup env = [&](const char* name) -> const char* {
    auto it = c.env.find(name);
    return it == c.env.end() ? nullptr : it->second.c_str();
  };
  if (c.command == "squeue") return lines_of(parse_squeue(c.arguments, env).messages, c.command);
  if (c.command == "sinfo") return lines_of(parse_sinfo(c.arguments, env).messages, c.command);
  if (c.command == "scancel") return lines_of(parse_scancel(c.arguments, env).messages, c.command);
  if (c.command == "scontrol") return lines_of(parse_scontrol(c.arguments, env).messages, c.command);
  if (c.command == "sattach") return lines_of(parse_sattach(c.arguments, env).messages, c.command);
  if (c.command == "sbcast") return lines_of(parse_sbcast(c.arguments, env).messages, c.command);
  Command command = c.command == "srun" ? Command::kSrun : c.command == "salloc" ? Command::kSalloc : Command::kSbatch;
  auto scan = scan_job_command(command, c.arguments);
  if (!scan.ok()) return lines_of(scan.messages, c.command);
  JobInputs in;
  in.env = env;
  in.now = from_unix(kNow);
  return lines_of(parse_job_command(scan.line, in).messages, c.command);
}

TEST(Golden, WrongInputIsAnsweredAsUsersKnowIt) {
  std::ifstream file("src/options/testdata/messages.txt");
  ASSERT_TRUE(file) << "run from the repository's root";
  const char* record_path = std::getenv("MUSTER_RECORD_MESSAGES");
  std::ofstream record(record_path ? record_path : "/dev/null");
  std::string line, command, expected;
  int count = 0;
  auto check = [&] {
    if (command.empty()) return;
    std::string actual = run(split_command(command));
    record << "$ " << command << "\n" << actual;
    EXPECT_EQ(actual, expected) << "$ " << command;
    ++count;
  };
  while (std::getline(file, line)) {
    if (line.starts_with("# ") || line.empty()) continue;
    if (line.starts_with("$ ")) {
      check();
      command = line.substr(2);
      expected.clear();
    } else {
      expected += line + "\n";
    }
  }
  check();
  EXPECT_GE(count, 150);
}

}  // namespace
}  // namespace muster
