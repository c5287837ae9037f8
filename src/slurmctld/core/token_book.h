// TokenBook: the tokens by which hosts join, who used them, and what is revoked (docs/adr/0019). It decides; slurmctld/daemon/certificates.h
// keeps it on the disk and makes keys and certificates. Its clock is what it is told. Cost: O(tokens).
//
// A token that is used up, has expired or is revoked is still known for kKept, so that who comes with it is told why it is refused. A revocation
// is kept until every certificate that it is about has expired. A host that is revoked is barred from every token that there is then: it may know
// them. A token that is made afterwards lets it in again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/subject.h"
#include "model/token_rpc.h"

namespace muster::slurmctld {

inline constexpr Duration kCertificateLife = minutes(24 * 60);

// The names of nodes that tokens are for. Who has a FUTURE node chosen by a token gets none that is given; who joins with the cluster key gets
// neither (join_node.cc). Each list in order.
struct TokenNames {
  std::vector<std::string> given;  // somebody has joined as this node by a token, and was not revoked since
  std::vector<std::string> open;   // a token is good for it
  Time until = kTimeInfinite;      // when the first of the tokens expires that `open` is about
  bool is_given(const std::string& node) const;
  bool is_open(const std::string& node) const;
};

class TokenBook {
 public:
  static constexpr Duration kKept = minutes(24 * 60);
  struct Entry {
    rpc::TokenRow row;
    std::string name, key;            // what both ends derive from the token (net/authority.h)
    std::vector<std::string> barred;  // those of its hosts that were revoked, in order: at most as many as it names
    template <class S, class V>
    static void describe(S& self, V&& field) {
      field(1, "row", self.row);
      field(2, "name", self.name);
      field(3, "key", self.key);
      field(4, "barred", self.barred);
    }
  };
  struct State {
    std::vector<Entry> tokens;
    std::vector<rpc::Revocation> revoked;
    uint32_t last = 0;
    template <class S, class V>
    static void describe(S& self, V&& field) {
      field(1, "tokens", self.tokens);
      field(2, "revoked", self.revoked);
      field(3, "last", self.last);
    }
  };
  TokenBook() = default;
  explicit TokenBook(State state) : state_(std::move(state)) {}
  const State& state() const { return state_; }

  // Errors: kInvalidArgument names the field, its value and the rule; kTryAgainLater: there are kMostTokens.
  Result<rpc::TokenRow> add(const rpc::CreateToken& asked, std::string name, std::string key, Time now);
  // A certificate by a token: who gets it. kAuthFailed says why not.
  Result<Subject> use(const std::string& token_name, const rpc::AskCertificate& asked, const std::string& address, Time now);
  // For who asks as whichever FUTURE node fits (slurmd -F): the names that the token is good for now, in order; errors as of use().
  Result<std::vector<std::string>> names(const std::string& token_name, rpc::TokenRole role, Time now) const;
  // Cost: O(names and uses of all tokens).
  TokenNames names_of_nodes(Time now) const;
  // Whose certificates are refused from now on; nobody's, where a token was not used. kInvalidArgument: no such token, or no host is named.
  // Cost: O(names of all tokens).
  Result<rpc::TokenRevoked> revoke(const rpc::RevokeToken& asked, Time now);
  void forget(Time now);  // what is of no more interest

  // When a certificate of this host is issued now: behind a revocation of this second.
  Time issue_time(const Subject& subject, Time now) const;
  std::vector<rpc::TokenRow> rows() const;
  std::map<std::string, std::string> keys() const;  // of all tokens that are known, by name

 private:
  Result<size_t> good(const std::string& token_name, rpc::TokenRole role, Time now) const;  // which one it is
  void revoke_subject(const std::string& subject, Time now);
  void bar(const std::vector<std::string>& subjects);
  std::vector<uint32_t> known_to(const std::vector<std::string>& subjects, Time now) const;

  State state_;
};

}  // namespace muster::slurmctld
