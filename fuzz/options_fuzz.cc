// Any text as a batch script with its #SBATCH lines, and as a command line of sbatch, srun and salloc (words at
// newlines): options, or messages; never a crash, never a failure without a message.
#include <cstdint>
#include <cstdlib>

#include "base/text.h"
#include "options/parser.h"
#include "options/script_directives.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster;
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  JobInputs in;
  in.now = from_unix(1795250940);
  std::vector<std::string> words;
  Command command = Command::kSbatch;
  if (data[0] % 4 == 0) {
    if (!check_script(text)) return 0;
    in.script = &text;
    in.script_name = "fuzz.sh";
    words = {"fuzz.sh"};
  } else {
    command = data[0] % 4 == 1 ? Command::kSbatch : data[0] % 4 == 2 ? Command::kSrun : Command::kSalloc;
    for (std::string_view w : split(text, '\n', true)) words.emplace_back(w);
  }
  JobScanResult scan = scan_job_command(command, words);
  if (!scan.ok()) return 0;
  JobParse parse = parse_job_command(scan.line, in);
  if (parse.outcome == Outcome::kFailed && parse.messages.empty()) std::abort();
  return 0;
}
