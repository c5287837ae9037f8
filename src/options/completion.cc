#include "options/completion.h"

#include "options/query_options.h"

namespace muster {
namespace {

// Escapes text that stands inside single quotes of a shell.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

// Escapes [ ] and :, which have a meaning for zsh inside an _arguments specification.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

bool offered(const OptionInfo& o) { return o.name && !o.hidden && o.section != Section::kUnavailable; }

bool takes_file(const OptionInfo& o) {
  std::string_view n = o.name;
  return n == "nodefile" || n == "export-file" || n == "output" || n == "error" || n == "input" || n == "chdir" || n == "prolog" ||
         n == "epilog" || n == "task-prolog" || n == "task-epilog";
}

}  // namespace

std::string bash_completion(std::span<const Command> commands) {
  std::string out = "# bash completion, generated from the option tables\n";
  for (Command c : commands) {
    std::string name(command_name(c));
    std::string words;
    for (const OptionInfo* o : option_infos(c)) {
      if (!offered(*o)) continue;
      words += (words.empty() ? "--" : " --") + std::string(o->name) + (o->arg == Arg::kRequired ? "=" : "");
    }
    out += "_muster_" + name +
           "() {\n"
           "  local cur=${COMP_WORDS[COMP_CWORD]}\n"
           "  COMPREPLY=()\n"
           "  case $cur in\n"
           "    -*) COMPREPLY=($(compgen -W " +
           quoted(words) +
           " -- \"$cur\"))\n"
           "        [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace ;;\n"
           "  esac\n"
           "}\n"
           "complete -o default -F _muster_" +
           name + " " + name + "\n";
  }
  return out;
}

std::string zsh_completion(Command c) {
  std::string out = "#compdef " + std::string(command_name(c)) + "\n_arguments -s -S \\\n";
  for (const OptionInfo* o : option_infos(c)) {
    if (!offered(*o)) continue;
    std::string text = "[" + zsh_text(o->summary) + "]";
    std::string value = o->arg == Arg::kNone
                            ? ""
                            : (o->arg == Arg::kOptional ? "::" : ":") + zsh_text(o->arg_name) + ":" + (takes_file(*o) ? "_files" : "");
    std::string name = std::string("--") + o->name + (o->arg == Arg::kRequired ? "=" : o->arg == Arg::kOptional ? "=-" : "");
    out += "  " + quoted(name + text + value) + " \\\n";
    if (o->letter) {
      std::string letter = std::string("-") + o->letter + (o->arg == Arg::kRequired ? "+" : o->arg == Arg::kOptional ? "-" : "");
      out += "  " + quoted(letter + text + value) + " \\\n";
    }
  }
  return out + "  '*:file:_files'\n";
}

std::string fish_completion(Command c) {
  std::string out;
  for (const OptionInfo* o : option_infos(c)) {
    if (!offered(*o)) continue;
    out += "complete -c " + std::string(command_name(c)) + " -l " + o->name;
    if (o->letter) out += std::string(" -s ") + o->letter;
    if (o->arg == Arg::kRequired) out += takes_file(*o) ? " -r" : " -x";
    out += " -d " + quoted(o->summary) + "\n";
  }
  return out;
}

}  // namespace muster
