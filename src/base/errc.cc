#include "base/errc.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace muster {
namespace {

struct Row {
  int number;
  std::string_view text;
};

constexpr Row kRows[] = {
#define MUSTER_ERRC(name, number, text) {number, text},
#include "base/errc.def"
#undef MUSTER_ERRC
};

// kOk stands first so that a zeroed Errc is "no error"; behind it the numbers ascend.
constexpr const Row* kSorted = std::begin(kRows) + 1;
static_assert(kRows[0].number == 0 && std::adjacent_find(kSorted, std::end(kRows), [](const Row& a, const Row& b) {
                                        return a.number >= b.number;
                                      }) == std::end(kRows));

const Row& row(Errc code) {
  auto i = static_cast<size_t>(code);
  return kRows[i < std::size(kRows) ? i : static_cast<size_t>(Errc::kError)];
}

}  // namespace

std::string_view errc_text(Errc code) { return row(code).text; }
int errc_number(Errc code) { return row(code).number; }

std::string_view errc_text_of_number(int number) {
  if (number == 0) return kRows[0].text;
  const Row* at = std::lower_bound(kSorted, std::end(kRows), number, [](const Row& r, int n) { return r.number < n; });
  return at != std::end(kRows) && at->number == number ? at->text : std::string_view{};
}

}  // namespace muster
