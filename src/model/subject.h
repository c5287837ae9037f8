// Subject: who is at the other end of a connection, as far as the connection proves it, and who passed on what an other asks. What each of
// them may is a row of a table: slurmctld/core/peers.def, slurmd/core/peers.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

enum class SubjectKind : uint8_t {
  kUser,           // a user, by the kernel's or munge's word
  kAdministrator,  // root or SlurmUser, likewise
  kClusterKey,     // has the cluster key: slurmctld, slurmdbd, a daemon that a site trusts so
  kController,     // has a certificate as slurmctld
  kNode,           // has a certificate as this node
  kLogin,          // has a certificate as this login host
  kToken,          // has a token, and may ask for a certificate
};

struct Subject {
  SubjectKind kind = SubjectKind::kUser;
  std::string name;  // of the node or the login host
  bool operator==(const Subject&) const = default;

  bool is_node(std::string_view node) const { return kind == SubjectKind::kNode && name == node; }
  // As a certificate and a revocation have it: "controller", "node:n1", "login:l1"; "" for those who have no certificate.
  std::string text() const {
    switch (kind) {
      case SubjectKind::kController: return "controller";
      case SubjectKind::kNode: return "node:" + name;
      case SubjectKind::kLogin: return "login:" + name;
      default: return {};
    }
  }
  // nullopt: no certificate says that. A name has 1 to 255 characters, all of them printable.
  static std::optional<Subject> parse(std::string_view text) {
    if (text == "controller") return Subject{SubjectKind::kController, {}};
    for (const SubjectKind kind : {SubjectKind::kNode, SubjectKind::kLogin}) {
      const std::string_view head = kind == SubjectKind::kNode ? "node:" : "login:";
      if (text.starts_with(head) && is_name(text.substr(head.size()))) return Subject{kind, std::string(text.substr(head.size()))};
    }
    return std::nullopt;
  }
  static constexpr bool is_name(std::string_view name) {
    if (name.empty() || name.size() > 255) return false;
    for (char c : name)
      if (c <= ' ' || c > '~' || c == ',' || c == '/') return false;
    return true;
  }
};

}  // namespace muster
