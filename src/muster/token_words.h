// What follows `muster token`, read, and what it prints. Pure.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "base/result.h"
#include "model/token_rpc.h"

namespace muster::front {

struct TokenList {
  bool json = false;
};
using TokenWords = std::variant<rpc::CreateToken, TokenList, rpc::RevokeToken>;

// Errors: kBadOption names the word, its value and the rule.
Result<TokenWords> read_token_words(std::span<const std::string> arguments);
// "90", "90s", "30m", "12h", "7d".
Result<uint32_t> read_lifetime(std::string_view text);

std::string to_text(const rpc::TokenRows& rows, Time now);
std::string to_json(const rpc::TokenRows& rows, Time now);

}  // namespace muster::front
