#include "fields/columns.h"

#include <algorithm>

namespace muster::fields {

Result<ColumnText> parse_column(std::string_view text) {
  ColumnText out{text.substr(0, text.find('%')), {}};
  if (out.name.size() == text.size()) return out;
  std::string_view width = text.substr(out.name.size() + 1);
  auto number = parse_number<int>(width, -kMaxColumnWidth, kMaxColumnWidth);
  if (!number)
    return fail(Errc::kInvalidReq, std::string(text),
                "the width after % is a number up to " + std::to_string(kMaxColumnWidth) + ", with a minus for the left");
  out.width = static_cast<int16_t>(*number);
  return out;
}

namespace {

// At most `bytes` bytes, fewer where a character of several bytes would be cut apart.
size_t whole_characters(std::string_view text, size_t bytes) {
  while (bytes > 0 && bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return bytes;
}

}  // namespace

void fit_value(std::string& out, size_t from, int16_t width, Fit fit) {
  const size_t room = static_cast<size_t>(width < 0 ? -width : width);
  const std::string_view value = std::string_view(out).substr(from);
  if (value.size() > room && fit != Fit::kWhole) {
    const bool marked = fit == Fit::kMarked && room > 0;
    out.resize(from + whole_characters(value, marked ? room - 1 : room));
    if (marked) out += '+';
  }
  const size_t used = out.size() - from;
  if (used < room) out.insert(width < 0 ? out.size() : from, room - used, ' ');
  out += ' ';
}

std::string column_help(std::span<const std::string_view> names, size_t width) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    const size_t start = out.size();
    out += names[i];
    out.resize(std::max(out.size(), start + width), ' ');
    out += i % 4 == 3 || i + 1 == names.size() ? '\n' : ' ';
  }
  return out;
}

}  // namespace muster::fields
