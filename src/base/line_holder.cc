#include "base/line_holder.h"

namespace muster {

std::string LineHolder::add(std::string_view data) {
  std::string out;
  while (!data.empty()) {
    const size_t end = data.find('\n');
    if (end == data.npos) {
      held_.append(data);
      break;
    }
    out += label_;
    out += held_;
    out.append(data.substr(0, end + 1));
    held_.clear();
    data.remove_prefix(end + 1);
  }
  if (held_.size() > kLongest) out += rest();
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
