#include "options/script_directives.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

Result<std::vector<std::string>> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t index = 0; index < text.size(); ++index) {
    char letter = text[index];
    if (letter == '\\' && quote != '\'' && index + 1 < text.size() &&
        std::string_view("\\\"'#").find(text[index + 1]) != std::string_view::npos) {
      word += text[++index];
      in_word = true;
    } else if (quote ? letter == quote : (letter == '"' || letter == '\'')) {
      quote = quote ? 0 : letter;
      in_word = true;
    } else if (!quote && letter == '#') {
      break;
    } else if (!quote && kBlanks.find(letter) != kBlanks.npos) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += letter;
      in_word = true;
    }
  }
  if (quote) return fail(Errc::kInvalidReq, std::string("Unmatched `").append(1, quote).append("` in [").append(trim(text)).append("]"));
  if (in_word) words.push_back(std::move(word));
  std::erase_if(words, [](const std::string& w) { return w.empty(); });
  return words;
}

}  // namespace

Result<std::vector<std::string>> directive_words(std::string_view text) {
  MUSTER_TRY(words, split_words(text));
  for (const std::string& w : words)
    if (w == ":")
      return fail(Errc::kInvalidReq, "Unexpected `:` in [" + std::string(trim(text)) + "]",
                  "in a script the line \"#SBATCH hetjob\" begins the next component of a heterogeneous job");
  return words;
}

bool begins_component(const std::vector<std::string>& words) {
  return words.size() == 1 && (words[0] == "hetjob" || words[0] == "packjob");
}

Result<Directives> read_directives(std::string_view script, std::string_view script_name) {
  Directives out;
  size_t line = 0;
  while (!script.empty()) {
    ++line;
    size_t end = script.find('\n');
    std::string_view text = script.substr(0, end);
    script = end == script.npos ? std::string_view() : script.substr(end + 1);
    size_t start = text.find_first_not_of(kBlanks);
    if (start == text.npos) continue;
    if (text[start] != '#') break;
    if (text.starts_with("#PBS") || text.starts_with("#BSUB")) out.foreign_lines.push_back(line);
    if (!text.starts_with("#SBATCH")) continue;
    Result<std::vector<std::string>> words = directive_words(text.substr(7));
    if (!words) {
      Error e = std::move(words).error();
      e.text = std::string(script_name) + ": line " + std::to_string(line) + ": " + e.text;
      return std::unexpected(std::move(e));
    }
    if (begins_component(*words)) ++out.components;
    else if (!words->empty()) out.lines.push_back({line, out.components - 1, std::move(*words)});
  }
  return out;
}

std::vector<ScriptFault> script_faults(std::string_view script, size_t max_bytes) {
  std::vector<ScriptFault> out;
  auto fault = [&](std::string text, std::string hint = {}) {
    out.push_back({Error(Errc::kScriptInvalid, std::move(text), std::move(hint))});
  };
  if (script.empty()) {
    fault("Batch script is empty!");
    return out;
  }
  if (script.size() > max_bytes)
    fault("Batch script is larger than the " + std::to_string(max_bytes) + " bytes that are allowed",
          "let the script read large data from a file (SchedulerParameters=max_script_size sets the limit)");
  if (std::all_of(script.begin(), script.end(), [](char c) { return c == '\n' || kBlanks.find(c) != kBlanks.npos; })) {
    fault("Batch script contains only whitespace!");
    return out;
  }
  if (!script.starts_with("#!")) {
    fault("This does not look like a batch script.  The first\nline must start with #! followed by the "
          "path to an "
          "interpreter.\nFor instance: #!/bin/sh",
          script.starts_with("\xEF\xBB\xBF#!")
              ? "an invisible byte order mark stands before the #!: sed -i '1s/^\\xEF\\xBB\\xBF//' removes it"
              : "add a first line such as #!/bin/bash before the #SBATCH lines");
    out.back().line = 1;
  }
  if (script.find('\0') != script.npos) fault("The Slurm controller does not allow scripts that\ncontain a NULL character '\\0'.");
  if (script.find("\r\n") != script.npos)
    fault("Batch script contains DOS line breaks (\\r\\n)\ninstead of expected UNIX line breaks (\\n).",
          "dos2unix, or sed -i 's/\\r$//', puts them right");
  return out;
}

Result<> check_script(std::string_view script, size_t max_bytes) {
  std::vector<ScriptFault> faults = script_faults(script, max_bytes);
  if (!faults.empty()) return std::unexpected(std::move(faults.front().error));
  return {};
}

std::string wrap_script(std::string_view command) {
  return "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + std::string(command) + "\n";
}

}  // namespace muster
