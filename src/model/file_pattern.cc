#include "model/file_pattern.h"

#include <algorithm>

namespace muster {
namespace {

constexpr size_t kMaxWidth = 10;

std::string padded(uint64_t number, size_t width) {
  std::string digits = std::to_string(number);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

std::string step_text(StepId step, size_t width) {
  if (step == kBatchStep) return "batch";
  if (step == kExternStep) return "extern";
  if (step == kInteractiveStep) return "interactive";
  return padded(step.value, width);
}

bool special(StepId step) { return step == kBatchStep || step == kExternStep || step == kInteractiveStep; }

// Appends the replacement of one symbol; false if the symbol is unknown.
bool replace(char symbol, size_t width, const FileNames& names, std::string& out) {
  switch (symbol) {
    case '%': out += '%'; return true;
    case 'A': out += padded((names.array_job ? names.array_job : names.job).value, width); return true;
    case 'a': out += padded(names.array_task, width); return true;
    case 'b': out += padded(names.array_task % 10, width); return true;
    case 'J':
      out += padded(names.job.value, width);
      if (!special(names.step)) out += "." + step_text(names.step, 0);
      return true;
    case 'j': out += padded(names.job.value, width); return true;
    case 'N': out += names.node.substr(0, names.node.find('.')); return true;
    case 'n': out += padded(names.node_index, width); return true;
    case 'r': out += padded(names.restarts, width); return true;
    case 'S': out += sluid_text(names.sluid); return true;
    case 's': out += step_text(names.step, width); return true;
    case 't': out += padded(names.rank, width); return true;
    case 'u': out += names.user; return true;
    case 'x': out += names.job_name; return true;
    default: return false;
  }
}

}  // namespace

std::string expand_file_pattern(std::string_view pattern, const FileNames& names) {
  std::string out;
  if (pattern.find('\\') != std::string_view::npos) {
    std::ranges::copy_if(pattern, std::back_inserter(out), [](char c) { return c != '\\'; });
    return out;
  }
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    size_t end = i + 1, width = 0;
    for (; end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9'; ++end)
      width = std::min(kMaxWidth, width * 10 + static_cast<size_t>(pattern[end] - '0'));
    if (end < pattern.size() && replace(pattern[end], width, names, out)) i = end;
    else out += '%';
  }
  return out;
}

bool pattern_is_per_task(std::string_view pattern) {
  if (pattern.find('\\') != std::string_view::npos) return false;
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    size_t end = i + 1;
    while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9') ++end;
    if (end < pattern.size() && (pattern[end] == 'N' || pattern[end] == 'n' || pattern[end] == 't')) return true;
    i = end;
  }
  return false;
}

std::string_view default_batch_output(bool of_array) { return of_array ? "slurm-%A_%a.out" : "slurm-%j.out"; }

std::string below(std::string_view directory, std::string_view path) {
  if (path.starts_with('/') || directory.empty()) return std::string(path);
  return std::string(directory) + (directory.ends_with('/') ? "" : "/") + std::string(path);
}

}  // namespace muster
