#include "options/man_page.h"

#include "options/query_options.h"

namespace muster {
namespace {

// Escapes text for troff: hyphens that must stay hyphens, backslashes, and lines that would look like requests.
std::string escape(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
    line_start = c == '\n';
  }
  return out;
}

std::string option_heading(const OptionInfo& o) {
  std::string out = ".TP\n";
  std::string arg = o.arg == Arg::kNone ? "" : "\\fI" + escape(o.arg_name) + "\\fR";
  if (o.letter) out += "\\fB\\-" + std::string(1, o.letter) + "\\fR, ";
  out += "\\fB\\-\\-" + escape(o.name) + "\\fR";
  if (o.arg == Arg::kRequired) out += "=" + arg;
  if (o.arg == Arg::kOptional) out += "[=" + arg + "]";
  return out + '\n';
}

std::string status_sentence(const OptionInfo& o) {
  switch (o.status) {
    case Status::kWorks: return {};
    case Status::kNoEffect: return std::string("Accepted without effect: ") + o.note + ".";
    case Status::kRefused: return std::string(o.needs ? "Refused for now: " : "Refused: ") + o.note + ".";
  }
  return {};
}

std::string environment_section(Command c, const std::vector<const OptionInfo*>& infos) {
  std::string out;
  for (const OptionInfo* o : infos) {
    const char* names = o->env.of(c);
    if (!names) continue;
    std::string shown(names);
    for (size_t bar; (bar = shown.find('|')) != std::string::npos;) shown.replace(bar, 1, "\\fR or \\fB");
    out += ".TP\n\\fB" + shown + "\\fR\n";
    out += o->name ? "Same as \\fB\\-\\-" + escape(o->name) + "\\fR.\n" : escape(o->doc) + "\n";
  }
  return out;
}

}  // namespace

std::string man_page(Command command, std::string_view summary, std::string_view description) {
  std::string name(command_name(command)), title = name;
  for (char& ch : title) ch = static_cast<char>(ch - ('a' <= ch && ch <= 'z' ? 'a' - 'A' : 0));
  std::string out = ".TH " + title + " 1 \"\" \"Muster\" \"Muster Commands\"\n.SH NAME\n" + name + " \\- " + escape(summary) +
                    "\n.SH SYNOPSIS\n\\fB" + name + "\\fR [\\fIOPTIONS\\fR...]\n.SH DESCRIPTION\n";
  std::string_view rest = description;
  while (!rest.empty()) {
    size_t end = rest.find("\n\n");
    out += ".PP\n" + escape(rest.substr(0, end)) + "\n";
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 2);
  }
  auto infos = option_infos(command);
  out += ".SH OPTIONS\n";
  for (int s = 0; s <= static_cast<int>(Section::kHelp); ++s) {
    std::string group;
    for (const OptionInfo* o : infos) {
      if (!o->name || o->hidden || static_cast<int>(o->section) != s) continue;
      group += option_heading(*o) + escape(o->doc) + "\n";
      std::string status = status_sentence(*o);
      if (!status.empty()) group += escape(status) + "\n";
    }
    if (!group.empty()) out += ".SS " + std::string(section_title(static_cast<Section>(s))) + "\n" + group;
  }
  std::string env = environment_section(command, infos);
  if (!env.empty())
    out += ".SH INPUT ENVIRONMENT VARIABLES\nAn option on the command line wins over its variable. A variable "
           "of an option "
           "without a value turns it on when it is empty, \\fByes\\fR or a number other than zero.\n" +
           env;
  return out;
}

}  // namespace muster
