#include "muster/finding.h"

#include <algorithm>

#include "base/text.h"
#include "cli/common/command.h"
#include "fields/json_values.h"

namespace muster::front {
namespace {

std::string_view name_of(Level level) {
  constexpr std::string_view kNames[] = {"error", "warning", "note"};
  return kNames[static_cast<size_t>(level)];
}

size_t count(std::span<const Finding> findings, Level level) {
  return static_cast<size_t>(std::count_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.level == level; }));
}

std::string counted(size_t n, std::string_view what) { return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s"); }

}  // namespace

void in_order(std::vector<Finding>& findings) {
  std::vector<std::string> files;
  auto rank = [&](const std::string& file) { return std::find(files.begin(), files.end(), file) - files.begin(); };
  for (const Finding& f : findings)
    if (std::find(files.begin(), files.end(), f.file) == files.end()) files.push_back(f.file);
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return a.file != b.file ? rank(a.file) < rank(b.file) : a.line < b.line; });
}

bool any_error(std::span<const Finding> findings) { return count(findings, Level::kError) > 0; }

std::string to_text(std::span<const Finding> findings) {
  std::string out;
  for (const Finding& f : findings) {
    out += f.file + (f.line ? ":" + std::to_string(f.line) : "") + ": " + std::string(name_of(f.level)) + ": ";
    if (!f.subject.empty()) out += f.subject + ": ";
    out += f.message + "\n";
    if (!f.hint.empty()) out += "    " + f.hint + "\n";
  }
  return out;
}

std::string summary(std::span<const Finding> findings, std::span<const std::string> files) {
  const std::string where = join({files.begin(), files.end()}, ", ");
  const size_t errors = count(findings, Level::kError), warnings = count(findings, Level::kWarning);
  if (!errors && !warnings) return where + ": no findings";
  std::string out;
  if (errors) out = counted(errors, "error");
  if (warnings) out += (out.empty() ? "" : ", ") + counted(warnings, "warning");
  return out + " in " + where;
}

void to_tree(std::span<const Finding> findings, std::span<const std::string> files, fields::TreeSink& sink) {
  sink.begin_object();
  fields::Members members(sink);
  members.list("files", files);
  sink.key("findings");
  sink.begin_list();
  for (const Finding& f : findings) {
    sink.begin_object();
    members.text("level", name_of(f.level)).text("file", f.file).number("line", f.line);
    members.text("subject", f.subject).text("message", f.message).text("hint", f.hint);
    sink.end_object();
  }
  sink.end_list();
  members.number("errors", static_cast<int64_t>(count(findings, Level::kError)));
  members.number("warnings", static_cast<int64_t>(count(findings, Level::kWarning)));
  sink.end_object();
}

int show(std::vector<Finding> findings, std::span<const std::string> files, bool json) {
  in_order(findings);
  cli::Out out;
  if (json) {
    to_tree(findings, files, *fields::make_tree_sink(fields::TreeForm::kJson, false, out.buffer()));
    out.line("");
  } else {
    out.put(to_text(findings));
    out.line(summary(findings, files));
  }
  return any_error(findings) ? 1 : 0;
}

}  // namespace muster::front
