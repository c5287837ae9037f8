// Result: what a function that can fail returns, which is a value, or an Error that names what was wrong. Programmer errors are
// MUSTER_CHECK (base/check.h), which stays on in production.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/errc.h"

namespace muster {

// `text` is the sentence the user sees; empty means the table's text for `code` (Slurm's wording, which tools grep).
// `hint` is an optional second line that helps a person.
struct Error {
  Errc code = Errc::kError;
  std::string text;
  std::string hint;

  Error() = default;
  explicit Error(Errc c) : code(c) {}
  Error(Errc c, std::string t) : code(c), text(std::move(t)) {}
  Error(Errc c, std::string t, std::string h) : code(c), text(std::move(t)), hint(std::move(h)) {}

  std::string_view message() const { return text.empty() ? errc_text(code) : std::string_view(text); }
  bool operator==(const Error&) const = default;
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Errc code) { return std::unexpected(Error(code)); }
inline std::unexpected<Error> fail(Errc code, std::string text) { return std::unexpected(Error(code, std::move(text))); }
inline std::unexpected<Error> fail(Errc code, std::string text, std::string hint) {
  return std::unexpected(Error(code, std::move(text), std::move(hint)));
}
inline std::unexpected<Error> fail(std::string text) { return fail(Errc::kError, std::move(text)); }

}  // namespace muster

// Returns the error of `expr` from the enclosing function, else defines `var` as its value.
#define MUSTER_TRY_CAT2(a, b) a##b
#define MUSTER_TRY_CAT(a, b) MUSTER_TRY_CAT2(a, b)
#define MUSTER_TRY(var, expr)                                                                                     \
  auto MUSTER_TRY_CAT(try_, __LINE__) = (expr);                                                                   \
  if (!MUSTER_TRY_CAT(try_, __LINE__)) return std::unexpected(std::move(MUSTER_TRY_CAT(try_, __LINE__)).error()); \
  auto var = std::move(*MUSTER_TRY_CAT(try_, __LINE__))
#define MUSTER_TRY_VOID(expr)                                                         \
  do {                                                                                \
    auto try_void_result = (expr);                                                    \
    if (!try_void_result) return std::unexpected(std::move(try_void_result).error()); \
  } while (0)
