#include "options/script_directives.h"

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

std::unexpected<Error> directive_error(std::string_view name, size_t line, std::string what,
                                       std::string hint = {}) {
  return fail(Errc::kInvalidReq,
              std::string(name) + ": line " + std::to_string(line) + ": " + std::move(what), std::move(hint));
}

Result<std::vector<std::string>> split_words(std::string_view text, std::string_view name, size_t line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size() &&
        std::string_view("\\\"'#").find(text[i + 1]) != std::string_view::npos) {
      word += text[++i];
      in_word = true;
    } else if (quote ? c == quote : (c == '"' || c == '\'')) {
      quote = quote ? 0 : c;
      in_word = true;
    } else if (!quote && c == '#') {
      break;
    } else if (!quote && kBlanks.find(c) != kBlanks.npos) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (quote)
    return directive_error(
        name, line,
        std::string("Unmatched `").append(1, quote).append("` in [").append(trim(text)).append("]"));
  if (in_word) words.push_back(std::move(word));
  std::erase_if(words, [](const std::string& w) { return w.empty(); });
  return words;
}

constexpr const char* kHetHint =
    "heterogeneous jobs are not available yet: submit the components as separate jobs";

}  // namespace

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
    MUSTER_TRY(words, split_words(text.substr(7), script_name, line));
    for (const std::string& w : words) {
      if (w == ":")
        return directive_error(script_name, line,
                               "Unexpected `:` in [" + std::string(trim(text.substr(7))) + "]", kHetHint);
    }
    if (!words.empty() && (words[0] == "hetjob" || words[0] == "packjob"))
      return directive_error(script_name, line,
                             "\"" + words[0] + "\" starts a component of a heterogeneous job", kHetHint);
    if (!words.empty()) out.lines.push_back({line, std::move(words)});
  }
  return out;
}

Result<> check_script(std::string_view script, size_t max_bytes) {
  if (script.empty()) return fail(Errc::kScriptInvalid, "Batch script is empty!");
  if (script.size() > max_bytes)
    return fail(
        Errc::kScriptInvalid,
        "Batch script is larger than the " + std::to_string(max_bytes) + " bytes that are allowed",
        "let the script read large data from a file (SchedulerParameters=max_script_size sets the limit)");
  if (std::all_of(script.begin(), script.end(),
                  [](char c) { return c == '\n' || kBlanks.find(c) != kBlanks.npos; }))
    return fail(Errc::kScriptInvalid, "Batch script contains only whitespace!");
  if (!script.starts_with("#!"))
    return fail(Errc::kScriptInvalid,
                "This does not look like a batch script.  The first\nline must start with #! followed by the "
                "path to an "
                "interpreter.\nFor instance: #!/bin/sh",
                "add a first line such as #!/bin/bash before the #SBATCH lines");
  if (script.find('\0') != script.npos)
    return fail(Errc::kScriptInvalid,
                "The Slurm controller does not allow scripts that\ncontain a NULL character '\\0'.");
  if (script.find("\r\n") != script.npos)
    return fail(Errc::kScriptInvalid,
                "Batch script contains DOS line breaks (\\r\\n)\ninstead of expected UNIX line breaks (\\n).",
                "dos2unix, or sed -i 's/\\r$//', puts them right");
  return {};
}

std::string wrap_script(std::string_view command) {
  return "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + std::string(command) + "\n";
}

}  // namespace muster
