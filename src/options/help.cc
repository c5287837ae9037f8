#include "options/help.h"

#include "base/text.h"
#include "options/query_options.h"

namespace muster {
namespace {

constexpr size_t kSummaryColumn = 30;
constexpr size_t kUsageWidth = 80;

std::string_view operands_of(Command command) {
  switch (command) {
    case Command::kSbatch: return "script [args...]";
    case Command::kSrun: return "executable [args...]";
    case Command::kSalloc: return "[command [args...]]";
    case Command::kScancel: return "[job_id[_array_id][.step_id]...]";
    case Command::kScontrol:
    case Command::kSacctmgr: return "[command]";
    case Command::kSwait: return "[jobid[_task]]";
    case Command::kScrontab: return "[file|-]";
    case Command::kSattach: return "<jobid.stepid>";
    case Command::kSbcast: return "SOURCE DEST";
    default: return "";
  }
}

// The left column of an option's line: "  -n, --ntasks=number".
std::string left_column(const OptionInfo& o) {
  std::string out = "  ";
  out += o.letter ? std::string("-") + o.letter + ", " : std::string("    ");
  out += std::string("--") + o.name;
  if (o.arg == Arg::kRequired) out += std::string("=") + o.arg_name;
  if (o.arg == Arg::kOptional) out += std::string("[=") + o.arg_name + "]";
  return out;
}

// Breaks the words after `start` into lines of at most kUsageWidth. Lines after the first begin at `indent`.
class Paragraph {
 public:
  Paragraph(std::string start, size_t indent) : text_(std::move(start)), indent_(indent) {
    column_ = text_.size() - (text_.rfind('\n') + 1);
  }
  void add(std::string_view word) {
    const bool first = column_ < indent_;
    const bool fits = first || column_ + 1 + word.size() <= kUsageWidth;
    text_ += fits ? " " : "\n" + std::string(indent_, ' ');
    column_ = (fits ? column_ + 1 : indent_) + word.size();
    text_ += word;
  }
  std::string text() && { return std::move(text_) + '\n'; }

 private:
  std::string text_;
  size_t indent_, column_;
};

std::string help_line(const OptionInfo& o) {
  std::string left = left_column(o);
  if (left.size() >= kSummaryColumn) left += '\n' + std::string(kSummaryColumn - 1, ' ');
  else left.resize(kSummaryColumn - 1, ' ');
  Paragraph out(std::move(left), kSummaryColumn);
  for (std::string_view word : split(o.summary, ' ')) out.add(word);
  return std::move(out).text();
}

}  // namespace

std::string help_text(Command command, std::span<const PluginOption> plugins) {
  std::string_view operands = operands_of(command);
  std::string out = "Usage: " + std::string(command_name(command)) + " [OPTIONS]";
  out += operands.empty() ? "\n" : " " + std::string(operands) + "\n";
  auto infos = option_infos(command);
  for (int s = 0; s <= static_cast<int>(Section::kHelp); ++s) {
    std::string group;
    for (const OptionInfo* o : infos)
      if (o->name && !o->hidden && static_cast<int>(o->section) == s) group += help_line(*o);
    if (static_cast<Section>(s) == Section::kPlugins)
      for (const PluginOption& p : plugins)
        group += help_line({.name = p.name.c_str(), .arg = p.arg, .arg_name = p.arg_name.c_str(), .summary = p.summary.c_str()});
    if (group.empty()) continue;
    out += '\n' + std::string(section_title(static_cast<Section>(s))) + ":\n" + group;
  }
  return out;
}

std::string usage_text(Command command) {
  const std::string start = "Usage: " + std::string(command_name(command));
  Paragraph out(start, start.size() + 1);
  std::string letters;
  auto infos = option_infos(command);
  for (const OptionInfo* o : infos)
    if (o->name && !o->hidden && o->letter && o->arg == Arg::kNone) letters += o->letter;
  if (!letters.empty()) out.add("[-" + letters + "]");
  for (const OptionInfo* o : infos) {
    bool listed = o->name && !o->hidden && !(o->letter && o->arg == Arg::kNone) && o->section != Section::kUnavailable;
    if (!listed) continue;
    std::string word = o->letter ? std::string("[-") + o->letter : std::string("[--") + o->name;
    if (o->arg == Arg::kRequired) word += (o->letter ? " " : "=") + std::string(o->arg_name);
    if (o->arg == Arg::kOptional) word += "[" + std::string(o->letter ? "" : "=") + o->arg_name + "]";
    out.add(word + "]");
  }
  if (!operands_of(command).empty()) out.add(operands_of(command));
  return std::move(out).text();
}

std::string topic_help_text(std::string_view topic) {
  if (topic == "hint")
    return "Application hint options:\n"
           "    --hint=             Choose bindings that suit the program\n"
           "        compute_bound   use all cores in each socket\n"
           "        memory_bound    use only one core in each socket\n"
           "        [no]multithread [don't] use extra threads of a core\n"
           "        help            show this help message\n";
  if (topic == "cpu-bind")
    return "CPU bind options:\n"
           "    --cpu-bind=         Bind tasks to CPUs\n"
           "        q[uiet]         bind without a word (default)\n"
           "        v[erbose]       report the binding before a task runs\n"
           "        no[ne]          don't bind tasks\n"
           "        rank            bind by task rank\n"
           "        map_cpu:<list>  one CPU number for each task\n"
           "        mask_cpu:<list> one CPU mask for each task\n"
           "        rank_ldom       bind to a NUMA domain by task rank\n"
           "        map_ldom:<list> one NUMA domain number for each task\n"
           "        mask_ldom:<list> one NUMA domain mask for each task\n"
           "        sockets         bind to sockets\n"
           "        cores           bind to cores\n"
           "        threads         bind to hardware threads\n"
           "        ldoms           bind to NUMA domains\n"
           "        help            show this help message\n";
  if (topic == "mem-bind")
    return "Memory bind options:\n"
           "    --mem-bind=         Bind tasks to memory\n"
           "        q[uiet]         bind without a word (default)\n"
           "        v[erbose]       report the binding before a task runs\n"
           "        no[ne]          don't bind (default)\n"
           "        rank            bind by task rank\n"
           "        local           use memory next to the CPU in use\n"
           "        p[refer]        prefer the first domain, allow others\n"
           "        map_mem:<list>  one domain number for each task\n"
           "        mask_mem:<list> one domain mask for each task\n"
           "        help            show this help message\n";
  return {};
}

}  // namespace muster
