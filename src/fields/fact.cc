#include "fields/fact.h"

#include <algorithm>

namespace muster::fields {
namespace {

bool is_within(std::string_view path, std::string_view object) {
  return object.empty() || path == object || (path.starts_with(object) && path[object.size()] == '.');
}

std::string_view outer(std::string_view object) {
  const size_t dot = object.rfind('.');
  return dot == object.npos ? std::string_view() : object.substr(0, dot);
}

}  // namespace

std::string_view go_into(Members& members, std::string_view open, std::string_view path) {
  const std::string_view wanted = outer(path);
  for (; !is_within(wanted, open); open = outer(open)) members.end();
  while (open.size() < wanted.size()) {
    const size_t from = open.empty() ? 0 : open.size() + 1;
    const size_t to = std::min(wanted.find('.', from), wanted.size());
    members.begin(wanted.substr(from, to - from));
    open = wanted.substr(0, to);
  }
  return open;
}

}  // namespace muster::fields
