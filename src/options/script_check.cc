#include "options/script_check.h"

#include <algorithm>

#include "base/text.h"
#include "options/parser.h"
#include "options/parser_detail.h"

namespace muster {
namespace {

using options_detail::Applier;

constexpr size_t kMaxConflicts = 16;

class Check {
 public:
  Check(Time now, std::span<const PluginOption> plugins) : now_(now) {
    JobCommandLine line = scan_job_command(Command::kSbatch, {}, plugins).line;
    rows_ = std::move(line.rows);
    infos_ = options_detail::infos_of<JobOptions>(rows_);
    out_.plugin_rows = std::move(line.plugin_rows);
  }

  DirectiveCheck run(std::string_view script) {
    size_t number = 0;
    while (!script.empty()) {
      ++number;
      const size_t end = script.find('\n');
      std::string_view text = script.substr(0, end);
      script = end == script.npos ? std::string_view() : script.substr(end + 1);
      const std::string_view seen = trim(text);
      if (seen.empty()) continue;
      if (seen[0] != '#') break;
      if (text.starts_with("#SBATCH")) line(number, text.substr(7));
      if (other_component_) break;
    }
    finish();
    return std::move(out_);
  }

 private:
  struct Taken {
    const JobOptionRow* row;
    ScannedOption option;
    size_t line;
  };

  void say(size_t line, bool error, std::string option, std::string text, std::string hint = {}) {
    out_.findings.push_back({line, error, std::move(option), std::move(text), std::move(hint)});
  }

  // Adds the parser's lines for one option or rule as findings: a hint belongs to the line before it.
  void say_messages(size_t line, const std::string& option, const std::vector<Message>& messages) {
    for (const Message& m : messages) {
      if (m.level == Message::Level::kHint && !out_.findings.empty()) {
        std::string& hint = out_.findings.back().hint;
        hint += (hint.empty() ? "" : "; ") + m.text;
      } else {
        say(line, m.level != Message::Level::kWarning, option, m.text);
      }
    }
  }

  void line(size_t number, std::string_view text) {
    Result<std::vector<std::string>> words = directive_words(text);
    if (!words) return say(number, true, {}, words.error().text, words.error().hint);
    other_component_ = begins_component(*words);
    if (other_component_) return say(number, false, {}, "begins another component of a heterogeneous job; its options are not looked at");
    for (size_t i = 1; i + 1 < words->size(); ++i)  // "--nodes = 2"
      if ((*words)[i] == "=" && (*words)[i - 1].starts_with("-"))
        return say(number, true, (*words)[i - 1], "has blanks around its =", "write " + (*words)[i - 1] + "=" + (*words)[i + 1]);
    auto scan = scan_arguments(infos_, *words, Operands::kEndOptions);
    if (!scan) return say(number, true, {}, scan.error(), options_detail::unknown_option_hint(scan.error(), Command::kSbatch, infos_));
    for (const ScannedOption& o : scan->options) option(number, o);
    if (!scan->operands.empty()) say(number, true, {}, "Invalid directive found in batch script: " + scan->operands[0]);
  }

  void option(size_t number, const ScannedOption& option) {
    const JobOptionRow& row = *rows_[option.row];
    const std::string name = "--" + std::string(row.info.name);
    if (row.info.client_only) return say(number, false, name, "is ignored in a batch script");
    std::vector<Message> messages;
    JobOptions alone;
    alone.command = Command::kSbatch;
    Applier<JobOptions> apply(alone, alone.seen, messages, Command::kSbatch, now_, false);
    const bool good = apply.one(row, Source::kScript, nullptr, option.has_value, option.value);
    say_messages(number, name, messages);
    if (!good) return;
    out_.given.push_back({number, row.info.name, option.value});
    taken_.push_back({&row, option, number});
  }

  JobOptions together(std::vector<Message>& messages, bool& good) const {
    JobOptions o;
    o.command = Command::kSbatch;
    std::vector<Message> known;  // what single options did wrong was already reported
    Applier<JobOptions> apply(o, o.seen, known, Command::kSbatch, now_, false);
    for (const Taken& t : taken_) apply.one(*t.row, Source::kScript, nullptr, t.option.has_value, t.option.value);
    good = finish_job_options(o, messages);
    return o;
  }

  // Checks the rules between options. After each broken rule the later option is left out, so that the next conflict shows, too.
  void finish() {
    for (size_t index = 0; index < kMaxConflicts; ++index) {
      std::vector<Message> messages;
      bool good = false;
      out_.options = together(messages, good);
      const std::vector<size_t> involved = named_in(messages);
      const size_t line = involved.empty() ? 0 : taken_[involved.back()].line;
      if (good) {
        if (index == 0) say_messages(line, {}, messages);
        return;
      }
      say_messages(line, {}, messages);
      if (involved.empty()) return;
      if (involved.size() > 1) out_.findings.back().text += where(involved);
      taken_.erase(taken_.begin() + static_cast<ptrdiff_t>(involved.back()));
    }
  }

  // The given options that the messages name, in the order of their lines.
  std::vector<size_t> named_in(const std::vector<Message>& messages) const {
    std::vector<size_t> out;
    for (const Message& m : messages)
      for (size_t i = 0; i < taken_.size(); ++i)
        if (names(m.text, "--" + std::string(taken_[i].row->info.name)) && std::find(out.begin(), out.end(), i) == out.end())
          out.push_back(i);
    std::sort(out.begin(), out.end());
    return out;
  }

  static bool names(std::string_view text, const std::string& option) {
    for (size_t at = text.find(option); at != text.npos; at = text.find(option, at + 1)) {
      const size_t end = at + option.size();
      const char next = end < text.size() ? text[end] : ' ';
      if (next != '-' && !(next >= 'a' && next <= 'z')) return true;
    }
    return false;
  }

  std::string where(const std::vector<size_t>& involved) const {
    std::string out;
    for (size_t i : involved)
      out += (out.empty() ? " (--" : ", --") + std::string(taken_[i].row->info.name) + " in line " + std::to_string(taken_[i].line);
    return out + ")";
  }

  const Time now_;
  std::vector<const JobOptionRow*> rows_;
  std::vector<const OptionInfo*> infos_;
  DirectiveCheck out_;
  std::vector<Taken> taken_;
  bool other_component_ = false;
};

}  // namespace

DirectiveCheck check_directives(std::string_view script, Time now, std::span<const PluginOption> plugins) {
  return Check(now, plugins).run(script);
}

}  // namespace muster
