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
  for (Command command : commands) {
    std::string name(command_name(command));
    std::string words;
    for (const OptionInfo* o : option_infos(command)) {
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

std::string zsh_completion(Command command) {
  std::string out = "#compdef " + std::string(command_name(command)) + "\n_arguments -s -S \\\n";
  for (const OptionInfo* option : option_infos(command)) {
    if (!offered(*option)) continue;
    std::string text = "[" + zsh_text(option->summary) + "]";
    std::string value = option->arg == Arg::kNone ? ""
                                                  : (option->arg == Arg::kOptional ? "::" : ":") + zsh_text(option->arg_name) + ":" +
                                                        (takes_file(*option) ? "_files" : "");
    std::string name = std::string("--") + option->name + (option->arg == Arg::kRequired ? "=" : option->arg == Arg::kOptional ? "=-" : "");
    out += "  " + quoted(name + text + value) + " \\\n";
    if (option->letter) {
      std::string letter = std::string("-") + option->letter +
                           (option->arg == Arg::kRequired   ? "+"
                            : option->arg == Arg::kOptional ? "-"
                                                            : "");
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
