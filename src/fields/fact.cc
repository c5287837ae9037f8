#include "fields/fact.h"

#include <algorithm>

namespace muster::fields {
namespace {

bool is_within(std::string_view path, std::string_view object) {
  return object.empty() || path == object || (path.starts_with(object) && path[object.size()] == '.');
}

}  // namespace

void go_into(Members& members, std::string_view open, std::string_view wanted) {
  for (; !is_within(wanted, open); open = outer(open)) members.end();
  while (open.size() < wanted.size()) {
    const size_t from = open.empty() ? 0 : open.size() + 1;
    const size_t to = std::min(wanted.find('.', from), wanted.size());
    members.begin(wanted.substr(from, to - from));
    open = wanted.substr(0, to);
  }
}

}  // namespace muster::fields
