// Rules about how directives are written: lines that look like a directive and are not read, and characters that do not do what was hoped
// for.
#include <algorithm>

#include "base/text.h"
#include "muster/lint_rules.h"

namespace muster::front {
namespace {

constexpr std::string_view kBlanks = " \t";

// The word that ends the here-document begun on this line; "" when none begins.
std::string_view here_document(std::string_view line) {
  size_t at = line.find("<<");
  if (at == line.npos || line.substr(at).starts_with("<<<")) return {};
  at += 2;
  if (at < line.size() && line[at] == '-') ++at;
  while (at < line.size() && (kBlanks.find(line[at]) != kBlanks.npos || line[at] == '\'' || line[at] == '"')) ++at;
  size_t end = at;
  while (end < line.size() && (isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) ++end;
  return line.substr(at, end - at);
}

// Directives after the first command are only comments. The text of here-documents belongs to another script, so it is not checked.
void late_directives(const Look& look, Findings& out) {
  if (look.first_command == 0) return;
  std::string_view until;
  for (size_t i = look.first_command - 1; i < look.lines.size(); ++i) {
    std::string_view line = look.lines[i];
    if (!until.empty()) {
      if (trim(line) == until) until = {};
      continue;
    }
    if (line.starts_with("#SBATCH") && trim(line.substr(7)).starts_with("-"))
      warn(look, i + 1, "#SBATCH", "is not read: the first command is in line " + std::to_string(look.first_command),
           "move it above that line", out);
    else if (!line.starts_with("#")) until = here_document(line);
  }
}

// Near misses: "# SBATCH --x", " #SBATCH --x", "#sbatch --x", "#SBACTH --x". "##SBATCH" is how people switch a directive off.
void almost_directives(const Look& look, Findings& out) {
  for (size_t index = 0; index < look.lines.size() && (look.first_command == 0 || index + 1 < look.first_command); ++index) {
    std::string_view line = look.lines[index], seen = trim(line);
    if (!seen.starts_with("#") || line.starts_with("#SBATCH") || seen.starts_with("##") || seen.starts_with("#!")) continue;
    std::string_view word = trim(seen.substr(1));
    std::string_view rest = word;
    word = word.substr(0, word.find_first_of(kBlanks));
    rest = trim(rest.substr(word.size()));
    if (word.size() > 10 || !rest.starts_with("-")) continue;
    std::string upper(word);
    for (char& c : upper) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
    if (upper != "SBATCH" && upper != "SLURM" && did_you_mean(upper, {"SBATCH"}).empty()) continue;
    const bool shifted = word == "SBATCH";
    warn(look, index + 1, std::string(seen.substr(0, seen.find(word) + word.size())), "is a comment, not a directive",
         shifted ? "a directive is #SBATCH at the very beginning of the line (##SBATCH says that it is meant to be off)"
                 : "did you mean #SBATCH?",
         out);
  }
}

bool closes_quote(std::string_view text, size_t end) {
  return std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '"') % 2 == 0 &&
         std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\'') % 2 == 0;
}

// Checks the directive lines character by character.
void characters(const Look& look, Findings& out) {
  const size_t end = look.first_command ? look.first_command - 1 : look.lines.size();
  for (size_t index = 0; index < end; ++index) {
    std::string_view line = look.lines[index];
    if (!line.starts_with("#SBATCH")) continue;
    std::string_view text = line.substr(7);
    const size_t hash = text.find('#');
    if (hash != text.npos && hash > 0 && kBlanks.find(text[hash - 1]) == kBlanks.npos && text[hash - 1] != '\\' && closes_quote(text, hash))
      warn(look, index + 1, "#", "ends the line: what is read is \"" + std::string(trim(text.substr(0, hash))) + "\"",
           "write the value in quotes, or a blank before a comment", out);
    for (std::string_view dash : {"\xE2\x80\x93", "\xE2\x80\x94", "\xE2\x88\x92"})
      if (text.find(dash) != text.npos) {
        warn(look, index + 1, std::string(dash), "is a typographic dash, not two hyphens",
             "type -- (texts from web pages and word processors change it)", out);
        break;
      }
  }
}

bool is_pattern_path(std::string_view name) { return name == "output" || name == "error" || name == "input" || name == "chdir"; }

// The shell never sees a directive, so nothing in it is expanded.
void not_expanded(const Look& look, Findings& out) {
  for (const DirectiveOption& option : look.check.given) {
    const size_t dollar = option.value.find('$');
    const bool variable = dollar != option.value.npos && dollar + 1 < option.value.size() &&
                          (isalpha(static_cast<unsigned char>(option.value[dollar + 1])) || option.value[dollar + 1] == '{' ||
                           option.value[dollar + 1] == '(' || option.value[dollar + 1] == '_');
    const bool path = is_pattern_path(option.name);
    if (variable && option.name != "wrap" && option.name != "comment")
      warn(look, option.line, "--" + option.name, "\"" + option.value + "\": variables are not expanded in directives",
           path ? "%u is the user, %j the job, %x its name, %A_%a an array task; or give the option on sbatch's command line"
                : "give the option on sbatch's command line, where the shell expands it",
           out);
    else if (path && option.value.starts_with("~"))
      warn(look, option.line, "--" + option.name, "\"" + option.value + "\": ~ is not expanded in directives",
           "write the whole path, or one relative to where sbatch is called", out);
  }
}

// One dash before a long name: -nodes=4 is -n with the value "odes=4".
void one_dash(const Look& look, Findings& out) {
  for (const DirectiveFinding& f : look.check.findings) {
    if (!f.error || f.line == 0) continue;
    Result<std::vector<std::string>> words = directive_words(look.lines[f.line - 1].substr(7));
    if (!words) continue;
    for (const std::string& w : *words) {
      if (w.size() < 4 || w[0] != '-' || w[1] == '-') continue;
      std::string name = w.substr(1, w.find('=') == w.npos ? w.npos : w.find('=') - 1);
      for (const JobOptionRow* row : job_rows(Command::kSbatch))
        if (row->info.name && name == row->info.name)
          warn(look, f.line, "-" + name, "a long option has two dashes", "write --" + w.substr(1), out);
    }
  }
}

constexpr void (*kRules[])(const Look&, Findings&) = {late_directives, almost_directives, characters, not_expanded, one_dash};

}  // namespace

void run_text_rules(const Look& look, Findings& out) {
  for (auto* rule : kRules) rule(look, out);
}

}  // namespace muster::front
