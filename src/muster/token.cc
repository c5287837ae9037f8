#include "muster/token.h"

#include <cstdio>

#include "cli/common/command.h"
#include "cli/common/session.h"
#include "muster/token_words.h"
#include "muster/verbs.h"
#include "os/clock.h"

namespace muster::front {
namespace {

int carry_out(cli::Session& session, const rpc::CreateToken& request) {
  auto made = session.call(request);
  if (!made) return complain(made.error());
  std::fprintf(stderr, "muster: token %u, good until %s\n", made->id, format_time(made->expires).c_str());
  cli::Out().line(made->token);
  return 0;
}

int carry_out(cli::Session& session, const TokenList& list) {
  auto rows = session.call(rpc::QueryTokens{});
  if (!rows) return complain(rows.error());
  cli::Out().put(list.json ? to_json(*rows, os::wall_now()) : to_text(*rows, os::wall_now()));
  return 0;
}

int carry_out(cli::Session& session, const rpc::RevokeToken& request) {
  auto revoked = session.call(request);
  if (!revoked) return complain(revoked.error());
  cli::Out out;
  if (revoked->subjects.empty()) out.line("the token is revoked; nobody has joined by it");
  for (const std::string& subject : revoked->subjects) out.line(subject + " is out: its certificates are refused");
  for (uint32_t token : revoked->known) {
    const std::string id = std::to_string(token);
    out.line("token " + id + ", by which it joined, still lets other hosts in, and who has been there may know it: muster token revoke " +
             id + " ends that");
  }
  return 0;
}

}  // namespace

int token_verb(std::span<const std::string> arguments) {
  auto words = read_token_words(arguments);
  if (!words) return complain(words.error());
  Result<cli::Session> session = cli::Session::find(cli::Patience::kNone);
  if (!session) return complain(session.error());
  return std::visit([&](const auto& what) { return carry_out(*session, what); }, *words);
}

}  // namespace muster::front
