#include "options/scanner.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace muster {
namespace {

std::string letter_error(std::string text, char letter) {
  text.append(" -- '").append(1, letter).append("'");
  return text;
}

constexpr size_t kNone = static_cast<size_t>(-1);

// Names that options had in older releases, and names that no manual page lists but scripts use.
struct Spelling {
  std::string_view older, name;
  CommandSet commands;
};
constexpr Spelling kSpellings[] = {
    {"tasks-per-node", "ntasks-per-node", kJobs},
    {"ntasks-per-tres", "ntasks-per-gpu", kJobs},
    {"cluster", "clusters", kJobs},
    {"cpu_bind", "cpu-bind", kSrunOnly},
    {"mem_bind", "mem-bind", kJobs},
    {"pack-group", "het-group", kSrunOnly},
    {"accounts", "account", only(Command::kSqueue)},
    {"nodes", "nodelist", only(Command::kSqueue)},
    {"partitions", "partition", only(Command::kSqueue)},
    {"users", "user", only(Command::kSqueue) | only(Command::kSprio)},
    {"fields", "format", only(Command::kSacct)},
};

bool means(const Spelling& s, const OptionInfo& o) { return s.name == o.name && (s.commands.bits & o.commands.bits) != 0; }

bool begins_other_spelling(const OptionInfo& o, std::string_view name) {
  return std::ranges::any_of(kSpellings, [&](const Spelling& s) { return means(s, o) && s.older.starts_with(name); });
}

class Scanner {
 public:
  Scanner(std::span<const OptionInfo* const> table, std::span<const std::string> arguments, Operands operands)
      : table_(table), args_(arguments), mode_(operands) {}

  std::expected<Scan, std::string> run() {
    while (next_ < args_.size()) {
      const std::string& arg = args_[next_];
      if (arg == "--") {
        ++next_;
        break;
      }
      if (arg.size() < 2 || arg[0] != '-') {
        if (mode_ == Operands::kEndOptions) break;
        out_.operands.push_back(arg);
        ++next_;
        continue;
      }
      ++next_;
      auto error = arg[1] == '-' ? long_option(arg) : letters(arg);
      if (error) return std::unexpected(*error);
    }
    out_.operands.insert(out_.operands.end(), args_.begin() + static_cast<ptrdiff_t>(next_), args_.end());
    return std::move(out_);
  }

 private:
  std::optional<std::string> long_option(const std::string& arg) {
    size_t eq = arg.find('=');
    std::string_view name = std::string_view(arg).substr(2, eq == arg.npos ? arg.npos : eq - 2);
    std::string ambiguous;
    size_t row = find_long(name, ambiguous);
    if (!ambiguous.empty()) return "option '" + arg + "' is ambiguous; possibilities:" + ambiguous;
    if (row == kNone) return "unrecognized option '" + arg + "'";
    const OptionInfo& info = *table_[row];
    std::string full = "--" + std::string(info.name);
    ScannedOption option{row, eq != arg.npos, eq == arg.npos ? std::string() : arg.substr(eq + 1)};
    if (info.arg == Arg::kNone && option.has_value) return "option '" + full + "' doesn't allow an argument";
    if (info.arg == Arg::kRequired && !option.has_value) {
      if (next_ == args_.size()) return "option '" + full + "' requires an argument";
      option.value = args_[next_++];
      option.has_value = true;
    }
    out_.options.push_back(std::move(option));
    return std::nullopt;
  }

  std::optional<std::string> letters(const std::string& arg) {
    for (size_t index = 1; index < arg.size(); ++index) {
      size_t row = find_letter(arg[index]);
      if (row == kNone) return letter_error("invalid option", arg[index]);
      const OptionInfo& info = *table_[row];
      ScannedOption option{row, false, {}};
      if (info.arg != Arg::kNone && index + 1 < arg.size()) {
        option.value = arg.substr(index + 1);
        option.has_value = true;
        index = arg.size();
      } else if (info.arg == Arg::kRequired) {
        if (next_ == args_.size()) return letter_error("option requires an argument", arg[index]);
        option.value = args_[next_++];
        option.has_value = true;
      }
      out_.options.push_back(std::move(option));
    }
    return std::nullopt;
  }

  // An exact name, today's or an older one; else the only name that begins so. Beginnings of older names count only when nothing else fits.
  size_t find_long(std::string_view name, std::string& ambiguous) const {
    std::vector<size_t> visible, hidden;
    for (size_t i = 0; i < table_.size(); ++i) {
      if (!table_[i]->name) continue;
      std::string_view candidate = table_[i]->name;
      if (candidate == name || is_other_spelling(*table_[i], name)) return i;
      if (candidate.starts_with(name)) (table_[i]->hidden ? hidden : visible).push_back(i);
      else if (begins_other_spelling(*table_[i], name)) hidden.push_back(i);
    }
    const auto& found = visible.empty() ? hidden : visible;
    if (found.empty() || name.empty()) return kNone;
    if (found.size() == 1) return found[0];
    std::vector<std::string> names;
    for (size_t i : found) names.push_back(std::string(" '--") + table_[i]->name + "'");
    std::sort(names.begin(), names.end());
    for (const auto& n : names) ambiguous += n;
    return kNone;
  }

  size_t find_letter(char letter) const {
    for (size_t i = 0; i < table_.size(); ++i)
      if (table_[i]->letter == letter && table_[i]->name) return i;
    return kNone;
  }

  std::span<const OptionInfo* const> table_;
  std::span<const std::string> args_;
  Operands mode_;
  size_t next_ = 0;
  Scan out_;
};

}  // namespace

bool is_other_spelling(const OptionInfo& o, std::string_view name) {
  return std::ranges::any_of(kSpellings, [&](const Spelling& s) { return means(s, o) && s.older == name; });
}

std::expected<Scan, std::string> scan_arguments(std::span<const OptionInfo* const> table, std::span<const std::string> arguments,
                                                Operands operands) {
  return Scanner(table, arguments, operands).run();
}

}  // namespace muster
