#include "base/line_holder.h"

#include <utility>

namespace muster {

std::string LineHolder::add(std::string_view data) {
  const size_t last = data.rfind('\n');
  std::string out;
  if (last != data.npos) {
    out = label_.empty() ? std::exchange(held_, {}).append(data.substr(0, last + 1)) : labelled(data.substr(0, last + 1));
    data.remove_prefix(last + 1);
  }
  held_.append(data);
  if (held_.size() > kLongest) out += rest();
  return out;
}

// Labels whole lines. The first of them begins with the text held so far.
std::string LineHolder::labelled(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = lines.find('\n') + 1;
    out += label_;
    out += std::exchange(held_, {});
    out.append(lines.substr(0, end));
    lines.remove_prefix(end);
  }
  return out;
}

std::string LineHolder::rest() {
  std::string out;
  if (held_.empty()) return out;
  out = label_ + held_;
  if (!label_.empty()) out += '\n';
  held_.clear();
  return out;
}

std::string task_label(uint32_t rank, uint32_t num_tasks) {
  const std::string number = std::to_string(rank);
  const size_t width = std::to_string(num_tasks > 0 ? num_tasks - 1 : 0).size();
  return std::string(width > number.size() ? width - number.size() : 0, ' ') + number + ": ";
}

}  // namespace muster
